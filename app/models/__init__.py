from app.models.administrator import Administrator, BrowserSession
from app.models.base import Base
from app.models.event import Event
from app.models.item import Item, ItemContent, ItemKey, ItemKind, OpenedItem, Phase, Placement, Seat
from app.models.rater import Invitation, Rater, RaterKind, Sitting
from app.models.rating import Assignment, AssignmentState, Rating, RatingAction, Verdict
from app.models.study import Arm, Study, StudyState

__all__ = [
    "Administrator",
    "Arm",
    "Assignment",
    "AssignmentState",
    "Base",
    "BrowserSession",
    "Event",
    "Invitation",
    "Item",
    "ItemContent",
    "ItemKey",
    "ItemKind",
    "OpenedItem",
    "Phase",
    "Placement",
    "Rater",
    "RaterKind",
    "Rating",
    "RatingAction",
    "Seat",
    "Sitting",
    "Study",
    "StudyState",
    "Verdict",
]
