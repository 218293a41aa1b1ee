"""What SQLite has committed is on the disk before anybody is told so, and waiting for the disk holds nobody up."""

import os

from sqlalchemy import Engine

write_through = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


def make_durable(engine: Engine) -> None:
    """Wait until every commit so far would survive a power cut.

    With synchronous=full SQLite waits itself, within the commit, and the next writer waits along. With normal it leaves
    the disk to us: the commits of several writers lie in the log of writes, in their order, and one wait is for all.
    """
    file = engine.url.database
    if engine.dialect.name != "sqlite" or not file:
        return
    try:
        log = os.open(f"{os.path.realpath(file)}-wal", os.O_RDWR)  # SQLite follows a link, and writes beside the file
    except FileNotFoundError:
        return  # the last connection was closed: what the log held was written into the database, and waited for
    try:
        write_through(log)
    finally:
        os.close(log)
