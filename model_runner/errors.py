class RunnerError(Exception):
    """An expected failure, said in a sentence that names the value and the remedy."""
