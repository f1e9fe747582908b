"""The traces of a run's cases, as files: asked for redacted, so that nothing else is here."""

import asyncio
import re
import time
from collections.abc import Sequence
from pathlib import Path

from eval.retrieval.model import Answered
from libs.client.asynchronous import AsyncClient
from libs.client.errors import ApiError
from libs.contracts.trace import Trace
from libs.contracts.trace.redaction import Redaction

RECORDED_WITHIN = 30.0
LOOK_AGAIN = 0.1
_NOT_FOUND = 404
_UNFIT = re.compile(r"[^\w.-]+")


async def write_traces(
    client: AsyncClient,
    set_name: str,
    answered: Sequence[Answered],
    folder: Path,
    redaction: Redaction | None,
) -> None:
    """Write `<set>.<case>.<mode>.trace.json` for every answer into the folder, which exists."""
    for one in answered:
        trace = await _trace(client, one.run_id, redaction)
        target = folder / f"{trace_name(set_name, one)}.trace.json"
        target.write_text(trace.model_dump_json(indent=1) + "\n", "utf-8")


def trace_name(set_name: str, one: Answered) -> str:
    """The case's id as a file has it."""
    return _UNFIT.sub("-", f"{set_name}.{one.case.case_id}.{one.mode}")


async def _trace(client: AsyncClient, run_id: str, redaction: Redaction | None) -> Trace:
    """Runs are stored off the search path: one that just ended may take a moment."""
    end = time.monotonic() + RECORDED_WITHIN
    while True:
        try:
            return await client.trace(run_id, redact=redaction)
        except ApiError as error:
            if error.problem.status != _NOT_FOUND or time.monotonic() >= end:
                raise
        await asyncio.sleep(LOOK_AGAIN)
