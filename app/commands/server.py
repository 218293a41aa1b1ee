"""Serving the pages."""

import sys

from sqlalchemy import make_url

from app.commands.terminal import Options, current_settings, database, say
from app.store.db import reading


def serve(options: Options) -> None:
    import uvicorn

    from app.administrators.queries import is_anybody
    from app.operations.metrics import share_between_workers
    from app.web.listening import insist_on_port

    settings = current_settings()
    with database(settings) as engine, reading(engine) as session:
        begun = is_anybody(session)
    insist_on_port(options.host, options.port)
    if settings.metrics_token and options.workers > 1:
        share_between_workers()
    shown = make_url(settings.database_url).render_as_string(hide_password=True)
    # Said at the start, because either may lie on a disk that goes away with a container.
    say(f"Database {shown}, key file {settings.key_file.resolve()}.")
    say(f"Serving on http://{options.host}:{options.port}{settings.root_path}/ (Ctrl+C stops)")
    if not begun:
        say("There is no administrator yet. Add the first one: glance administrator add NAME")
    sys.stdout.flush()
    # No access log: addresses hold rater's links, and their times would tell who rated what.
    uvicorn.run(
        "app.main:app", factory=True, host=options.host, port=options.port, workers=options.workers,
        access_log=False, server_header=False, log_level="warning", http="app.web.connection:Connection",
    )  # fmt: skip
