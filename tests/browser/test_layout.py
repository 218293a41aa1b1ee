"""What fits on the screen, and who can read it."""

import re
from itertools import pairwise, product
from operator import mul

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Open, Site, join, serious

pytestmark = pytest.mark.browser

HIDDEN_PEAKS = """() => [...document.querySelectorAll('.snips mark')].filter(mark => {
  const inside = mark.closest('p').getBoundingClientRect();
  return ![...mark.getClientRects()].every(box =>
    box.width > 0 && box.left >= inside.left - 1 && box.right <= inside.right + 1 && box.bottom <= inside.bottom + 3);
}).length"""
WIDTHS = (320, 360, 390, 480, 600, 704, 768, 959, 960, 1100, 1248, 1440, 1600, 1920)


def test_all_twenty_are_on_one_screen(site: Site, page: Page) -> None:
    join(page, site.link())
    for _ in range(12):
        bottom = page.evaluate(
            "Math.max(...[...document.querySelectorAll('.snips li')].map(li => li.getBoundingClientRect().bottom))"
        )
        assert bottom <= page.evaluate("document.querySelector('.foot').getBoundingClientRect().top") + 1
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        count = page.locator(".snips li").count()
        assert count == 20
        key = page.locator("#verdict [name=key]").input_value()
        page.keyboard.press("n")
        page.wait_for_function("key => document.querySelector('#verdict')?.elements.key.value !== key", arg=key)
        if page.locator("#rate").get_attribute("data-state") != "item":
            return


def test_every_peak_is_visible_and_nothing_overflows(site: Site, page: Page) -> None:
    join(page, site.link())
    for _ in range(11):
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate(HIDDEN_PEAKS) == 0, width
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), width
        key = page.locator("#verdict [name=key]").input_value()
        page.keyboard.press("n")
        page.wait_for_function("key => document.querySelector('#verdict').elements.key.value !== key", arg=key)


DIRECTIONS = """() => [...document.querySelectorAll('.snips p')].map(p => ({
  text: p.textContent.trim(),
  direction: getComputedStyle(p).direction,
  shaded: [...new Set([...p.querySelectorAll('i, mark')].map(token => getComputedStyle(token).unicodeBidi))],
}))"""
RIGHT_TO_LEFT = re.compile("[\\u0590-\\u06ff]")
LETTER = re.compile("[A-Za-z\\u0590-\\u06ff]")


def test_a_line_runs_in_the_direction_of_its_text_and_no_token_turns_its_neighbours(site: Site, page: Page) -> None:
    """By the first letter of each; a token of another script stays where it is in the line."""
    join(page, site.link())
    met: set[str] = set()
    while page.locator("#rate").get_attribute("data-state") == "item":
        for one in page.evaluate(DIRECTIONS):
            first = LETTER.search(one["text"])
            if first is None:
                continue
            met.add(one["direction"])
            assert one["direction"] == ("rtl" if RIGHT_TO_LEFT.match(first[0]) else "ltr"), one["text"]
            assert set(one["shaded"]) == {"isolate"}
        if met == {"ltr", "rtl"}:
            return
        key = page.locator("#verdict [name=key]").input_value()
        page.keyboard.press("n")
        page.wait_for_function("key => document.querySelector('#verdict')?.elements.key.value !== key", arg=key)
    pytest.fail(f"of both directions only {met} was met")


@pytest.mark.parametrize(("theme", "width"), [*product(("light", "dark"), (1440, 390))])
def test_axe_finds_nothing_serious(site: Site, new_context: Open, theme: str, width: int) -> None:
    page = new_context(width, 900, color_scheme=theme, bypass_csp=True).new_page()
    link = site.link()
    page.goto(link)
    found = {"welcome": serious(page)}
    page.locator("[name=consent]").check()
    page.locator("form.start button").click()
    page.locator("#rate[data-state=begin]").wait_for()
    found["begin"] = serious(page)
    page.locator("form.start button").click()
    page.locator("#rate[data-state=item]").wait_for()
    found["item"] = serious(page)
    page.keyboard.press("?")
    found["keys"] = serious(page)
    page.keyboard.press("?")
    page.keyboard.press("l")
    found["lined up"] = serious(page)
    page.keyboard.press("n")
    expect(page.locator(".pace b")).to_have_text("1")
    found["last"] = serious(page)
    for path in ("/help", "/rate/given"):
        page.goto(path)
        found[path] = serious(page)
    page.get_by_role("link", name="Look again at").click()
    page.wait_for_url("**/rate/given/*")
    found["edit"] = serious(page)
    assert {name: problems for name, problems in found.items() if problems} == {}


def luminance(colour: str) -> float:
    numbers = [float(part) for part in re.findall(r"[\d.e-]+", colour)[:3]]
    if not colour.startswith("color("):
        numbers = [number / 255 for number in numbers]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in numbers]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


SHADES = """() => {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const pixel = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return `rgb(${[...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)})`;
  };
  const place = document.createElement('div');
  place.className = 'snips';
  place.innerHTML = `<p>${[...Array(16).keys()].map(n => `<mark class=a${n}>x</mark>`).join('')}</p>`;
  document.body.append(place);
  return [...place.querySelectorAll('mark')].map(mark => {
    const style = getComputedStyle(mark);
    return [pixel(style.color), pixel(style.backgroundColor)];
  });
}"""


@pytest.mark.parametrize(("theme", "palette"), [*product(("light", "dark"), ("red", "blue", "grey"))])
def test_text_can_be_read_on_every_shade(site: Site, page: Page, theme: str, palette: str) -> None:
    page.goto(f"/help?theme={theme}&palette={palette}")
    pairs = page.evaluate(SHADES)
    assert len({background for _, background in pairs}) == 16
    for ink, background in pairs:
        low, high = sorted((luminance(ink), luminance(background)))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, background)


VISIONS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Linear RGB as somebody without one kind of cone sees it (Machado, Oliveira and Fernandes 2009, severity 1)."""


def lightness(colour: str, vision: str) -> float:
    """CIE L* of what is seen: 0 is black, 100 white, and 1 a difference that can be told side by side."""
    linear = [luminance(f"rgb({value}, {value}, {value})") for value in re.findall(r"\d+", colour)]
    seen = [min(max(sum(map(mul, row, linear)), 0), 1) for row in VISIONS[vision]]
    light = 0.2126 * seen[0] + 0.7152 * seen[1] + 0.0722 * seen[2]
    return 116 * light ** (1 / 3) - 16 if light > 216 / 24389 else light * 24389 / 27


@pytest.mark.parametrize(("theme", "palette"), [*product(("light", "dark"), ("red", "blue", "grey"))])
def test_whoever_sees_fewer_colours_sees_the_shades_in_their_order(
    page: Page, site: Site, theme: str, palette: str
) -> None:
    """By lightness alone: each level is told from the one before, whatever the eye makes of the hue."""
    page.goto(f"/help?theme={theme}&palette={palette}")
    shades = [background for _, background in page.evaluate(SHADES)]
    for vision in VISIONS:
        levels = [lightness(shade, vision) for shade in shades]
        steps = [(after - before) * (-1 if theme == "light" else 1) for before, after in pairwise(levels)]
        assert min(steps) > 1, (vision, levels)


def test_the_text_on_the_screen_is_the_source_text(site: Site, page: Page) -> None:
    """The browser's own parser reads what Python's wrote: markup, carriage returns and marks of direction included."""
    from tests.app.rating.test_shading import Reader

    join(page, site.link())
    html = page.request.get("/rate").text()
    paragraphs = re.findall(r"<p dir=auto.*?</p>", html, re.DOTALL)
    assert [Reader(paragraph).text for paragraph in paragraphs] == page.evaluate(
        "[...document.querySelectorAll('.snips p')].map(p => p.textContent)"
    )


def test_the_value_of_a_peak_is_read_on_focus_and_on_pointing(site: Site, page: Page) -> None:
    join(page, site.link())
    page.keyboard.press("j")
    shown = page.evaluate("getComputedStyle(document.activeElement, '::after').content")
    assert shown == '"100 %"'
    assert page.evaluate("getComputedStyle(document.querySelectorAll('.snips mark')[1], '::after').content") == "none"


def test_the_theme_and_the_palette_are_kept_and_never_flash(site: Site, page: Page) -> None:
    page.goto("/help")
    page.get_by_role("link", name="Blue, safe for colour-blind readers").click()
    page.get_by_role("button", name="Theme").click()
    html = page.request.get("/help").text()
    assert 'data-palette="blue"' in html
    assert 'data-theme="dark"' in html


def test_a_rating_page_prints_on_one_page(site: Site, page: Page) -> None:
    join(page, site.link())
    pdf = page.pdf(format="A4")
    assert len(re.findall(rb"/Type\s*/Page[^s]", pdf)) == 1


def test_hidden_text_is_always_marked(site: Site, page: Page) -> None:
    """An ellipsis stands before a snippet exactly where the document does not begin or text is folded away."""
    join(page, site.link())
    for width in (390, 1100, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        wrong = page.evaluate(
            """() => [...document.querySelectorAll('.snips p')].filter(p => {
                 const parts = [...p.querySelectorAll('.f, .n')];
                 const folded = parts.some(part => getComputedStyle(part).display === 'none');
                 const marked = getComputedStyle(p, '::before').content.includes('…');
                 return marked !== (folded || !p.classList.contains('b'));
               }).length"""
        )
        assert wrong == 0, width
