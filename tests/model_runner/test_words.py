from model_runner.words import counted


def test_one_thing_is_singular_and_thousands_have_commas() -> None:
    assert [counted(n, "layer") for n in (0, 1, 2, 1200)] == ["0 layers", "1 layer", "2 layers", "1,200 layers"]
    assert counted(2, "vocabulary", "vocabularies") == "2 vocabularies"
