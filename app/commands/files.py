"""What leaves a study and comes back: reports, exports, ratings, and whether an export is whole."""

import sys
from pathlib import Path

from app.audit_log import record
from app.commands.terminal import ACTOR, Options, find_study, looking, say, writing
from app.errors import Invalid
from app.models import Study


def report(options: Options) -> None:
    from app.reports.folder import report_files
    from app.reports.queries import unblinded_study
    from app.reports.rated_items import all_items
    from app.reports.report import make_report
    from app.words.language import language

    with looking() as (session, _):
        study = unblinded_study(session, find_study(session, options.study).code)
        made = make_report(session, study, mixed=options.mixed)
        written = report_files(made, all_items(session, study), language(options.language))
        _write(options.out, {file.name: file.content for file in written})
    _note_taken(study, "report")
    say(str(options.out / "report.html"))


def export(options: Options) -> int:
    from app.reports.exports import empty_tables, files
    from app.reports.neuronpedia import neuronpedia_files
    from app.reports.queries import unblinded_study

    with looking() as (session, _):
        study = find_study(session, options.study)
        _write(options.out, {file.name: file.content for file in files(session, study)})
        if options.neuronpedia:
            study = unblinded_study(session, study.code)
            _write(options.out, {file.name: file.content for file in neuronpedia_files(session, study)})
        warnings = empty_tables(session, study)
    _note_taken(study, "export")
    for warning in warnings:
        sys.stderr.write(f"{warning}\n")
    say(str(options.out))
    return 1 if warnings and options.strict else 0


def _note_taken(study: Study, file: str) -> None:
    with writing() as (session, _):
        record(session, ACTOR, "download taken", study_id=study.id, file=file)


def import_ratings(options: Options) -> None:
    from app.reports import actions

    with writing() as (session, _):
        study = find_study(session, options.study)
        found = actions.import_ratings(session, study, options.export, ACTOR)
    say(f"Brought back: {found.raters} raters, {found.sittings} sittings, {found.ratings} versions of verdicts.")


def _write(folder: Path, contents: dict[str, bytes]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in contents.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
    except OSError as error:
        raise Invalid(f"{error.filename} could not be written: {error.strerror}. Give another --out.") from None


def verify(options: Options) -> int:
    from app.reports.verified_tables import verify_tables
    from app.studies.verifying import verify_export

    verified = verify_export(options.export)
    verified.add(verify_tables(options.export))
    for line in verified.good:
        say(f"✓ {line}")
    for line in verified.faults:
        say(f"× {line}")
    return 1 if verified.faults else 0
