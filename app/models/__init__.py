from app.models.act import Amendment, EarlyOpening, UnblindingRequest
from app.models.administrator import Administrator, BrowserSession, OwnRater
from app.models.audit import AuditEvent
from app.models.base import Base
from app.models.draft import Draft, DraftState
from app.models.event import Event
from app.models.item import Item, ItemContent, ItemKey, ItemKind, OpenedItem, Phase, Placement, Seat
from app.models.machine import CallOutcome, MachineCall, MachineRater, MachineVerdict, SealedRules
from app.models.phases import CheckAnswer, Guess, Lesson, PracticeAnswer
from app.models.rater import Invitation, PanelMember, Rater, RaterKind, RaterPhase, Sitting, WithdrawnMember
from app.models.rating import Assignment, AssignmentState, Rating, RatingAction, Verdict
from app.models.study import Arm, Study, StudyState

__all__ = [
    "Administrator",
    "Amendment",
    "Arm",
    "Assignment",
    "AssignmentState",
    "AuditEvent",
    "Base",
    "BrowserSession",
    "CallOutcome",
    "CheckAnswer",
    "Draft",
    "DraftState",
    "EarlyOpening",
    "Event",
    "Guess",
    "Invitation",
    "Item",
    "ItemContent",
    "ItemKey",
    "ItemKind",
    "Lesson",
    "MachineCall",
    "MachineRater",
    "MachineVerdict",
    "OpenedItem",
    "OwnRater",
    "PanelMember",
    "Phase",
    "Placement",
    "PracticeAnswer",
    "Rater",
    "RaterKind",
    "RaterPhase",
    "Rating",
    "RatingAction",
    "SealedRules",
    "Seat",
    "Sitting",
    "Study",
    "StudyState",
    "UnblindingRequest",
    "Verdict",
    "WithdrawnMember",
]
