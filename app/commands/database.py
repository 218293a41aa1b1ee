"""The whole database: brought up to date, copied, put back."""

from app.audit_log import record
from app.commands.terminal import ACTOR, Options, current_settings, database, say, writing


def migrate(_options: Options) -> None:
    from app.store.migrate import upgrade

    upgrade(current_settings().database_url)
    say("The database is up to date.")


def backup(options: Options) -> None:
    from app.store.backup import backup

    settings = current_settings()
    with database(settings):
        pass
    backup(settings.database_url, options.file)
    with writing() as (session, _):
        record(session, ACTOR, "backup taken")
    say(f"Not in it: the key file {settings.key_file.resolve()}. Keep a copy of that one somewhere else.")
    say(str(options.file))


def restore(options: Options) -> None:
    from app.store.backup import restore

    settings = current_settings()
    restore(settings.database_url, options.file)
    if not settings.key_file.exists():
        say(f"The key file {settings.key_file.resolve()} is not there yet. Put it back before you unblind a study.")
    say("The database is put back. If the program is newer than the backup, run: glance migrate")
