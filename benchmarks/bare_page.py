"""The least that a server can do: a synchronous FastAPI route that returns bytes it has in memory."""

import os
from pathlib import Path

from fastapi import FastAPI, Response

PAGE = Path(os.environ["BARE_PAGE"]).read_bytes()


def application() -> FastAPI:
    app = FastAPI(openapi_url=None)

    @app.get("/rate")
    def page() -> Response:
        return Response(PAGE, media_type="text/html; charset=utf-8")

    return app
