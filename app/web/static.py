"""Style sheets and scripts: ours from static/, htmx from its wheel."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, Response

from app.errors import NotFound

router = APIRouter()
STATIC = Path(__file__).parents[2] / "static"
KEPT = {"cache-control": "public, max-age=3600"}


@cache
def htmx_path() -> Path:
    """The script of the pinned django-js-lib-htmx wheel; nothing of Django comes along."""
    found = sorted(Path(str(files("js_lib_htmx"))).rglob("htmx.min.js"))
    return found[0]


@router.get("/static/htmx.js")
def htmx() -> Response:
    return FileResponse(htmx_path(), media_type="text/javascript", headers=KEPT)


@router.get("/static/{name}")
def static_file(name: str) -> Response:
    path = STATIC / name
    if path.parent != STATIC or not path.is_file():
        raise NotFound
    return FileResponse(path, headers=KEPT)
