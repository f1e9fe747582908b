"""What a retrieval amounts to: complete, ended before its end, or nothing at all; pure."""

from typing import Literal, NamedTuple

from libs.contracts.api.search import RetrieveAnswer

UNFINISHED = {
    "scope": "the corpus was read",
    "assembly": "all that was found was read",
    "size": "all that was found was sent",
    "wider": "translations and synonyms were searched",
    "named": "named terms were looked for",
    "search": "a search answered",
    "bridge": "a hop answered",
    "probe": "the names of a hop were looked for",
    "navigate": "the sections around were read",
    "graph": "related documents were looked up",
    "hydrate": "the chosen pieces were read",
}
"""What had not happened when time ended, by the first word of what is told as unfinished."""


class Outcome(NamedTuple):
    """Status and reason of the envelope, and why its receipt says that it stopped."""

    status: Literal["ok", "partial", "abstained"]
    reason: str
    stop_reason: Literal["complete", "time", "size", "tokens"]


def outcome(answer: RetrieveAnswer, unsupported: str = "", unopened: int = 0) -> Outcome:
    """`partial` names what had no time, or no tokens to be rendered, and the way out; `abstained`
    why there is nothing: the reason `unsupported`, where all that was found was found wanting."""
    if answer.unfinished == ["size"]:
        reason = "one answer cannot hold more text: ask for fewer pieces (top_k), or by document"
        return Outcome("partial", reason, "size")
    if answer.unfinished:
        named = dict.fromkeys(name.split()[0] for name in answer.unfinished)
        open_parts = [UNFINISHED.get(name, f"the {name} channel was searched") for name in named]
        reason = (
            f"the time of this query ended before {', '.join(open_parts)}: "
            "give it more (budget.milliseconds) or ask again"
        )
        return Outcome("partial", reason, "time")
    if unopened:
        reason = (
            f"the tokens of this query ended before {unopened} of {len(answer.chunks)} pieces were "
            "opened: give it more (budget.tokens) or ask for fewer (top_k)"
        )
        return Outcome("partial", reason, "tokens")
    if answer.chunks:
        return Outcome("ok", "", "complete")
    return Outcome("abstained", unsupported or _why_nothing(answer), "complete")


def _why_nothing(answer: RetrieveAnswer) -> str:
    if answer.strategy == "nothing_published":
        return "nothing is published in this namespace yet: jobs may still be at work"
    if answer.strategy == "empty":
        return "no published document satisfies the filters"
    return "nothing in the searched documents matches the query"
