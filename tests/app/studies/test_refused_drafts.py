"""Why a draft was refused is kept, and said to each reader in a language of their own."""

import html
import json
from datetime import UTC, datetime
from shutil import copytree

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.models import Draft, DraftState
from app.settings import Settings
from app.studies import drafts
from app.words.language import language
from app.words.said import N_, Quoted, Said
from app.words.said_again import kept, said_again
from tests.runs import make_run
from tests.studies import sign_in, two_runs

FORM = {"name": "Spring", "run": ["gelu", "solu_ln"], "neurons_per_arm": 4, "seats": 2, "overlap": 1}
SCARCE = "The run gelu has 4 neurons left."
MEMBERS = {
    "nested": Said(N_("These runs cannot make a study. %(why)s"), why=(Said("A %(n)s.", n=3), Quoted("<b> & B."))),
    "a moment": Said("At %(at)s.", at=datetime(2031, 3, 22, 8, 31, tzinfo=UTC)),
    "no value": Said("Nothing was sealed."),
}


@pytest.fixture(autouse=True)
def _with_runs(settings: Settings) -> None:
    for run in two_runs():
        copytree(run, settings.runs_dir / run.name)


@pytest.mark.parametrize("what", MEMBERS)
def test_a_sentence_comes_back_from_json_as_it_was(what: str) -> None:
    said = MEMBERS[what]
    again = said_again(json.loads(json.dumps(kept(said))))
    assert (again, again.message, again.values) == (said, said.message, said.values)
    for code in ("en", "zh-Hans"):
        assert language(code).say(again) == language(code).say(said)
        assert language(code).shown(again) == language(code).shown(said)


def test_what_another_program_said_is_marked_as_english_and_escaped() -> None:
    assert str(language("zh-Hans").shown(MEMBERS["nested"])) == (
        '这些运行结果不能组成研究。A 3.<q lang="en">&lt;b&gt; &amp; B.</q>'
    )
    assert str(language("en").shown(MEMBERS["nested"])) == ("These runs cannot make a study. A 3. &lt;b&gt; &amp; B.")


def test_a_refused_draft_is_said_in_either_language(
    client: TestClient, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise Invalid(N_("Seats must be at least %(least)s; it is %(given)s."), least=MEMBERS["a moment"], given="<b>")

    monkeypatch.setattr(drafts, "freeze", refuse)
    monkeypatch.setitem(language("zh-Hans").messages, "At %(at)s.", "在%(at)s。")
    sign_in(client, session)
    page = client.post("/studies/new", data=FORM).headers["location"]
    for path in (page, "/studies/drafts"):
        client.cookies.set("glance_language", "en")
        assert "at least At 22 March 2031, 08:31 UTC.; it is &lt;b&gt;." in client.get(path).text
        client.cookies.set("glance_language", "zh-Hans")
        assert "在2031年3月22日 08:31 UTC。" in client.get(path).text


def test_a_damaged_run_is_said_in_chinese_with_the_runners_words_in_english(
    client: TestClient, session: Session, settings: Settings
) -> None:
    values = settings.runs_dir / "gelu" / "top.activations.npy"
    changed = bytearray(values.read_bytes())
    changed[-1] ^= 1
    values.write_bytes(changed)
    sign_in(client, session)
    client.cookies.set("glance_language", "zh-Hans")
    page = client.get(client.post("/studies/new", data=FORM).headers["location"]).text
    words = f"{values} was changed after the run was collected. Collect the run again."
    assert f'有一个运行文件夹无法使用。<q lang="en">{html.escape(words)}</q>' in page


def test_runs_that_cannot_be_compared_are_said_in_chinese(
    client: TestClient, session: Session, settings: Settings
) -> None:
    make_run(settings.runs_dir / "short", "solu_ln", name="short", window=32)
    sign_in(client, session)
    client.cookies.set("glance_language", "zh-Hans")
    page = client.post("/studies/new", data=FORM | {"run": ["gelu", "short"]}).text
    assert '这些运行结果不能组成研究。<q lang="en">The runs have different windows: ' in page


def test_a_refusal_of_before_reads_as_it_was_stored(client: TestClient, session: Session) -> None:
    sign_in(client, session)
    page = client.post("/studies/new", data=FORM | {"run": ["gelu", "solu_ln"]}).headers["location"]
    session.execute(update(Draft).values(state=DraftState.REFUSED, message=SCARCE, said=None, study_id=None))
    client.cookies.set("glance_language", "zh-Hans")
    assert SCARCE in client.get(page).text
    assert SCARCE in client.get("/studies/drafts").text
