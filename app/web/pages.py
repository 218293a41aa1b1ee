"""Pages: templates, languages, fragments for htmx, redirects. Only this module knows htmx."""

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from app.words.language import LANGUAGES, Language, language_of
from app.words.spoken import in_language

ROOT = Path(__file__).parents[2]
environment = Environment(
    loader=FileSystemLoader(ROOT / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    auto_reload=False,  # a server that runs keeps to the pages that it began with
    extensions=["jinja2.ext.i18n"],
)
PREFERENCES = {"language": tuple(LANGUAGES), "theme": ("light", "dark"), "palette": ("red", "blue", "grey")}
"""What a reader may choose on any page, as in ?theme=dark. Kept in cookies, so that no page ever flashes."""
A_YEAR = 365 * 24 * 3600
VARY = {"vary": "HX-Request, HX-Boosted, HX-History-Restore-Request"}


def wants_fragment(request: Request) -> bool:
    """True when htmx will swap a part: a boosted link or a restored history entry is a whole page."""
    whole = ("HX-Boosted", "HX-History-Restore-Request")
    return "HX-Request" in request.headers and not any(name in request.headers for name in whole)


def address(request: Request, path: str) -> str:
    """A path of the application as the browser must ask for it, under whatever prefix it is served."""
    return f"{request.scope.get('root_path', '').rstrip('/')}{path}"


def query_with(request: Request, **changed: str) -> str:
    """The query of this page's address with some values changed, as a link to the same page."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in changed]
    return "?" + urlencode([*kept, *changed.items()])


def globals_for(request: Request, language: Language) -> dict[str, Any]:
    """What every template may use: url(), query(), _(), the language, the reader's theme and palette."""
    return {
        "request": request,
        "url": lambda path: address(request, path),
        "query": lambda **changed: query_with(request, **changed),
        "language": language,
        "gettext": language.gettext,
        "_": language.gettext,
        "ngettext": language.ngettext,
        "theme": _preference(request, "theme"),
        "palette": _preference(request, "palette"),
    }


def _preference(request: Request, name: str) -> str | None:
    for value in (request.query_params.get(name), request.cookies.get(f"glance_{name}")):
        if value in PREFERENCES[name]:
            return value
    return None


def _keep_preferences(request: Request, response: Response) -> None:
    for name, values in PREFERENCES.items():
        value = request.query_params.get(name)
        if value in values:
            secure = request.app.state.settings.secure_cookies
            path = address(request, "/")
            # The page's script may change the theme, so it can read these three.
            response.set_cookie(f"glance_{name}", value, A_YEAR, path=path, samesite="lax", secure=secure)


def render(
    request: Request, name: str, *, block: str | None = None, status_code: int = 200, **context: Any
) -> Response:
    """Render a page, or only one block of it when htmx asked for a fragment."""
    language = language_of(request)
    template = in_language(environment, language.code).get_template(name)
    everything = {**globals_for(request, language), **context}
    if block and wants_fragment(request):
        html = "".join(template.blocks[block](template.new_context(everything)))
    else:
        html = template.render(everything)
    response = HTMLResponse(html, status_code, VARY)
    _keep_preferences(request, response)
    return response


def streamed(request: Request, name: str, **context: Any) -> Response:
    """Send a whole page as it comes: what takes long in it, an iterator among its values, is seen row by row."""
    language = language_of(request)
    everything = {**globals_for(request, language), **context}
    pieces = in_language(environment, language.code).get_template(name).generate(everything)
    return StreamingResponse(pieces, media_type="text/html", headers=VARY)


def redirect(request: Request, path: str) -> Response:
    """Go on to another page after a write: 303, or, where htmx would follow it inside a fragment, HX-Redirect."""
    to = address(request, path)
    if wants_fragment(request):
        return Response(status_code=200, headers={"HX-Redirect": to, **VARY})
    return RedirectResponse(to, 303, VARY)


def trusted(fragment: bytes) -> Markup:
    """HTML that we rendered and escaped ourselves when the study was frozen."""
    return Markup(fragment.decode())  # noqa: S704  # nothing else is ever passed here
