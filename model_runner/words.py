"""Numbers of things as people say them."""


def counted(n: int, one: str, many: str = "") -> str:
    """1 layer, 2 layers, 1,200 layers. `many` is the plural where it is not the word with an s."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"
