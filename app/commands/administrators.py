"""What `glance administrator …` does: who may sign in, and with which roles."""

from app.commands.terminal import Options, looking, read_password, say, shell, writing
from app.errors import Conflict
from app.roles import Role, roles_of


def add(options: Options) -> None:
    from app.administrators import actions

    password = read_password(options, twice=True)
    kept = {Role.MANAGE: not options.may_not_manage, Role.RATE: not options.may_not_rate}
    kept[Role.UNBLIND] = not options.may_not_unblind
    with writing() as (session, _):
        actions.add_administrator(
            session, options.name, password, roles=frozenset(role for role, has in kept.items() if has)
        )
    say(f"{options.name} can sign in.")


def list_all(_options: Options) -> None:
    from app.administrators.queries import list_administrators

    with looking() as (session, _):
        for person, at in list_administrators(session):
            roles = ", ".join(sorted(roles_of(person))) or "only look"
            state = "shut out" if person.deactivated_at else "let in"
            last = at.isoformat(timespec="minutes") if at else "never"
            say(f"{person.name}  {state}  {roles}  last signed in: {last}")


def set_roles(options: Options) -> None:
    from app.administrators import managing

    roles = frozenset(Role(name) for name in options.role if name != "none")
    if "none" in options.role and roles:
        raise Conflict("“none” stands alone: give the roles that are to be held, or none.")
    with writing() as (session, _):
        managing.set_roles(session, shell(), managing.find_named(session, options.name).id, roles)
    say(f"{options.name} may: {', '.join(sorted(roles)) or 'only look'}.")


def deactivate(options: Options) -> None:
    from app.administrators import managing

    with writing() as (session, _):
        managing.deactivate(session, shell(), managing.find_named(session, options.name).id)
    say(f"{options.name} is shut out.")


def reactivate(options: Options) -> None:
    from app.administrators import managing

    with writing() as (session, _):
        managing.reactivate(session, shell(), managing.find_named(session, options.name).id)
    say(f"{options.name} can sign in again.")


def give_password(options: Options) -> None:
    """The last line on standard output is the password."""
    from app.administrators import managing

    with writing() as (session, _):
        _, password = managing.give_password(session, shell(), managing.find_named(session, options.name).id)
    say(f"{options.name} signs in with this once, and has to choose another:")
    say(password)
