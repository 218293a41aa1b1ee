"""What is wrong with a field is said in our words, in the reader's language."""

from typing import Annotated, Any, Literal

import pytest
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field, ValidationError
from sqlalchemy.orm import Session

from app.web.form import KIND, MOST_FIELDS
from app.web.misread import said_of
from app.web.params import NoNul
from app.words.language import language
from tests.studies import sign_in


class Form(BaseModel):
    """One field of each kind that the pages have."""

    name: Annotated[str, Field(max_length=5), NoNul] = ""
    count: Annotated[int, Field(ge=1, le=9)] = 1
    days: Literal["7", "30"] = "7"
    agreed: bool = False
    key: Annotated[str, Field(pattern="^[a-z]+$")] = "a"
    hours: float = 1.0
    must: int


CASES = [
    ({}, "“must” is missing", "缺少"),
    ({"name": "x" * 6}, "“name” takes at most 5 characters", "最多 5 个字符"),
    ({"name": "\x00"}, "“name” holds characters that it cannot take", "不能接受的字符"),
    ({"days": "8"}, "“8” is not one of the choices of the field “days”", "不是字段“days”的选项"),
    ({"agreed": "perhaps"}, "“perhaps” is not one of the choices", "“perhaps”不是"),
    ({"count": "many"}, "takes a whole number, and “many” is none", "整数"),
    ({"count": "m" * 99}, f"“{'m' * 40}…” is none", "整数"),
    ({"count": "0"}, "takes a number from 1 on, and 0 was given", "不能小于 1"),
    ({"count": "10"}, "takes a number up to 9, and 10 was given", "不能大于 9"),
    ({"key": "?"}, "“key” holds characters that it cannot take", "不能接受的字符"),
    ({"hours": "long"}, "“hours” was not understood", "无法识别"),
]


@pytest.mark.parametrize(("given", "english", "chinese"), CASES)
def test_each_kind_of_error_is_a_sentence_in_both_languages(given: dict[str, Any], english: str, chinese: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Form.model_validate(given if not given else {"must": 1, **given})
    error = dict(caught.value.errors()[0])
    error["loc"] = ("body", *caught.value.errors()[0]["loc"])
    assert english in said_of(error, language("en"))
    assert chinese in said_of(error, language("zh-Hans"))


def test_the_page_says_it_and_not_what_pydantic_says(htmx: TestClient, session: Session) -> None:
    sign_in(htmx, session)
    form = {"name": "Spring", "run": "gelu", "neurons_per_arm": "<b>many"}
    answer = htmx.post("/studies/new", data=form)
    assert answer.status_code == 422
    assert "takes a whole number, and “&lt;b&gt;many” is none" in answer.text
    assert "valid integer" not in answer.text
    assert "整数" in htmx.post("/studies/new?language=zh-Hans", data=form).text


PARTS = "multipart/form-data; boundary=XX"
UNREADABLE = [
    f"{PARTS}; charset=undefined",
    f"{PARTS}; charset=punycode",
    "multipart/form-data",
    "multipart/form-data; boundary=YY",
]


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("path", ["/rate/verdict", "/rate/draft", "/rate/skip", "/rate/undo"])
def test_what_is_no_form_is_refused_by_one_sentence_on_every_page(htmx: TestClient, kind: str, path: str) -> None:
    body = b'--XX\r\nContent-Disposition: form-data; name="verdict"\r\n\r\n_-_\r\n--XX--\r\n'
    english, chinese = (
        htmx.post(f"{path}{asked}", content=body, headers={"content-type": kind}) for asked in ("", "?language=zh-Hans")
    )
    assert english.status_code == 422
    assert "What was sent cannot be read as a form. Nothing was stored." in english.text
    assert "发送的内容无法作为表单读取" in chinese.text


@pytest.mark.parametrize("path", ["/rate/verdict", "/rate/draft", "/rate/skip", "/studies/new", "/studies/x/plan"])
def test_too_many_fields_are_the_same_answer_on_every_page(htmx: TestClient, session: Session, path: str) -> None:
    sign_in(htmx, session)
    answer = htmx.post(
        path,
        content="&".join(["a=1"] * (MOST_FIELDS + 1)),
        headers={"content-type": KIND},
    )
    assert answer.status_code == 422
    assert "more fields than any of ours" in answer.text
