"""What an administrator may do."""

from app.errors import Refused
from app.models import Administrator

MAY_NOT_MANAGE = "You may look at this study, but not change it. Ask an administrator who may manage studies."
MAY_NOT_UNBLIND = "You may not unblind studies. Ask an administrator who may."


def require_manager(administrator: Administrator) -> None:
    if not administrator.may_manage:
        raise Refused(MAY_NOT_MANAGE)


def require_unblinder(administrator: Administrator) -> None:
    if not administrator.may_unblind:
        raise Refused(MAY_NOT_UNBLIND)
