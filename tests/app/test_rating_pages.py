"""The rater's pages, as a browser and as htmx ask for them."""

import random
import re
from collections.abc import Callable

import pytest
from fastapi.testclient import TestClient
from httpx2 import Response
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from app.models import Assignment, ItemContent, Rater, Rating, Study, StudyState, Verdict
from app.raters.actions import invite
from app.rating.beside import enough
from app.rating.shading import pad, render_item
from app.rating.snippets import Shown
from app.settings import Settings
from tests.studies import make_study

LARGEST_PAGE = 36 * 1024
Join = Callable[..., Study]


@pytest.fixture
def join(session: Session, settings: Settings, client: TestClient) -> Join:
    """A study, and the client let in as one of its raters."""

    def join(name: str = "Bo", study: Study | None = None, **design: int) -> Study:
        study = study or make_study(session, settings, **design)
        token = invite(session, study, name, actor="Ada")
        client.cookies.delete("glance_rater")
        whole(client, "post", f"/join/{token}", data={"consent": "yes"})
        return study

    return join


def whole(client: TestClient, method: str, path: str, **options: object) -> Response:
    """As a browser asks, also where the test's client is htmx."""
    fragment = client.headers.pop("HX-Request", None)
    response: Response = getattr(client, method)(path, **options)
    if fragment:
        client.headers["HX-Request"] = fragment
    return response


def begin(client: TestClient) -> str:
    whole(client, "post", "/rate/begin")
    return whole(client, "get", "/rate").text


def fields(html: str, form: str = "verdict") -> dict[str, str]:
    """The hidden fields of a form."""
    inside = re.search(rf'id="{form}".*?</form>', html, re.DOTALL)
    assert inside
    return dict(re.findall(r'<input type="hidden" name="(assignment|key|version)" value="([^"]*)">', inside[0]))


def give(client: TestClient, html: str, verdict: str = "INTERPRETABLE", **more: str) -> Response:
    response: Response = client.post("/rate/verdict", data={**fields(html), "verdict": verdict, **more})
    return response


def test_who_is_not_let_in_is_told_what_to_do(htmx: TestClient) -> None:
    for path in ("/rate", "/rate/given", "/thanks", "/rate/wide/abc"):
        page = htmx.get(path)
        assert page.status_code == 401
        assert "Open the link you were given again; nothing is lost." in page.text


def test_help_is_for_everybody(htmx: TestClient) -> None:
    page = htmx.get("/help")
    assert page.status_code == 200
    assert "Undo the last verdict" in page.text


def test_a_rater_begins_and_sees_twenty_snippets(client: TestClient, join: Join) -> None:
    join()
    page = client.get("/rate")
    assert "Ready when you are" in page.text
    assert "<li><input" not in page.text
    answer = client.post("/rate/begin")
    assert (answer.status_code, answer.headers["location"]) == (303, "/rate")
    page = client.get("/rate")
    assert page.text.count("<li><input") == 20
    assert "16 of these 20" in page.text
    assert "Neuron 1 of 4" in page.text
    assert page.headers["cache-control"] == "no-store, no-transform"


def test_a_verdict_leads_to_the_next_neuron(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    answer = give(htmx, html, "NOT_INTERPRETABLE", hypothesis=" <b>& “x”\r\nsecond ", lined_up="1", widened="")
    if "HX-Request" in htmx.headers:
        assert answer.status_code == 200
        assert "<html" not in answer.text
        following = answer.text
    else:
        assert (answer.status_code, answer.headers["location"]) == (303, "/rate")
        following = htmx.get("/rate").text
    assert following.count("<li><input") == 20
    assert fields(following)["assignment"] != fields(html)["assignment"]
    assert "Not interpretable</b>" in following
    rating = session.scalars(select(Rating)).one()
    assert rating.verdict is Verdict.NOT_INTERPRETABLE
    assert rating.hypothesis == " <b>& “x”\nsecond "
    assert (rating.lined_up, rating.widened) == (True, False)


def test_get_changes_nothing(client: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(client)
    before = session.execute(select(Assignment.code, Assignment.shown_at, Assignment.leased_until)).all()
    for path in ("/rate", "/rate?wide=1", "/rate/sessions", "/rate/given", "/thanks", "/help"):
        assert client.get(path).status_code == 200
    client.get(f"/rate/wide/{fields(html)['assignment']}")
    assert session.execute(select(Assignment.code, Assignment.shown_at, Assignment.leased_until)).all() == before


def test_the_same_form_twice_is_one_verdict(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    first, second = give(htmx, html), give(htmx, html)
    assert first.status_code == second.status_code
    assert len(session.scalars(select(Rating)).all()) == 1
    if "HX-Request" in htmx.headers:
        assert fields(first.text)["assignment"] == fields(second.text)["assignment"]


def test_an_old_page_is_told_and_led_to_the_current_neuron(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html, old = begin(htmx), whole(htmx, "get", "/rate").text
    give(htmx, html, "INTERPRETABLE")
    answer = give(htmx, old, "CANNOT_DECIDE")
    assert answer.status_code == 409
    assert "This neuron already has your verdict: interpretable." in answer.text
    assert answer.text.count("<li><input") == 20
    assert fields(answer.text)["assignment"] != fields(old)["assignment"]
    assert ("<html" in answer.text) == ("HX-Request" not in htmx.headers)
    assert [rating.verdict for rating in session.scalars(select(Rating))] == [Verdict.INTERPRETABLE]


def test_undo(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    give(htmx, html, hypothesis="kept words")
    following = whole(htmx, "get", "/rate").text
    answer = htmx.post("/rate/undo", data=fields(following, "undo"))
    again = answer.text if "HX-Request" in htmx.headers else htmx.get("/rate").text
    assert fields(again)["assignment"] == fields(html)["assignment"]
    assert "kept words</textarea>" in again
    late = htmx.post("/rate/undo", data={**fields(following, "undo"), "key": "another-key-1"})
    assert late.status_code == 409
    assert "Only your last verdict can be taken back." in late.text


@pytest.mark.parametrize(
    "bad",
    [
        {"verdict": "MAYBE"},
        {"verdict": "interpretable"},
        {"key": "short"},
        {"key": "x" * 65},
        {"hypothesis": "x" * 10_001},
        {"hypothesis": "x" * 2_001},
        {"hypothesis": "nul \x00"},
        {"assignment": "not a code!"},
    ],
)
def test_bad_input_is_refused_in_a_sentence(
    client: TestClient, join: Join, session: Session, bad: dict[str, str]
) -> None:
    join()
    html = begin(client)
    answer = client.post("/rate/verdict", data={**fields(html), "verdict": "INTERPRETABLE", **bad})
    assert answer.status_code == 422
    assert "notice" in answer.text
    assert session.scalars(select(Rating)).all() == []


def test_what_is_not_mine_does_not_exist(client: TestClient, join: Join, session: Session) -> None:
    study = join("Bo")
    html = begin(client)
    others = fields(html)["assignment"]
    give(client, html)
    join("Kim", study)
    begin(client)
    for code in (others, "no-such-code"):
        assert client.get(f"/rate/wide/{code}").status_code == 404
        assert client.get(f"/rate/given/{code}").status_code == 404
        data = {"assignment": code, "verdict": "INTERPRETABLE", "key": "a-new-key-0"}
        assert client.post("/rate/verdict", data=data).status_code == 404
        assert client.post("/rate/draft", data={"assignment": code, "hypothesis": "x"}).status_code == 404
        assert client.post("/rate/skip", data={"assignment": code}).status_code == 404
    assert client.get("/rate/given/no%20code").status_code == 404
    assert len(session.scalars(select(Rating)).all()) == 1


def test_the_wider_text_has_one_length_for_every_item(client: TestClient, join: Join) -> None:
    join()
    html, lengths = begin(client), set()
    for _ in range(4):
        wider = client.get(f"/rate/wide/{fields(html)['assignment']}")
        assert wider.text.count("<li><input") == 20
        assert "content-encoding" not in wider.headers
        lengths.add(len(wider.content))
        give(client, html)
        html = client.get("/rate").text
        if "<li><input" not in html:
            break
    assert len(lengths) == 1


def test_a_draft_is_kept_and_shown_as_text(client: TestClient, join: Join) -> None:
    join()
    html = begin(client)
    draft = "</textarea><script>alert(1)</script>"
    data = {"assignment": fields(html)["assignment"], "hypothesis": draft}
    assert client.post("/rate/draft", data=data).status_code == 204
    page = client.get("/rate").text
    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;alert(1)" in page


def test_a_skipped_neuron_is_not_a_verdict(htmx: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(htmx)
    htmx.post("/rate/skip", data={"assignment": fields(html)["assignment"]})
    following = whole(htmx, "get", "/rate").text
    assert fields(following)["assignment"] != fields(html)["assignment"]
    assert session.scalars(select(Rating)).all() == []


def finish(client: TestClient) -> str:
    html = begin(client)
    while "<li><input" in html:
        give(client, html)
        html = whole(client, "get", "/rate").text
    return html


def test_the_last_verdict_leads_to_thanks_which_stay(client: TestClient, join: Join, session: Session) -> None:
    study = join()
    html = finish(client)
    assert "That was the last one. Thank you." in html
    assert "4 verdicts of yours are stored." in html
    head = session.scalars(select(Study.log_head).where(Study.id == study.id)).one()
    for path in ("/rate", "/thanks"):
        page = client.get(path).text
        assert "That was the last one" in page
        assert head in page
        assert study.seal_root in page
    assert client.post("/rate/begin").status_code == 303
    assert "That was the last one" in client.get("/rate").text


def test_after_thanks_the_last_verdict_can_still_be_taken_back(client: TestClient, join: Join) -> None:
    join()
    html = finish(client)
    assert client.post("/rate/undo", data=fields(html, "undo")).status_code == 303
    assert "<li><input" in begin(client)


def test_a_closed_study_says_so(htmx: TestClient, join: Join, session: Session) -> None:
    study = join()
    html = begin(htmx)
    session.execute(update(Study).where(Study.id == study.id).values(state=StudyState.CLOSED))
    session.flush()
    answer = give(htmx, html)
    assert answer.status_code == 409
    assert "This study is closed" in answer.text
    assert "This study is closed" in whole(htmx, "get", "/rate").text
    assert session.scalars(select(Rating)).all() == []


def test_nothing_free_waits_and_looks_again(client: TestClient, join: Join, session: Session) -> None:
    study = join("Bo", neurons_per_arm=1, seats=2)
    begin(client)
    join("Kim", study)
    session.execute(update(Rater).where(Rater.name == "Kim").values(share=None))
    html = begin(client)
    give(client, html)
    page = client.get("/rate").text
    assert "The last neurons are in other hands" in page
    assert 'hx-trigger="every 30s"' in page
    assert '<noscript><meta http-equiv="refresh" content="30"></noscript>' in page
    assert "Undo" in page
    session.execute(update(Assignment).values(leased_until=Assignment.claimed_at))
    assert "Go on where you left off" in client.get("/rate", headers={"HX-Request": "true"}).text


def test_a_verdict_is_changed_and_both_are_kept(client: TestClient, join: Join, session: Session) -> None:
    join()
    html = begin(client)
    assert "No verdicts yet" in client.get("/rate/given").text
    give(client, html, hypothesis="=1+1 <i>")
    page = client.get("/rate/given").text
    assert "=1+1 &lt;i&gt;" in page
    path = f"/rate/given/{fields(html)['assignment']}"
    edit = client.get(path).text
    assert edit.count("<li><input") == 20
    data = {**fields(edit, "edit"), "verdict": "CANNOT_DECIDE", "hypothesis": "better"}
    assert client.post(path, data=data).status_code == 303
    assert "changed" in client.get("/rate/given").text
    old = client.post(path, data={**data, "verdict": "INTERPRETABLE", "key": "another-key-2"})
    assert old.status_code == 409
    assert "This verdict was changed meanwhile" in old.text
    assert [rating.verdict for rating in session.scalars(select(Rating).order_by(Rating.version))] == [
        Verdict.INTERPRETABLE,
        Verdict.CANNOT_DECIDE,
    ]


def dense_item() -> bytes:
    """Twenty snippets in which almost every token has another level than its neighbours, as a GELU neuron may have."""
    rng = random.Random(0)
    words = [
        " the",
        " of",
        "ing",
        " act",
        "s",
        "\n",
        ",",
        " (",
        "def",
        "    ",
        " return",
        "_",
        "ed",
        "<",
        "&",
        "é",
        "—",
    ]
    snippets = [
        Shown(
            [rng.choice(words).encode() for _ in range(64)],
            [rng.uniform(0.05, 0.95) for _ in range(40)] + [1.0] + [rng.uniform(0.05, 0.95) for _ in range(23)],
            40,
            False,
            False,
        )
        for _ in range(20)
    ]
    return render_item(snippets).narrow


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_page_as_sent_is_at_most_36_kilobytes(
    client: TestClient, join: Join, session: Session, language: str
) -> None:
    join()
    dense = dense_item()
    assert dense.count(b"<i class=a") > 20 * 45
    session.execute(update(ItemContent).values(fragment=pad(dense, len(dense) + 500)))
    begin(client)
    page = client.get(f"/rate?language={language}")
    assert page.text.count("<li><input") == 20
    assert "content-encoding" not in page.headers
    assert len(page.content) <= LARGEST_PAGE


@pytest.mark.parametrize(("snippets", "expected"), [(20, 16), (10, 8), (5, 4), (7, 6), (1, 1), (0, 0)])
def test_eighty_per_cent_rounded_up(snippets: int, expected: int) -> None:
    assert enough(snippets) == expected


def test_under_a_prefix_every_address_stays_under_it(client: TestClient, join: Join) -> None:
    client.app.root_path = "/glance"  # type: ignore[attr-defined]
    client.base_url = "http://testserver/glance"
    join()
    html = begin(client)
    addresses = re.findall(r'(?:href|src|action|hx-post|hx-get|data-path)="([^"#?]+)', html)
    assert addresses
    assert [path for path in addresses if not path.startswith("/glance/")] == []
    assert client.post("/rate/begin").headers["location"] == "/glance/rate"


def test_a_deactivated_rater_is_told(client: TestClient, join: Join, session: Session) -> None:
    join()
    begin(client)
    session.execute(update(Rater).values(deactivated_at=Rater.created_at))
    session.flush()
    assert client.get("/rate").status_code == 401
