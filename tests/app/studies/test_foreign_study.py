"""A study whose arms are other people's models: imported, collected, and served to raters like any other."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.models import Arm, Item
from app.settings import Settings
from model_runner.collect.collect import collect
from model_runner.collect.config import CollectConfig
from model_runner.corpus.store import Corpus
from model_runner.foreign.command import import_model
from model_runner.foreign.wishes import Wishes
from model_runner.subject import load_subject
from tests.corpora import make_corpus
from tests.model_runner.foreign.families import save_model
from tests.studies import make_study, open_rater
from tests.texts import CODE, PROSE

SNIPPETS = 4


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return make_corpus(tmp_path_factory.mktemp("corpus") / "c", [*PROSE, *CODE], shares={"collect": 1.0})


@pytest.fixture(scope="module")
def runs(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """A SwiGLU model and one with GELU by tanh, over one corpus."""
    folder, made = tmp_path_factory.mktemp("foreign"), []
    for family in ("llama", "gemma"):
        source = save_model(folder / f"hub-{family}", corpus, family)
        import_model(str(source), folder / f"model-{family}", Wishes(context=16))
        made.append(folder / family)
        collect(load_subject(folder / f"model-{family}"), corpus, made[-1], CollectConfig(kept=SNIPPETS))
    return tuple(made)


def test_a_study_is_made_of_two_imported_models_and_a_rater_sees_it(
    session: Session, settings: Settings, client: TestClient, runs: tuple[Path, ...]
) -> None:
    study = make_study(session, settings, runs=runs, snippets=SNIPPETS)
    arms = session.scalars(select(Arm).where(Arm.study_id == study.id))
    assert sorted(arm.condition for arm in arms) == ["gelu_new_gated", "silu_gated"]
    assert len(session.scalars(select(Item).where(Item.study_id == study.id)).all()) == 12
    address = open_rater(client, session, study)
    page = client.get(address, follow_redirects=True)
    assert page.status_code == 200
    for label in ("silu", "gelu", "gated", "llama", "gemma", "SwiGLU"):
        assert label not in page.text
