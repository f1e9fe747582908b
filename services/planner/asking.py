"""How the planner asks the retriever: in the time that is left, and a little to answer."""

from typing import TypeVar

from pydantic import BaseModel

from libs.contracts.bus import Subject
from libs.contracts.faults import Code, WorldFault
from libs.runtime.bus import Bus

GRACE_SECONDS = 1.0
"""What the retriever may take beyond its time to send what it found."""

R = TypeVar("R", bound=BaseModel)


async def ask_in_time(
    bus: Bus, subject: Subject, body: BaseModel, reply: type[R], seconds: float
) -> R | None:
    """The answer, which `seconds` were given for; None when none came. Other faults rise."""
    try:
        return await bus.request(subject, body, reply, timeout=seconds + GRACE_SECONDS)
    except WorldFault as fault:
        if fault.code is not Code.TIMEOUT:
            raise
        return None
