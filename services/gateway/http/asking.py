"""How the gateway asks for a search: in the query's own time, and a little to answer."""

from typing import TypeVar

from pydantic import BaseModel

from libs.contracts.bus import Subject
from libs.contracts.faults import Code, WorldFault
from libs.runtime.bus import Bus
from libs.runtime.gate import RETRY_SECONDS
from libs.runtime.telemetry import SHED

GRACE_SECONDS = 2.0
"""What an answer may take beyond its budget: a query that ran out still brings its evidence."""

R = TypeVar("R", bound=BaseModel)


async def search_in_time(
    bus: Bus, subject: Subject, query: BaseModel, answer: type[R], milliseconds: int
) -> R:
    """The answer to a query whose budget is `milliseconds`.

    Those who search answer within a query's time whatever they find. Where none comes, the
    machine is too busy even to refuse: that is `OVERLOADED`, as of a full gate, and to come
    again helps.
    """
    try:
        return await bus.request(
            subject, query, answer, timeout=milliseconds / 1000 + GRACE_SECONDS
        )
    except WorldFault as fault:
        if fault.code is not Code.TIMEOUT:
            raise
        SHED.labels("the gateway").inc()
        raise WorldFault(
            Code.OVERLOADED,
            "the search did not answer in the query's time, so much is at work: ask again later",
            RETRY_SECONDS,
        ) from None
