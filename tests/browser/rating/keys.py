"""A verdict by a key, and the number of the neuron shown."""

import re

from playwright.sync_api import Page


def number(page: Page) -> int:
    """The how-manieth neuron is shown."""
    return int(re.findall(r"\d+", page.locator("h1").inner_text())[0])


def press(page: Page, key: str) -> None:
    """A verdict by key, and wait for what comes next."""
    before = page.locator("[name=key]").first.input_value()
    page.keyboard.press(key)
    page.wait_for_function(
        "key => !document.querySelector('#verdict') || document.querySelector('#verdict').elements.key.value !== key",
        arg=before,
    )
