"""Every message is translated, and a reader's language is kept."""

import re
from datetime import UTC, datetime

import pytest
from fastapi.testclient import TestClient

from app.words.language import LANGUAGES, LOCALE, language
from tests.messages import catalogue, messages

FIELDS = re.compile(r"%\(\w+\)s|%%|</?b>")
OTHERS = [code for code in LANGUAGES if code != "en"]


def test_templates_and_refusals_are_found() -> None:
    found = messages()
    assert "Interpretable" in found
    assert "There is nothing at this address." in found
    assert any(isinstance(message, tuple) for message in found)
    assert len(found) > 250


@pytest.mark.parametrize("code", OTHERS)
def test_every_message_is_translated(code: str) -> None:
    known = catalogue(code)
    missing = []
    for message, places in messages().items():
        entry = known.get(message if isinstance(message, str) else message[0])
        if entry is None or not entry.string or not all(entry.string):
            missing.append(f"{message!r} in {places[0][0]}")
    assert missing == [], f"Run `python -m tests.messages` and translate what is new in {LOCALE / code}.po."


@pytest.mark.parametrize("code", OTHERS)
def test_nothing_is_kept_that_nobody_says(code: str) -> None:
    said = {message if isinstance(message, str) else message[0] for message in messages()}
    kept = {entry.id if isinstance(entry.id, str) else entry.id[0] for entry in catalogue(code) if entry.id}
    assert kept - said == set()


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_has_the_fields_of_its_message(code: str) -> None:
    for entry in catalogue(code):
        one, other = (entry.id, entry.string) if isinstance(entry.id, str) else (entry.id[-1], entry.string[-1])
        assert sorted(FIELDS.findall(one)) == sorted(FIELDS.findall(other)), one


def test_days_and_moments() -> None:
    at = datetime(2031, 3, 2, 8, 5, tzinfo=UTC)
    english, chinese = language("en"), language("zh-Hans")
    assert (english.day_of_year(at), chinese.day_of_year(at)) == ("2 March", "3月2日")
    assert (english.minute(at), chinese.minute(at)) == ("2 March 2031, 08:05 UTC", "2031年3月2日 08:05 UTC")


def test_plurals() -> None:
    assert language("en").ngettext("%(n)s line", "%(n)s lines", 1) == "%(n)s line"
    assert language("en").ngettext("%(n)s line", "%(n)s lines", 0) == "%(n)s lines"
    assert language("zh-Hans").ngettext("%(n)s line", "%(n)s lines", 1) == "%(n)s 行"


@pytest.mark.parametrize(
    ("accepted", "expected"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-Hans"),
        ("zh-TW", "zh-Hans"),
        ("en-GB,en;q=0.9,zh;q=0.5", "en"),
        ("de-DE,zh;q=0.5,en;q=0.3", "zh-Hans"),
        ("de", "en"),
        ("", "en"),
    ],
)
def test_the_browser_chooses_the_language(client: TestClient, accepted: str, expected: str) -> None:
    page = client.get("/help", headers={"accept-language": accepted})
    assert f'<html lang="{expected}"' in page.text


def test_a_language_chosen_by_hand_is_kept(client: TestClient) -> None:
    page = client.get("/help?language=zh-Hans", headers={"accept-language": "en"})
    assert "快捷键" in page.text
    assert "快捷键" in client.get("/help", headers={"accept-language": "en"}).text
    assert "Keys" in client.get("/help?language=en").text
    assert "Keys" in client.get("/help").text


@pytest.mark.parametrize(("name", "value"), [("theme", "dark"), ("palette", "blue")])
def test_a_look_chosen_by_hand_is_kept(client: TestClient, name: str, value: str) -> None:
    assert f"data-{name}=" not in client.get("/help").text
    assert f'data-{name}="{value}"' in client.get(f"/help?{name}={value}").text
    assert f'data-{name}="{value}"' in client.get("/help").text


def test_an_unknown_choice_changes_nothing(client: TestClient) -> None:
    page = client.get('/help?language=xx&theme="><script>&palette=puce')
    assert page.status_code == 200
    assert "set-cookie" not in page.headers
    assert "<script>" not in page.text


def test_refusals_are_translated_too(client: TestClient) -> None:
    assert "这个地址没有内容" in client.get("/nowhere?language=zh-Hans").text
