"""Whatever is sent to whichever address: an answer, and never a failure of ours."""

from typing import Any

import hypothesis
import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase
from schemathesis.specs.openapi.schemas import OpenApiSchema
from sqlalchemy.orm import Session

from app.settings import Settings
from tests.app.crawl import CHANGES, SKIPPED
from tests.studies import make_administrator, make_study, open_rater, sign_in

EXAMPLES = 6
"""An address, a kind of person, a database: thousands of requests in all."""
SECONDS = 300
"""No measure of speed: a power curve is simulated while it is asked for, and the machine may be busy."""


LET_IN = {"anonymous": ("/help", 200), "rater": ("/rate", 200), "administrator": ("/studies/{code}", 200)}
"""What each kind of person must have been shown, or the search never came in."""


@pytest.fixture(params=list(LET_IN))
def person(request: pytest.FixtureRequest, client: TestClient, session: Session, settings: Settings) -> TestClient:
    """A browser of somebody in a study that is under way."""
    study = make_study(session, settings, seats=2)
    other = make_administrator(session, "Eve").id  # whose password may be made anew, not that of who asks
    client.known = {"code": study.code, "study_code": study.code, "administrator_id": other}  # type: ignore[attr-defined]
    if request.param == "rater":
        open_rater(client, session, study)
    if request.param == "administrator":
        sign_in(client, session, make_administrator(session))
    return client


@pytest.fixture
def interface(person: TestClient) -> OpenApiSchema:
    """What the application would say of itself, if it told anybody."""
    app: Any = person.app
    described = app.openapi()
    schema = schemathesis.openapi.from_dict(described)
    schema.app = app

    @schema.hook
    def map_path_parameters(_context: object, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
        # A study that there is: else every address would end at "there is nothing here".
        known = person.known  # type: ignore[attr-defined]
        return path_parameters and {name: known.get(name, value) for name, value in path_parameters.items()}

    return schema


def test_no_request_makes_the_server_fail(
    interface: OpenApiSchema, person: TestClient, request: pytest.FixtureRequest
) -> None:
    cookies = "; ".join(f"{name}={value}" for name, value in person.cookies.items())
    answers = []
    for found in interface.get_all_operations():
        operation = found.ok()
        if CHANGES.search(operation.path) or operation.path in SKIPPED:
            continue  # it would end what is being looked at; the crawl asks for it

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
            phases=[Phase.generate],  # a smaller example would tell little more, and takes minutes to find
        )
        def ask(case: schemathesis.Case) -> None:
            answer = case.call(headers={"cookie": cookies}, allow_redirects=False, timeout=SECONDS)
            answers.append((case.operation.path, answer.status_code))
            failed = answer.status_code >= 500 and case.operation.path != "/ready"
            assert not failed, (case.method, case.formatted_path, answer.text)

        ask()
    assert len(answers) > 100
    assert LET_IN[request.node.callspec.params["person"]] in answers
