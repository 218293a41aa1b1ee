"""Names fit on a line and into their columns."""

import pytest

from app.errors import Invalid
from app.names import one_line


@pytest.mark.parametrize("name", ['Ünïcödé 研究 / "x"', "👩‍🔬 lab", "نیم‌فاصله", "<b>", "=1+1", "x" * 80])
def test_what_fits_stays_as_it_is(name: str) -> None:
    assert one_line(f"  {name}\n", 80) == name


@pytest.mark.parametrize("name", ["a\nb", "a\tb", "a\x00b", "a\u2028b", "a\udc80b", "a\x1b[31m"])
def test_what_would_break_a_line_is_named(name: str) -> None:
    with pytest.raises(Invalid, match=r"U\+"):
        one_line(name, 80)


def test_what_is_too_long_is_refused_with_its_length() -> None:
    with pytest.raises(Invalid, match="has 81 characters; at most 80"):
        one_line("x" * 81, 80)
