"""What an event of the pipeline means for its job: a pure function."""

from libs.contracts.api.documents import JobState
from libs.contracts.api.problem import Problem, problem_of
from libs.contracts.events import (
    DocumentAccepted,
    DocumentChunked,
    DocumentEmbedded,
    DocumentErased,
    DocumentOutcome,
    DocumentParsed,
    DocumentProfiled,
    DocumentPublished,
    DocumentSharded,
    EntriesDescribed,
    EntriesMerged,
    ErasureRequested,
    JobEvent,
    RevisionSuperseded,
    ShardParsed,
    ShardsDone,
    StageFailed,
)
from libs.contracts.faults import CallerFault, Code, DocumentFault, Fault, Who, WorldFault
from libs.contracts.subjects import Stage
from libs.runtime.catalog.jobs import JobRecord, LedgerEntry
from libs.runtime.routes import event_name, message_id
from libs.runtime.telemetry import trace_id

TERMINAL: frozenset[JobState] = frozenset({"published", "failed", "cancelled", "superseded"})

STEPS = 5
"""accepted, profiled, parsed, chunked, published."""

_WORKING: dict[type[JobEvent], tuple[Stage, int]] = {
    DocumentAccepted: (Stage.PROFILER, 1),
    DocumentProfiled: (Stage.PARSER, 2),
    ShardsDone: (Stage.PARSER, 2),
    DocumentParsed: (Stage.CHUNKER, 3),
    EntriesMerged: (Stage.CHUNKER, 3),
    EntriesDescribed: (Stage.CHUNKER, 3),
    DocumentChunked: (Stage.INDEXER, 4),
    DocumentPublished: (Stage.INDEXER, STEPS),
    RevisionSuperseded: (Stage.INDEXER, STEPS),
    DocumentEmbedded: (Stage.INDEXER, STEPS),
}
"""By event: the stage that has the work now, and how many steps are behind the job."""

_STATUS = {Who.DOCUMENT: 422, Who.WORLD: 503}
_CANCELLED_STATUS = 409
_FAULTS: dict[Who, type[Fault]] = {Who.DOCUMENT: DocumentFault, Who.WORLD: WorldFault}


def ledger_entry(subject: str, event: JobEvent) -> LedgerEntry | None:
    """What to write into the job's ledger; None for events of an erasure, which has no job."""
    if isinstance(event, ErasureRequested | DocumentErased):
        return None
    stage, done, total, unit = _progress(event)
    return LedgerEntry(
        event_id=message_id(event),
        job_id=event.job_id,
        event=event_name(event),
        stage=stage,
        occurred_at=event.occurred_at,
        state=_state(event),
        done=done,
        total=total,
        unit=unit,
        attempt=event.attempt,
        error=_problem(event) if isinstance(event, StageFailed) else None,
        announced=(subject, event.model_dump_json()),
    )


def outcome_of(job: JobRecord) -> DocumentOutcome | None:
    """The public event of a job that has ended; a cancelled one failed by its owner's wish."""
    if job.state not in TERMINAL:
        return None
    if job.state == "cancelled":
        problem = job.error or problem_of(
            Fault(Code.CANCELLED, "the job was cancelled"), _CANCELLED_STATUS
        )
        return _outcome(job, "failed", problem)
    return _outcome(job, job.state, job.error)


def _outcome(job: JobRecord, outcome: str, problem: Problem | None) -> DocumentOutcome:
    return DocumentOutcome.model_validate(
        {
            "outcome": outcome,
            "namespace": job.namespace,
            "document_id": job.document_id,
            "revision": job.revision,
            "job_id": job.job_id,
            "problem": problem,
        }
    )


def _progress(event: JobEvent) -> tuple[str, int, int, str]:
    if isinstance(event, StageFailed):
        return event.stage, 0, 0, "stage"
    if isinstance(event, ShardParsed):
        return Stage.PARSER, event.done, event.shards, "shard"
    if isinstance(event, DocumentProfiled):
        return Stage.PARSER, 0, event.shards, "shard"
    if isinstance(event, DocumentSharded):
        return Stage.PARSER, 0, 0, "shard"
    stage, done = _WORKING[type(event)]
    return stage, done, STEPS, "stage"


def _state(event: JobEvent) -> JobState | None:
    if isinstance(event, DocumentPublished):
        return "published"
    if isinstance(event, RevisionSuperseded):
        return "superseded"
    if isinstance(event, StageFailed):
        return _ENDS.get(event.code, "failed")
    return None


_ENDS: dict[Code, JobState] = {Code.CANCELLED: "cancelled", Code.SUPERSEDED: "superseded"}


def _problem(event: StageFailed) -> Problem:
    """What failed, with the trace that told of it: the job's own."""
    trace = trace_id()
    if event.who is Who.CALLER:
        return problem_of(CallerFault(event.code, event.detail, 422), 422, trace)
    fault = _FAULTS.get(event.who, Fault)(event.code, event.detail)
    if event.code is Code.CANCELLED:
        return problem_of(fault, _CANCELLED_STATUS, trace)
    return problem_of(fault, _STATUS.get(event.who, 500), trace)
