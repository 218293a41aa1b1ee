"""The little of a browser that a simulated rater needs: cookies, forms, and the outlined tokens of a page."""

import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)
    buttons: list[tuple[str, str]] = field(default_factory=list)
    """Name and value of each button that submits."""


@dataclass
class Page:
    url: str
    status: int
    html: str
    forms: list[Form] = field(default_factory=list)
    state: str = ""
    """What the rating page says of itself: item, begin, waiting, finished, closed."""
    peaks: list[str] = field(default_factory=list)
    """The outlined token of each snippet, as the page shows it."""

    def form(self, action: str) -> Form | None:
        """The first form whose address ends like this."""
        return next((form for form in self.forms if form.action.endswith(action)), None)


class _Reader(HTMLParser):
    def __init__(self, page: Page) -> None:
        super().__init__(convert_charrefs=True)
        self._page, self._form, self._in_peak = page, Form("", "get"), False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self._form = Form(given.get("action") or self._page.url, given.get("method", "get").lower())
            self._page.forms.append(self._form)
        elif tag == "input" and given.get("type") not in {"checkbox", "radio"} and "name" in given:
            self._form.fields[given["name"]] = given.get("value", "")
        elif tag == "textarea" and "name" in given:
            self._form.fields[given["name"]] = ""
        elif tag == "button" and given.get("type", "submit") == "submit":
            self._form.buttons.append((given.get("name", ""), given.get("value", "")))
        elif tag == "mark":
            self._in_peak = True
            self._page.peaks.append("")
        elif "data-state" in given:
            self._page.state = given["data-state"]

    def handle_data(self, data: str) -> None:
        if self._in_peak:
            self._page.peaks[-1] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "mark":
            self._in_peak = False
        elif tag == "form":
            self._form = Form("", "get")


class Browser:
    """One person's browser: keeps cookies, follows redirects, reads pages."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar())).open

    def get(self, url: str) -> Page:
        return self._ask(urllib.request.Request(urllib.parse.urljoin(self._base, url)))  # noqa: S310  # our own server

    def submit(self, page: Page, form: Form, button: tuple[str, str] | None = None, **fields: str | list[str]) -> Page:
        data = {**form.fields, **fields} | ({button[0]: button[1]} if button and button[0] else {})
        body = urllib.parse.urlencode(data, doseq=True).encode()
        url = urllib.parse.urljoin(page.url, form.action)
        headers = {"Origin": self._base.rstrip("/")}
        return self._ask(urllib.request.Request(url, data=body, headers=headers))  # noqa: S310  # our own server

    def _ask(self, request: urllib.request.Request) -> Page:
        try:
            with self._open(request, timeout=60) as answer:
                page = Page(answer.geturl(), answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                page = Page(request.full_url, error.code, error.read().decode())
        _Reader(page).feed(page.html)
        return page
