"""The form of what raters were sent, without its words: counts and lengths for the audit of blinding. Pure."""

import re

TAG = re.compile(rb"<[^>]*>")
SHADED = re.compile(rb"<(?:i|u|mark) class=\"?(?:[a-z] )?a([0-9]+)")
SIGN = re.compile(rb"<u[ >]")
STRONG = 8
"""From this level of 15 on a token counts as strongly shaded."""


def form_of(fragment: bytes) -> dict[str, float]:
    """Features named "group.feature" of one item's HTML, its padding left out."""
    html = fragment.rstrip()
    levels = [int(level) for level in SHADED.findall(html)]
    return {
        "length.bytes": float(len(html)),
        "length.text": float(len(TAG.sub(b"", html).decode())),
        "shading.pieces": float(len(levels)),
        "shading.strong": float(sum(level >= STRONG for level in levels)),
        "shading.kinds": float(len(set(levels))),
        "signs.breaks": float(len(SIGN.findall(html))),
    }
