"""An amendment stands beside the sealed plan, in the log and on the pages."""

import json

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select, update
from sqlalchemy.orm import Session

from app.errors import Conflict, Invalid, NotFound, Refused
from app.models import Amendment, Event
from app.reports.exports import export
from app.settings import Settings
from app.studies.actions import close_study
from app.studies.opening import open_study
from app.studies.plans import amend_plan, amendments, changed, plan_now
from app.studies.unblinding import bars, checks
from tests.app.seated import join
from tests.app.studies.acts import whole
from tests.studies import make_administrator, make_study, open_rater, sign_in


def test_an_amendment_stands_beside_the_plan_and_in_the_log(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    sealed = dict(study.plan)
    first = amend_plan(session, study.code, ada, {"alpha": "0.01", "cannot_decide": "left_out"}, " a stricter level ")
    second = amend_plan(session, study.code, ada, {"late_counts": "no"}, "late ones were read in a hurry")
    assert (study.plan, [one.number for one in amendments(session, study)]) == (sealed, [1, 2])
    assert changed(study.plan, first.plan) == {"alpha": (0.05, 0.01), "cannot_decide": ("no", "left_out")}
    assert changed(first.plan, second.plan) == {"late_counts": (True, False)}
    assert plan_now(study, amendments(session, study)) == second.plan
    lines = session.scalars(select(Event.detail).where(Event.what == "plan amended").order_by(Event.line)).all()
    assert [line["before"] for line in lines] == [study.plan_digest, first.plan_digest]
    assert "stricter" not in json.dumps(lines)


def test_raters_are_left_out_by_name_or_code_and_kept_by_code(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    raters = {name: join(session, study, name).code for name in ("Kim", "Lou")}
    made = amend_plan(session, study.code, ada, {"excluded_raters": f"Kim, {raters['Lou']}"}, "they are one person")
    assert made.plan["excluded_raters"] == sorted(raters.values())


@pytest.mark.parametrize(
    ("changes", "reason", "refusal", "says"),
    [
        ({"alpha": "0.01"}, "  ", Invalid, "Say why the plan is amended"),
        ({"alpha": "0.05"}, "none", Invalid, "Nothing in the plan was changed"),
        ({"alpha": "2"}, "none", Invalid, "must lie between 0 and 1; it is 2"),
        ({"alpha": "much"}, "none", Invalid, "alpha takes a number; you gave “much”"),
        ({"late_counts": "perhaps"}, "none", Invalid, "late_counts takes yes or no"),
        ({"looks": "3"}, "none", Invalid, "“looks” is nothing in a plan that can be amended"),
        ({"baseline": "relu"}, "none", Invalid, "one of gelu, solu_ln; it is “relu”"),
        ({"version": "second"}, "none", Invalid, "one of last, first"),
        ({"excluded_raters": "Nobody"}, "none", NotFound, "no rater “Nobody”"),
    ],
)
def test_an_amendment_that_makes_no_sense_is_refused(
    session: Session, settings: Settings, changes: dict[str, str], reason: str, refusal: type[Exception], says: str
) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    with pytest.raises(refusal, match=says):
        amend_plan(session, study.code, ada, changes, reason)
    assert amendments(session, study) == []


def test_no_plan_is_amended_by_who_may_not_or_after_unblinding(session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    with pytest.raises(Refused):
        amend_plan(session, study.code, make_administrator(session, may_manage=False), {"alpha": "0.01"}, "why")
    whole(session, settings, study)
    with pytest.raises(Conflict, match="cannot be amended any more"):
        amend_plan(session, study.code, make_administrator(session, "Bob"), {"alpha": "0.01"}, "why")


def test_the_page_of_the_plan_amends_it(client: TestClient, session: Session, settings: Settings) -> None:
    study = make_study(session, settings)
    address = f"/studies/{study.code}/plan"
    assert client.get(address).status_code == 401
    sign_in(client, session)
    join(session, study, "Kim")
    assert client.get("/studies/nowhere/plan").status_code == 404
    page = client.get(address).text
    assert study.plan_digest[:8] in page
    refused = client.post(address, data={"alpha": "9", "reason": "a <b>wrong</b> level"})
    assert refused.status_code == 422
    assert "must lie between 0 and 1" in refused.text
    assert "a &lt;b&gt;wrong&lt;/b&gt; level" in refused.text
    assert client.post(address, data={"alpha": "0.01", "reason": "a stricter level"}).status_code == 303
    page = client.get(address).text
    assert "<del>0.05</del> <ins>0.01</ins>" in page
    made = amendments(session, study)[0]
    assert made.plan_digest[:8] in client.get(f"/studies/{study.code}").text
    sign_in(client, session, make_administrator(session, "Bob", may_manage=False))
    assert "Write the amendment down" not in client.get(address).text
    assert client.post(address, data={"alpha": "0.02", "reason": "another"}).status_code == 403


@pytest.mark.parametrize("page", ["plan", "open-item"])
def test_pages_that_only_name_raters_do_not_ask_how_they_work(
    client: TestClient, session: Session, settings: Settings, page: str
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    kim = join(session, study, "Kim")
    asked: list[str] = []
    event.listen(session.connection(), "before_cursor_execute", lambda *args: asked.append(args[2]))
    text = client.get(f"/studies/{study.code}/{page}").text
    assert f'value="{kim.code}"' in text
    assert "Kim" in text
    assert [statement for statement in asked if "rating" in statement.partition("FROM")[2]] == []


def test_raters_are_shown_the_digest_of_the_plan_as_it_stands(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    open_rater(client, session, study)
    assert study.plan_digest in client.get("/rate").text
    made = amend_plan(session, study.code, make_administrator(session), {"alpha": "0.01"}, "a stricter level")
    page = client.get("/rate").text
    assert made.plan_digest in page
    assert study.plan_digest not in page


def test_an_amendment_changed_behind_the_log_bars_unblinding(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    made = amend_plan(session, study.code, ada, {"alpha": "0.01"}, "a stricter level")
    close_study(session, study.code, ada)
    assert bars(checks(session, study, open_study(session, settings, study))) == []
    session.execute(update(Amendment).where(Amendment.id == made.id).values(plan=made.plan | {"alpha": 0.2}))
    session.expire_all()
    assert "not those in the log" in bars(checks(session, study, open_study(session, settings, study)))[0]


def test_a_closed_study_tells_of_an_amendment_what_raters_were_shown(session: Session, settings: Settings) -> None:
    study, ada = make_study(session, settings), make_administrator(session)
    amend_plan(session, study.code, ada, {"alpha": "0.01"}, "a stricter level")
    close_study(session, study.code, ada)
    (row,) = json.loads(export(session, study, "amendments", "json").content)["rows"]
    assert set(row) == {"number", "at", "plan_digest", "verdicts"}
    with pytest.raises(Refused, match="once the study is unblinded"):
        export(session, study, "opened_early", "json")
