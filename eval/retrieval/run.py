"""Ask the cases of a set, through the API, and note what came."""

import asyncio
import time
from collections.abc import Callable, Sequence

from eval.retrieval.config import SetConfig
from eval.retrieval.model import Answered, Case, Locate, Mode
from libs.client.asynchronous import AsyncClient
from libs.contracts.api.search import Evidence, SearchRequest

Count = Callable[[str], int]


async def ask_all(
    client: AsyncClient,
    cases: Sequence[Case],
    mode: Mode,
    settings: SetConfig,
    locate: Locate,
    count: Count,
    callers: int,
) -> list[Answered]:
    """Every case through one mode, in their order; at most `callers` at once."""
    slots = asyncio.Semaphore(callers)

    async def one(case: Case) -> Answered:
        async with slots:
            return await _ask(client, case, mode, settings, locate, count)

    return list(await asyncio.gather(*(one(case) for case in cases)))


async def _ask(
    client: AsyncClient,
    case: Case,
    mode: Mode,
    settings: SetConfig,
    locate: Locate,
    count: Count,
) -> Answered:
    request = SearchRequest(
        query=case.query,
        mode=mode,
        top_k=settings.top_k,
        budget=settings.budget,
        conversation=list(case.conversation),
    )
    started = time.perf_counter()
    answer = await client.search(request)
    taken = 1000 * (time.perf_counter() - started)
    return Answered(
        case=case,
        mode=mode,
        ranking=places(answer.evidence, locate),
        status=answer.status,
        latency_ms=taken,
        tokens=await asyncio.to_thread(count, answer.evidence_text),
        run_id=answer.run_id,
        covered=sides_covered(case.sides, answer.evidence),
    )


def places(evidence: Sequence[Evidence], locate: Locate) -> tuple[str, ...]:
    """Where the pieces stand, best first, each place once; what stands nowhere is passed over
    but takes its rank."""
    found = (locate(piece) or (f"?{rank}",) for rank, piece in enumerate(evidence))
    return tuple(dict.fromkeys(place for some in found for place in some))


def sides_covered(sides: Sequence[str], evidence: Sequence[Evidence]) -> dict[str, bool]:
    """For each side of a comparison, whether a piece names it."""
    texts = [" ".join([*piece.section_path, piece.content]).casefold() for piece in evidence]
    return {side: any(side.casefold() in text for text in texts) for side in sides}
