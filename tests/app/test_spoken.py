"""Templates whose constant words are translated beforehand say the same, byte for byte."""

from typing import Any

import pytest
from jinja2 import DictLoader, Environment, StrictUndefined

from app.web.pages import environment
from app.words.language import LANGUAGES, language
from app.words.spoken import in_language

TEMPLATES = {
    "plain": '{{ _("Interpretable") }} {{ _(\'Undo\') }} {{ _(  "Undo"  ) }}',
    "escaped": '{{ _("Skip to the <verdict> & \\"more\\"") }}',
    "filters": '{{ _("<b>%(done)s</b> of %(share)s")|safe|format(done=1, share=name) }}',
    "attribute": '<p title="{{ _("Your day begins at 00:00, %(zone)s.")|format(zone=name) }}">',
    "a value": "{{ _(word) }} {{ gettext(word) }} {{ _(word ~ '') }}",
    "choice": '{% if n %}{{ _("Pause") if n > 1 else _("Undo") }}{% endif %}{% set kept = _("Pause") %}{{ kept }}',
    "plural": '{{ ngettext("%(n)s neuron", "%(n)s neurons", n)|format(n=n) }}',
    "not a call": '{% set _x = "Undo" %}{{ _x }} {{ "_" }} {{ ["_", "("] | join }}',
    "two strings": '{{ _("Un" "do") }} {{ _("Undo" | lower) }}',
    "called": '{% macro m(t) %}[{{ t }}{{ caller() if caller is defined else "" }}]{% endmacro %}{{ m(_("Undo")) }}'
    '{% call m(_("Pause")) %}{{ _("Undo") }}{% endcall %}',
    "included": '{% include "plain" %}{% include "filters" %}',
    "extended": '{% extends "base" %}{% block words %}{{ _("Pause") }}{% endblock %}',
    "base": "<{% block words %}{% endblock %}>",
}
VALUES: dict[str, Any] = {"name": "<Ada>", "word": "Undo", "n": 2}


@pytest.fixture(scope="module")
def plain() -> Environment:
    return Environment(
        loader=DictLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, extensions=["jinja2.ext.i18n"]
    )


@pytest.mark.parametrize("code", list(LANGUAGES))
@pytest.mark.parametrize("name", list(TEMPLATES))
def test_it_says_the_same(plain: Environment, name: str, code: str) -> None:
    spoken = language(code)
    given = VALUES | {"_": spoken.gettext, "gettext": spoken.gettext, "ngettext": spoken.ngettext}
    expected = plain.get_template(name).render(given)
    assert in_language(plain, code).get_template(name).render(given) == expected


def test_constant_words_are_not_asked_for_when_a_page_is_shown(plain: Environment) -> None:
    def never(message: str) -> str:
        raise AssertionError(f"“{message}” was asked for")

    shown = in_language(plain, "zh-Hans").get_template("plain").render(VALUES | {"_": never})
    assert shown.split()[0] == language("zh-Hans").gettext("Interpretable") != "Interpretable"


@pytest.mark.parametrize("code", list(LANGUAGES))
def test_every_template_of_ours_compiles_in_every_language(code: str) -> None:
    names = environment.list_templates(extensions=["html"])
    compiled = [in_language(environment, code).get_template(name).name for name in names]
    assert compiled == names
    assert "rating/page.html" in names
