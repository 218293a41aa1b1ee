"""What administrators are refused with a value in it is said in their language, the value as it was typed."""

import html
import re

import pytest
from fastapi.testclient import TestClient
from sqlalchemy.orm import Session

from app.settings import Settings
from tests.studies import PASSWORD, make_administrator, make_study, sign_in

REFUSED: dict[str, tuple[str, dict[str, str], str]] = {
    "a design": ("/studies/new", {"name": "冬", "seats": "0"}, "评定者至少为 1；现在是 0。"),
    "a pair that does not fit": ("/studies/new", {"name": "冬", "overlap": "61"}, "不能大于“每组神经元数”（60）"),
    "a run": ("/studies/new", {"name": "冬", "run": "nowhere"}, "没有已完成的运行“nowhere”"),
    "terms": ("/studies/{code}/terms", {"day_goal": "0"}, "每日目标是 0。"),
    "a link": ("/studies/{code}/raters", {"name": "甲" * 81}, "名字有 81 个字符；最多保留 80 个。"),
    "an amendment": ("/studies/{code}/plan", {"reason": "理由"}, "计划没有任何改动"),
    "an e-mail address": ("/administrators/{ada}/email", {"email": "ada"}, "“ada”不是电子邮件地址。"),
    "the last who manages": ("/administrators/{ada}/deactivate", {}, "“Ada”是唯一拥有“管理”角色的管理员"),
    "an administrator": ("/administrators", {"name": "Ada"}, "已有名为“Ada”的管理员。"),
    "a name of somebody else": ("/administrators", {"name": "The command line"}, "审计已用“The command line”称呼别人"),
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
