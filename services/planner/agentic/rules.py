"""The planner that needs no model: the shape of a question, and its retrieval steps. Pure."""

import re

from libs.contracts.query.plan import PlanShape, PlanStep, RetrievalPlan
from libs.runtime.names import names

HOPS = 2
MAX_SIDES = 4
_ASKS = re.compile(
    r"\?|？|\b(?:who|whom|whose|what|when|where|which|why|how)\b"
    r"|누구|누가|무엇|무슨|언제|어디|어느|어떤|얼마|몇|왜|어떻게|인가|는가|은가|입니까|습니까",
    re.IGNORECASE,
)
_COMPARES = re.compile(
    r"\b(?:compare[ds]?|comparison|versus|vs\.?|differen(?:ce|t|ces)|both|same|older|younger"
    r"|first|earlier|later|more|longer|larger|bigger|taller|better)\b|비교|차이|대비|다른 점",
    re.IGNORECASE,
)
_JOINS = re.compile(r"\b(?:or|and|than|versus|vs\.?)\b|와|과|랑|하고|대비", re.IGNORECASE)
_EITHER = re.compile(r"\b(?:or|than|versus|vs)\b", re.IGNORECASE)
_ALL_JOINTS = re.compile(r" (?:and|or|vs|versus) ")
_OR = re.compile(r" (?:or|vs|versus) ")
_OPENS = re.compile(r"^(?:compare|comparing|comparison|difference|differences)\b\s?")
_ARTICLE = re.compile(r"^(?:the|a|an) ")
_LISTS = re.compile(
    r"\b(?:list|all (?:the|of)|every|enumerate)\b|목록|모두|모든|나열|전부", re.IGNORECASE
)
_PERIOD = re.compile(
    r"\b(?:between|from|since|until|before|after)\b[^?]{0,20}\b(?:1[5-9]|20)\d\d\b"
    r"|(?:1[5-9]|20)\d\d\s*(?:-|–|~|부터|에서|년\s*(?:부터|이후|이전|까지))",
    re.IGNORECASE,
)


def is_question(query: str) -> bool:
    """Whether it asks for something; a claim or keywords are searched as they stand."""
    return bool(_ASKS.search(query))


def plan(query: str) -> RetrievalPlan:
    """One search; for a question, the sections around what it found and hops behind it; for a
    list the sections alone; for a comparison, one search a side, which runs beside the first."""
    said, sides = names(query, 8), compared(query)
    shape = "comparison" if sides else _shape(query, said)
    steps = [PlanStep(step_id="search", kind="search", query=query, entities=said)]
    steps += [
        PlanStep(step_id=f"side_{n}", kind="search", query=side, entities=[side], side=side)
        for n, side in enumerate(sides, 1)
    ]
    if is_question(query) or shape == "list":
        steps.append(PlanStep(step_id="around", kind="navigate", query=query, after=["search"]))
    if is_question(query):
        before = "search"
        for hop in range(1, HOPS + 1):
            after = PlanStep(step_id=f"hop_{hop}", kind="bridge", query=query, after=[before])
            steps.append(after)
            before = after.step_id
    return RetrievalPlan(shape=shape, steps=steps, reason=_REASONS[shape])


def compared(query: str) -> list[str]:
    """The keys of the names that a query compares, at most four; none where it compares nothing.

    A name that holds "and" is two ("Germany and France"), but not where names are told apart by
    another word ("Fire and Ice or Loud Bay").
    """
    if not (_COMPARES.search(query) and _JOINS.search(query)):
        return []
    said = names(query, 8)
    joint = _ALL_JOINTS if len(said) < 2 or not _EITHER.search(query) else _OR
    apart = [part for name in said for part in joint.split(name)]
    bare = [_ARTICLE.sub("", _OPENS.sub("", part)) for part in apart]
    distinct = list(dict.fromkeys(part for part in bare if part))
    return distinct[:MAX_SIDES] if len(distinct) > 1 else []


def _shape(query: str, said: list[str]) -> PlanShape:
    if _LISTS.search(query):
        return "list"
    if _PERIOD.search(query):
        return "time_range"
    if is_question(query):
        return "bridge"
    return "multi_entity" if len(said) >= 2 else "single"


_REASONS: dict[PlanShape, str] = {
    "comparison": "names that are compared: a search a side beside the whole question",
    "list": "a list is asked for",
    "time_range": "a period is asked about",
    "bridge": "a question: names in the first evidence lead to the next",
    "multi_entity": "several names, no question",
    "single": "one search as it stands",
}
