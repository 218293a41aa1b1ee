"""One's own password."""

from app.administrators.actions import check_password, checked
from app.administrators.managing import end_sessions
from app.audit_log import record
from app.errors import Invalid
from app.models import Administrator
from app.store.db import OpenTransaction
from app.web.security import hash_password


def change_own(transactions: OpenTransaction, administrator: Administrator, old: str, new: str, again: str) -> None:
    """Ends all sessions, this one too. Raises Invalid; and Refused where the old one is wrong, which is a try."""
    if new != again:
        raise Invalid("The two new passwords are not the same. Nothing was changed.")
    if checked(new) == old:
        raise Invalid("The new password is the one you have. Choose another.")
    check_password(transactions, administrator.name, old)
    hashed = hash_password(new)  # slow on purpose, so outside of the transaction
    with transactions() as session:
        own = session.get_one(Administrator, administrator.id)
        own.password_hash, own.must_change_password = hashed, False
        end_sessions(session, own)
        record(session, own.name, "password changed")
