import gc
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_runner.run.arrays import STATES
from model_runner.run.error import RunFolderError
from model_runner.run.folder import Run, open_run
from model_runner.run.info import INFO_NAME, comparable
from tests.runs import ALWAYS_PRESENT, make_run

Copy = Callable[[Path], Path]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return make_run(tmp_path_factory.mktemp("runs") / "gelu")


@pytest.fixture
def folder(run: Run, tmp_path: Path) -> Path:
    """A copy that a test may damage."""
    return Path(shutil.copytree(run.folder, tmp_path / "copy"))


@pytest.mark.parametrize("condition", ["gelu", "solu_ln", "solu", "gelu_ln"])
def test_snippets_keep_their_promises(tmp_path: Path, condition: str) -> None:
    run = make_run(tmp_path / "run", condition)
    for unit, described in enumerate(run.units):
        snippets = run.snippets("top", unit)
        assert len(snippets) == described["snippets"] <= run.info.kept
        order = [(-snippet.value, snippet.document) for snippet in snippets]
        assert order == sorted(order)
        assert len({snippet.document for snippet in snippets}) == len(snippets)
        for snippet in snippets:
            rankable = [i for i, token in enumerate(snippet.tokens_W) if int(token) not in run.specials]
            assert snippet.peak == max(rankable, key=lambda i: (snippet.activations_W[i], -i))
            assert snippet.value == snippet.activations_W[snippet.peak]
            assert len(snippet.tokens_W) == len(snippet.activations_W) <= run.info.window
            assert (snippet.after_norm_W is not None) == condition.endswith("_ln")
            assert snippet.document_start == (snippet.start == 0)


def test_every_state_is_there(run: Run) -> None:
    for name, index in ALWAYS_PRESENT.items():
        assert STATES[run.units["state"][index]] == name
    assert run.snippets("top", ALWAYS_PRESENT["dead"]) == []
    assert all(snippet.value < 0 for snippet in run.snippets("top", ALWAYS_PRESENT["never_positive"]))


def test_made_runs_differ_in_activations_and_share_the_text(tmp_path: Path, run: Run) -> None:
    other = make_run(tmp_path / "run", "solu_ln", seed=1)
    assert comparable([run.info, other.info]) == []
    assert other.info.digest != run.info.digest
    again = make_run(tmp_path / "again", "solu_ln", seed=1)
    assert again.info.digest == other.info.digest


def test_characters_are_cut_across_tokens_and_come_back_whole(run: Run) -> None:
    texts, split = [], 0
    for unit in range(len(run.units)):
        for snippet in run.snippets("top", unit):
            pieces = [run.token_bytes(int(token)) for token in snippet.tokens_W]
            split += any(piece and piece[0] & 0xC0 == 0x80 for piece in pieces)
            if snippet.document_start and snippet.document_end:
                texts.append(b"".join(pieces).decode("utf-8"))
    assert split > 0
    assert any("👩‍👩‍👧‍👦" in text for text in texts)


def test_what_differs_between_runs_is_named(tmp_path: Path, run: Run) -> None:
    other = make_run(tmp_path / "run", kept=10, split="check", parts=["code"], name="b")
    assert comparable([run.info, other.info]) == [
        "The runs have different splits of the corpus: gelu-0 has collect; b has check.",
        "The runs have different numbers of snippets kept: gelu-0 has 20; b has 10.",
        "The runs have different parts of the corpus: gelu-0 has prose-en, code; b has code.",
    ]


def test_a_folder_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        RunFolderError, match=r"There is no folder .*nowhere\. Name one that `glance-runner collect` made"
    ):
        open_run(tmp_path / "nowhere")


def test_a_folder_without_its_json_is_not_finished(folder: Path) -> None:
    (folder / INFO_NAME).unlink()
    with pytest.raises(RunFolderError, match="not finished"):
        open_run(folder)


def _edit(folder: Path, **changes: Any) -> None:
    path = folder / INFO_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": 2}, "format 2, and this program reads format 1"),
        ({"format": "1"}, "format '1'"),
        ({"surprise": 1}, "says surprise, which this program does not know"),
        (
            {"activation_point": "after_norm"},
            "is 'after_norm', which should be 'before_norm' or 'only'",
        ),
        ({"sections": ["top", "negative"]}, "does not describe negative"),
        ({"sections": []}, "holds top.activations, top.offsets, top.snippets, top.tokens, which"),
        ({"arrays": []}, "the table of arrays is no such record"),
    ],
)
def test_what_is_unknown_is_refused(folder: Path, changes: dict[str, Any], said: str) -> None:
    _edit(folder, **changes)
    with pytest.raises(RunFolderError, match=said):
        open_run(folder)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"format": 1}'])
def test_a_broken_json_is_refused(folder: Path, content: str) -> None:
    (folder / INFO_NAME).write_text(content)
    with pytest.raises(RunFolderError, match=INFO_NAME):
        open_run(folder)


@pytest.mark.parametrize(
    "name",
    ["units", "token_bytes", "token_offsets", "top.offsets", "top.snippets", "top.tokens", "top.activations"],
)
@pytest.mark.parametrize("damage", ["gone", "empty", "header", "tail", "other"])
def test_a_damaged_array_is_refused(folder: Path, name: str, damage: str) -> None:
    path = folder / f"{name}.npy"
    whole = path.read_bytes()
    if damage == "gone":
        path.unlink()
    elif damage == "other":
        np.save(path, np.zeros(3))
    else:
        path.write_bytes(whole[: {"empty": 0, "header": 60, "tail": len(whole) - 1}[damage]])
    with pytest.raises(RunFolderError, match=rf"{name}.npy (is|holds)"):
        open_run(folder)


@pytest.mark.parametrize("name", ["top.activations.npy", "top.tokens.npy", "run.json"])
def test_a_changed_byte_is_found_when_every_byte_is_asked_for(folder: Path, name: str) -> None:
    open_run(folder, every_byte=True)
    content = (folder / name).read_bytes()
    at = content.index(b'"seed": 0') + 8 if name == "run.json" else len(content) - 1
    changed = b"1" if name == "run.json" else bytes([content[at] ^ 1])
    (folder / name).write_bytes(content[:at] + changed + content[at + 1 :])
    open_run(folder)
    with pytest.raises(RunFolderError, match=f"{name} was changed after"):
        open_run(folder, every_byte=True)


def test_questions_outside_the_folder_are_refused(run: Run) -> None:
    with pytest.raises(RunFolderError, match='no section "bottom"; it has top'):
        run.snippets("bottom", 0)
    for unit in (-1, len(run.units)):
        with pytest.raises(RunFolderError, match=f"no unit {unit}"):
            run.snippets("top", unit)
    with pytest.raises(RunFolderError, match="outside the vocabulary"):
        run.token_bytes(run.vocabulary)
    with pytest.raises(RunFolderError, match="outside its vocabulary"):
        run.texts([0, run.vocabulary])


def test_many_tokens_read_as_one_at_a_time(run: Run) -> None:
    tokens = range(run.vocabulary)
    assert run.texts(tokens) == [run.token_bytes(token) for token in tokens]


def test_the_arrays_are_mapped_and_not_writable(run: Run) -> None:
    snippet = run.snippets("top", 0)[0]
    assert not snippet.activations_W.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        snippet.activations_W[0] = 1


@pytest.fixture
def _threads_meet_everywhere() -> Iterator[None]:
    """Callbacks of garbage collections, which run in the middle of allocations; threads take turns there."""

    def callback(_phase: str, _info: dict[str, int]) -> None:
        sum(range(20))

    usual, thresholds = sys.getswitchinterval(), gc.get_threshold()
    gc.callbacks.append(callback)
    sys.setswitchinterval(1e-6)
    gc.set_threshold(7)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(usual)
    gc.callbacks.remove(callback)


@pytest.mark.usefixtures("_threads_meet_everywhere")
def test_threads_may_open_runs_at_once(run: Run) -> None:
    """Python 3.11's parser, with which NumPy reads headers, fails now and then where two threads are at it."""
    with ThreadPoolExecutor(6) as threads:
        opened = list(threads.map(lambda _: open_run(run.folder).info.name, range(100)))
    assert set(opened) == {run.info.name}
