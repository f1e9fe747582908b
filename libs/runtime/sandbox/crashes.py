"""A child that crashed: once may be chance, twice on the same document is the document."""

from libs.contracts.faults import Code, DocumentFault, Fault, WorldFault
from libs.runtime.catalog.jobs import JobStore
from libs.runtime.sandbox.verdict import ChildCrashed

FORGIVEN = 1


async def crash_verdict(jobs: JobStore, task: str, crash: ChildCrashed) -> Fault:
    """Count the crash of `task` (`<stage>:<job>:<shard>`) and say whose fault it is.

    The first is the world's, so it is retried; the next is `PARSER_CRASHED`.
    """
    if await jobs.failure(task, "crash") <= FORGIVEN:
        return WorldFault(
            Code.WORKER_LOST, f"a worker process died by {crash.signal_name}; it is tried again"
        )
    return DocumentFault(
        Code.PARSER_CRASHED,
        f"reading the file ended a worker process by {crash.signal_name}, more than once",
    )
