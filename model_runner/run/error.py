class RunFolderError(Exception):
    """A run folder that cannot be used, said in a sentence."""
