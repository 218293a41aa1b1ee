"""What an administrator may do beside looking at studies, which everybody who is let in may."""

from collections.abc import Mapping
from enum import StrEnum

from app.errors import Refused
from app.models import Administrator
from app.words.language import N_


class Role(StrEnum):
    MANAGE = "manage"
    RATE = "rate"
    UNBLIND = "unblind"


ABOUT: Mapping[Role, str] = {
    Role.MANAGE: N_("create and close studies, invite raters, look after administrators, read the audit"),
    Role.RATE: N_("take a place of their own as a rater; they stay blind"),
    Role.UNBLIND: N_("open the seal of a closed study, or of one item in an emergency"),
}
NAMES: Mapping[Role, str] = {Role.MANAGE: N_("manage"), Role.RATE: N_("rate"), Role.UNBLIND: N_("unblind")}
WITHOUT: Mapping[Role, str] = {
    Role.MANAGE: N_(
        "This takes the role “manage”, which you do not have: you may look, but not change. "
        "Ask an administrator who manages to do it, or to give you the role."
    ),
    Role.RATE: N_(
        "This takes the role “rate”, which you do not have. Ask an administrator who manages to give it to you."
    ),
    Role.UNBLIND: N_(
        "This takes the role “unblind”, which you do not have. "
        "Ask an administrator who has it to do it, or one who manages to give it to you."
    ),
}


def roles_of(administrator: Administrator) -> frozenset[Role]:
    """The roles somebody has, whether or not they are let in."""
    held = {
        Role.MANAGE: administrator.may_manage,
        Role.RATE: administrator.may_rate,
        Role.UNBLIND: administrator.may_unblind,
    }
    return frozenset(role for role, has in held.items() if has)


def give(administrator: Administrator, roles: frozenset[Role]) -> None:
    """These roles and no others."""
    administrator.may_manage = Role.MANAGE in roles
    administrator.may_rate = Role.RATE in roles
    administrator.may_unblind = Role.UNBLIND in roles


def require(administrator: Administrator, role: Role) -> None:
    """Raises Refused with a sentence that names the role."""
    if role not in roles_of(administrator):
        raise Refused(WITHOUT[role])
