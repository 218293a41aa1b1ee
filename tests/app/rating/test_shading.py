"""What a rater sees is the source text, shaded by share of the maximum and by nothing else."""

import hashlib
import itertools
import math
import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.rating.paragraphs import paragraphs
from app.rating.shading import pad, render_item
from app.rating.snippets import Shown, shares
from tests.texts import CODE, ODD, PROSE


class Reader(HTMLParser):
    """Reads one paragraph as a browser does: its text, and the class of the shade of each character."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str]] = []
        self.text, self.levels, self.peak = "", list[int](), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append((tag, dict(attrs).get("class") or ""))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        shades = re.findall(r"\ba(\d+)\b", " ".join(name for _, name in self.open))
        self.text += data
        self.levels += [int(shades[-1]) if shades else 0] * len(data)
        if any(tag == "mark" for tag, _ in self.open):
            self.peak += data


def shown(texts: list[bytes], activations: list[float], peak: int = 0, start: bool = True, end: bool = True) -> Shown:
    return Shown(texts, activations, peak, start, end)


def paragraph(snippet: Shown, top: float, tokens: int = 64) -> str:
    return paragraphs([snippet], top, tokens)[0][0]


def read(snippet: Shown, top: float | None = None, tokens: int = 4000) -> Reader:
    finite = [a for a in snippet.activations if math.isfinite(a)]
    return Reader(paragraph(snippet, max(finite, default=0.0) if top is None else top, tokens))


def split(text: str, lengths: list[int]) -> list[bytes]:
    """The text's bytes in tokens of these lengths, again and again."""
    raw, out = text.encode(), list[bytes]()
    for length in itertools.cycle(lengths):
        if not raw:
            return out
        out.append(raw[:length])
        raw = raw[length:]
    raise AssertionError


anything = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=60)
lengths = st.lists(st.integers(1, 7), min_size=1, max_size=6)


@given(st.one_of(anything, st.sampled_from([*PROSE, *CODE, *ODD])), lengths, st.data())
@settings(max_examples=300)
def test_the_spans_joined_are_the_source_text(text: str, lengths: list[int], data: st.DataObject) -> None:
    tokens = split(text, lengths)
    activations = data.draw(st.lists(st.floats(-1, 5), min_size=len(tokens), max_size=len(tokens)))
    peak = data.draw(st.integers(0, len(tokens) - 1))
    page = read(shown(tokens, activations, peak))
    assert page.text == text
    assert tokens[peak].decode(errors="ignore") in page.peak
    assert page.peak


@pytest.mark.parametrize("text", ODD)
def test_a_character_of_several_tokens_is_shown_once_with_the_highest_level(text: str) -> None:
    tokens = split(text, [1])
    activations = [float(i % 7) for i in range(len(tokens))]
    page = read(shown(tokens, activations), top=6.0)
    assert page.text == text
    at = 0
    for character, shade in zip(text, page.levels, strict=True):
        end = at + len(character.encode())
        assert shade >= max(shares(activations[at:end], 6.0))
        at = end


def test_an_accent_and_a_joined_emoji_are_shaded_with_what_they_are_drawn_on() -> None:
    page = read(
        shown([b"e", "\u0301".encode(), b" ", "👩".encode(), "\u200d".encode(), "👦".encode()], [0, 3, 0, 1, 2, 3], 4)
    )
    assert page.levels == [15, 15, 0, 15, 15, 15]
    assert page.peak == "👩\u200d👦"


def test_a_flag_is_whole_and_two_flags_are_two() -> None:
    halves = "🇳🇿🇫🇷"
    page = read(shown([half.encode() for half in halves], [3, 0, 0, 1.5], 0))
    assert page.levels == [15, 15, 8, 8]
    assert page.peak == "🇳🇿"


@pytest.mark.parametrize(
    ("activation", "top", "expected"),
    [
        (5.0, 5.0, 15),
        (0.0, 5.0, 0),
        (-3.0, 5.0, 0),
        (math.nan, 5.0, 0),
        (math.inf, 5.0, 15),
        (2.5, 5.0, 8),
        (0.16, 5.0, 0),
        (0.17, 5.0, 1),
        (-1.0, -0.5, 0),
        (1.0, 0.0, 0),
        (1e-300, 5e-324, 15),
    ],
)
def test_levels(activation: float, top: float, expected: int) -> None:
    assert shares([activation], top) == [expected]


@given(st.floats(), st.floats(min_value=1e-3, max_value=1e6))
def test_a_level_is_one_of_sixteen(activation: float, top: float) -> None:
    assert shares([activation], top)[0] in range(16)


def test_no_number_of_the_model_is_on_the_page() -> None:
    fragments = render_item([shown([b" act", b"ual"], [812.4375, -77.25])])
    assert not re.search(rb"812|77|437|\.25|-", fragments.narrow.split(b"<p", 1)[1])


def test_equal_neighbours_share_one_element() -> None:
    html = paragraph(shown([b"a", b"b", b"c", b"d", b"e"], [15, 3, 3, 3, 0]), 15.0)
    assert "<mark class=a15 tabindex=0>a</mark><span><i class=a3>bcd</i>e</span>" in html


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n", "<u>\n</u>"),
        ("\n\n  x", "<u>\n</u><u>\n  </u>x"),
        ("\t", "<u class=t>\t</u>"),
        ("\u00a0", "<u class=s>\u00a0</u>"),
        ("\u3000", "<u class=s>\u3000</u>"),
        ("\u200b", "<u class=z>\u200b</u>"),
        ("\u202e", "<u class=z>\u202e</u>"),
        ("\r", "<u class=r>&#13;</u>"),
        ("\x00", "<u class=x>\\x00</u>"),
        ("<b>&amp;", "&lt;b&gt;&amp;amp;"),
    ],
)
def test_what_cannot_be_seen_carries_a_sign(text: str, expected: str) -> None:
    assert f"<span>{expected}</span>" in paragraph(shown([b"x", text.encode()], [1, 0]), 1.0)


def test_a_shaded_sign_is_one_element() -> None:
    assert '<u class="t a8">\t</u>' in paragraph(shown([b"x", b"\t"], [2, 1]), 2.0)
    assert "<u class=a8>\n</u>" in paragraph(shown([b"x", b"\n"], [2, 1]), 2.0)


def test_bytes_that_are_no_character_are_shown_as_bytes() -> None:
    html = paragraph(shown([b"ok \xff", b"\xe6\xbc"], [0, 1], 1), 1.0)
    assert "\ufffd" not in html
    assert "ok <u class=x>\\xFF</u>" in html
    assert "<mark class=a15 tabindex=0><u class=x>\\xE6</u><u class=x>\\xBC</u></mark>" in html


def test_a_replacement_character_of_the_source_is_kept() -> None:
    assert read(shown(["\ufffd".encode()], [1.0])).text == "\ufffd"


def test_a_character_cut_by_the_window_is_left_out() -> None:
    tokens = split("漢字漢字漢字漢字漢字", [2])
    page = read(shown(tokens, [0.0] * 7 + [1.0] + [0.0] * 7, 7, False, False), tokens=8)
    assert page.text == "漢字漢字"  # tokens 2 to 9 are bytes 4 to 19, characters 6 to 17
    assert not re.search(r"\\x|\ufffd", page.text)


def test_a_peak_without_text_can_still_be_reached() -> None:
    assert "<mark class=a15 tabindex=0><u class=z></u></mark>" in paragraph(shown([b"a", b"", b"b"], [0, 1, 0], 1), 1.0)


def test_the_window_is_forty_tokens_before_the_peak_and_twenty_three_after() -> None:
    words = [f" {n}".encode() for n in range(200)]
    fragments = render_item([shown(words, [0.0] * 100 + [1.0] + [0.0] * 99, 100)])
    narrow, wide = (re.sub("<.*?>|\\n", "", part.decode()).split() for part in fragments)
    assert (narrow[0], narrow[-1]) == ("60", "123")
    assert (wide[0], wide[-1]) == ("20", "147")


@pytest.mark.parametrize(
    ("start", "end", "name"), [(True, True, ' class="b z"'), (True, False, " class=b"), (False, True, " class=z")]
)
def test_only_hidden_text_has_an_ellipsis(start: bool, end: bool, name: str) -> None:
    assert f"<p dir=auto{name}>" in paragraph(shown([b"a", b"b"], [1, 0], 0, start, end), 1.0)
    assert "<p dir=auto>" in paragraph(shown([b"a"] * 90, [1.0] * 90, 45, start, end), 1.0)


def test_three_lines_reach_the_peak() -> None:
    """On narrow screens at most 62 cells come before it, on wide ones 130, a long peak counted in."""
    words = [b" word"] * 60
    html = paragraph(shown([*words, b"=" * 40, *words], [0.0] * 60 + [1.0] + [0.0] * 60, 60), 1.0)
    left = html.split("<mark")[0]
    far, near = (re.search(f"<span class={name}>(.*?)</span>", left) for name in "fn")
    assert far is not None
    assert near is not None
    visible = Reader(left.split("</span>")[-2]).text
    assert len(visible) <= 62 - 32
    assert len(Reader(near[1]).text) + len(visible) <= 130 - 32
    assert '<mark class="a15 w" tabindex=0>' in html


def test_a_padded_fragment_has_one_length_and_the_same_text() -> None:
    fragment = render_item([shown([b"a", b"b"], [1, 0])]).narrow
    assert len(pad(fragment, 5000)) == 5000
    assert pad(fragment, 5000).rstrip() == fragment.rstrip()
    with pytest.raises(ValueError, match="cannot be padded to 10"):
        pad(fragment, 10)


def test_the_second_column_goes_on_counting() -> None:
    html = render_item([shown([b"a"], [1.0])] * 20).narrow.decode()
    assert html.count("<li>") == 20
    assert "<ol role=list start=11>" in html
    assert '<input type=checkbox id=w20 name=widened form=verdict aria-label=20 aria-labelledby="w w20">' in html


def test_a_peak_that_is_half_a_character_is_shown_as_bytes() -> None:
    first = paragraph(shown([b"\x8d\xae", b" next"], [1, 0], 0, False, False), 1.0)
    assert "<mark class=a15 tabindex=0><u class=x>\\x8D</u><u class=x>\\xAE</u></mark>" in first
    last = paragraph(shown([b"before ", b"\xe6\xbc"], [0, 1], 1, False, False), 1.0)
    assert "<mark class=a15 tabindex=0><u class=x>\\xE6</u><u class=x>\\xBC</u></mark>" in last


@given(st.one_of(anything, st.sampled_from([*PROSE, *CODE, *ODD])), lengths, st.integers(1, 6), st.data())
@settings(max_examples=200)
def test_a_width_is_the_same_beside_another_as_alone(
    text: str, lengths: list[int], times: int, data: st.DataObject
) -> None:
    """What two widths share is shaded once, and an edge of one may cut a character of the other."""
    tokens = split(text * times, lengths)
    levels = data.draw(st.lists(st.floats(-1, 3), min_size=len(tokens), max_size=len(tokens)))
    snippet = shown(tokens, levels, data.draw(st.integers(0, len(tokens) - 1)))
    wide, narrow = data.draw(st.integers(2, 300)), data.draw(st.integers(2, 100))
    both = paragraphs([snippet, snippet], 3.0, max(wide, narrow), narrow)
    assert both == [paragraphs([snippet] * 2, 3.0, tokens)[0] for tokens in (max(wide, narrow), narrow)]


def odd_items() -> Iterator[list[Shown]]:
    """Everything odd, in tokens that cut characters, dense and sparse, with and without the edges of a document."""
    for size in (1, 2, 3, 5, 9):
        snippets = []
        for number, text in enumerate((*ODD, *CODE, *PROSE[:10], "".join(ODD) * 3, "\0\u200d" + "=" * 30 + "\n   \n")):
            texts = [*split(text, [size, 1 + number % 4, 2]), b"\xe6\xbc", b"", b"\xff"]
            activations = [(at * 7 + number) % 11 - 5 + at % 3 / 4 for at in range(len(texts))]
            activations[number % len(texts)] = (math.nan, math.inf, -1.0, 6.0)[number % 4]
            snippets.append(shown(texts, activations, (number * 13) % len(texts), number % 2 == 0, number % 3 == 0))
        yield snippets


def test_the_bytes_of_an_item_never_change() -> None:
    """Their digests are sealed: what was rendered once must be rendered so again."""
    whole = hashlib.sha256()
    for snippets in odd_items():
        for tokens, wide in ((64, 128), (8, 12), (20, 400)):
            whole.update(b"".join(render_item(snippets, tokens, wide)))
    assert whole.hexdigest() == "fc64a4b1698dc5fa6c30640ae956ff48b94c29ffe6fcf7470fd1c97c61c7817c"
