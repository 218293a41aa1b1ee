"""What administrators are refused with a value in it is said in their language, the value as it was typed."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.errors import Invalid
from app.settings import Settings
from app.studies.design import Design
from app.studies.freezing import freeze, plan_for
from app.studies.study_file import read
from app.words.language import language
from tests.studies import PASSWORD, SECRET, make_administrator, make_study, open_rater, sign_in, two_runs

REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "a design": ("/studies/new", {"name": "冬", "seats": "0"}, "评定者至少为 1；现在是 0。"),
    "a pair that does not fit": ("/studies/new", {"name": "冬", "overlap": "61"}, "不能大于“每组神经元数”（60）"),
    "a run": ("/studies/new", {"name": "冬", "run": "nowhere"}, "没有已完成的运行结果“nowhere”"),
    "terms": ("/studies/{code}/terms", {"day_goal": "0"}, "每日目标是 0。"),
    "a plan": ("/studies/new", {"name": "冬", "alpha": "9"}, "水平 alpha 必须在 0 与 1 之间；现在是 9.0。"),
    "an amended plan": ("/studies/{code}/plan", {"alpha": "9", "reason": "理由"}, "水平 alpha 必须在 0 与 1 之间"),
    "no number": ("/studies/{code}/plan", {"alpha": "x", "reason": "理由"}, "alpha 应为数；您给的是“x”。"),
    "runs": (
        "/studies/new",
        {"name": "冬"},
        "这些运行结果不能组成研究。一项研究比较两个或更多运行结果；现在给了 0 个。",
    ),
    "a link": ("/studies/{code}/raters", {"name": "甲" * 81}, "名称有 81 个字符；最多保留 80 个。"),
    "an amendment": ("/studies/{code}/plan", {"reason": "理由"}, "计划没有任何改动"),
    "an e-mail address": ("/administrators/{ada}/email", {"email": "ada"}, "“ada”不是电子邮件地址。"),
    "the last who manages": ("/administrators/{ada}/deactivate", {}, "“Ada”是唯一拥有“管理”角色的管理员"),
    "an administrator": ("/administrators", {"name": "Ada"}, "已有名为“Ada”的管理员。"),
    "a name of somebody else": (
        "/administrators",
        {"name": "The command line"},
        "审计记录已用“The command line”称呼别人",
    ),
    "a password": (
        "/password",
        {"password": PASSWORD, "new": "短", "again": "短"},
        "密码有 1 个字符；至少需要 10 个。",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_refusal_with_a_value_is_in_the_readers_language(
    client: TestClient, session: Session, settings: Settings, what: str
) -> None:
    path, form, said = REFUSED[what]
    study = make_study(session, settings)
    ada = make_administrator(session)
    sign_in(client, session, ada)
    client.cookies.set("glance_language", "zh-Hans")
    answer = client.post(path.format(code=study.code, ada=ada.id), data=form)
    assert answer.status_code in (409, 422)
    found = re.search(r'<p class="notice" role="alert">(.*?)</p>', answer.text, re.DOTALL)
    assert found is not None
    assert said in html.unescape(found[1])


def test_a_hypothesis_that_is_too_long_is_refused_in_the_raters_language(
    client: TestClient, session: Session, settings: Settings
) -> None:
    open_rater(client, session, make_study(session, settings))
    client.cookies.set("glance_language", "zh-Hans")
    client.post("/rate/begin")
    page = client.get("/rate").text
    form = dict(re.findall(r'name="(assignment|key)" value="([^"]+)"', page))
    answer = client.post("/rate/verdict", data={**form, "verdict": "INTERPRETABLE", "hypothesis": "长" * 2001})
    assert answer.status_code == 422
    assert "您的假设有 2001 个字符；最多保留 2000 个。请缩短。" in answer.text


def test_what_an_export_does_not_give_out_yet_is_said_in_chinese(
    client: TestClient, session: Session, settings: Settings
) -> None:
    study = make_study(session, settings)
    sign_in(client, session)
    client.cookies.set("glance_language", "zh-Hans")
    said = "表“arms”在研究揭盲后才能下载。在此之前，它可能泄露各组。"
    assert said in client.get(f"/studies/{study.code}/exports").text
    answer = client.get(f"/studies/{study.code}/exports/arms.csv")
    assert (answer.status_code, said in answer.text) == (403, True)


SCARCE = Design(neurons_per_arm=60, seats=1, mixed_per_arm=0, repeats_per_arm=0)


def test_a_draw_that_cannot_be_made_says_why_in_either_language() -> None:
    with pytest.raises(Invalid) as refused:
        freeze(SCARCE, two_runs(), SECRET)
    assert "neurons that can be shown, and the design needs" in refused.value.message
    assert "个可以展示的神经元，而设计在此需要" in language("zh-Hans").say(refused.value.said)


def test_guesses_of_the_only_condition_are_refused_in_either_language() -> None:
    design = Design(guesses=4)
    with pytest.raises(Invalid) as refused:
        plan_for({"gelu"}, design, simulated=False)
    assert (
        language("zh-Hans").say(refused.value.said)
        == "所有运行结果都属于同一条件 gelu，因此没有可猜的。请不要要求猜测。"
    )
    assert plan_for({"gelu", "solu"}, design, simulated=False)["baseline"] == "gelu"
    assert plan_for({"gelu"}, Design(), simulated=False)["baseline"] == "gelu"


def test_a_file_of_a_study_is_refused_in_either_language() -> None:
    with pytest.raises(Invalid) as refused:
        read("[design]\nneuron_per_arm = 3\n", "a.toml")
    assert language("zh-Hans").say(refused.value.said) == (
        "a.toml 中没有字段 design.neuron_per_arm（其值为 3）。您是指 neurons_per_arm 吗？"
    )
    with pytest.raises(Invalid, match=r"It must be a whole number, as in seats = ") as refused:
        read("[design]\nseats = true\n", "a.toml")
    assert "它必须是整数" in language("zh-Hans").say(refused.value.said)
