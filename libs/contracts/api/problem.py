"""RFC 9457 problem details, as every error of the HTTP interface is answered."""

from libs.contracts.base import Contract
from libs.contracts.faults import Code, Fault, Who


class Problem(Contract):
    """`type` is a stable URN of the code; `who` says who must act."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str = ""
    code: Code
    who: Who
    trace_id: str | None = None


def problem_of(fault: Fault, status: int, trace_id: str | None = None) -> Problem:
    """The problem document of a fault."""
    return Problem(
        type=f"urn:groundwire:problem:{fault.code}",
        title=str(fault.code).replace("_", " "),
        status=status,
        detail=fault.detail,
        code=fault.code,
        who=fault.who,
        trace_id=trace_id,
    )
