from app.words.said import Said


class AppError(Exception):
    """A failure we expect and can explain to the person who caused it."""

    status_code = 400

    def __init__(self, message: str, **values: object) -> None:
        # With places for values, as %(name)s, a message can be translated before they are filled.
        self.said = message if isinstance(message, Said) and not values else Said(message, **values)
        self.message = str(self.said)
        super().__init__(self.message)


class NotFound(AppError):
    status_code = 404

    def __init__(self, message: str = "There is nothing at this address.", **values: object) -> None:
        super().__init__(message, **values)


class Conflict(AppError):
    status_code = 409


class Refused(AppError):
    status_code = 403


class Invalid(AppError):
    status_code = 422


class Unreachable(AppError):
    """Another server, on which we depend, did not answer as it should."""

    status_code = 502


class Busy(AppError):
    """The database is held by somebody else for too long, or is not there: later it may be."""

    status_code = 503
    retry_after_seconds = 10


class SignedOut(AppError):
    """Nobody is signed in: a page that can say where to go on, never a silent redirect of a form."""

    status_code = 401

    def __init__(self, message: str, sign_in_path: str | None) -> None:
        super().__init__(message)
        self.sign_in_path = sign_in_path


class PasswordDue(AppError):
    """Somebody else knows this person's password: until they change it they get nowhere."""

    status_code = 403

    def __init__(self, message: str, change_path: str) -> None:
        super().__init__(message)
        self.change_path = change_path
