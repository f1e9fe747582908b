"""The one catalogue of the bus: every subject, stream and durable consumer.

Streams, consumers, NATS permissions, `docs/subjects.md` and the AsyncAPI files are derived from
here. Subjects stand without the configurable prefix; only `libs/runtime/routes.py` adds it.
"""

from libs.contracts import events as e
from libs.contracts.api.reading import PictureQuery
from libs.contracts.api.search import PlanQuery, RetrieveQuery
from libs.contracts.base import Contract, Request
from libs.contracts.bus import PIPELINE_STAGES, Consumer, Stage, Stream, Subject
from libs.contracts.query.documents import DocumentsQuery
from libs.contracts.query.entries import CostQuery, FindQuery, MatchQuery
from libs.contracts.query.navigate import NavigateQuery
from libs.contracts.query.probe import HydrateQuery, ProbeQuery

__all__ = ["PIPELINE_STAGES", "Consumer", "Stage", "Stream", "Subject"]
"""What the catalogue is made of, for those who read it."""


def _job_event(stage: Stage, event: str, model: type[e.JobEvent]) -> Subject:
    doc = (model.__doc__ or "").strip().splitlines()[0]
    return Subject(f"{stage}.{event}.{{job}}.{{revision}}", model, (stage,), "event", doc)


def _request(name: str, model: type[Contract | Request], sender: Stage, doc: str) -> Subject:
    return Subject(f"query.{name}", model, (sender,), "request", doc)


GATEWAY_ACCEPTED = _job_event(Stage.GATEWAY, "accepted", e.DocumentAccepted)
GATEWAY_ERASURE_REQUESTED = _job_event(Stage.GATEWAY, "erasure_requested", e.ErasureRequested)
PROFILER_PROFILED = _job_event(Stage.PROFILER, "profiled", e.DocumentProfiled)
PROFILER_SHARDED = _job_event(Stage.PROFILER, "sharded", e.DocumentSharded)
PARSER_SHARD_PARSED = _job_event(Stage.PARSER, "shard_parsed", e.ShardParsed)
PARSER_SHARDS_DONE = _job_event(Stage.PARSER, "shards_done", e.ShardsDone)
PARSER_PARSED = _job_event(Stage.PARSER, "parsed", e.DocumentParsed)
CHUNKER_MERGED = _job_event(Stage.CHUNKER, "merged", e.EntriesMerged)
CHUNKER_DESCRIBED = _job_event(Stage.CHUNKER, "described", e.EntriesDescribed)
CHUNKER_CHUNKED = _job_event(Stage.CHUNKER, "chunked", e.DocumentChunked)
INDEXER_PUBLISHED = _job_event(Stage.INDEXER, "published", e.DocumentPublished)
INDEXER_SUPERSEDED = _job_event(Stage.INDEXER, "superseded", e.RevisionSuperseded)
INDEXER_EMBEDDED = _job_event(Stage.INDEXER, "embedded", e.DocumentEmbedded)
INDEXER_ERASED = _job_event(Stage.INDEXER, "erased", e.DocumentErased)
STAGE_FAILED = Subject(
    "{stage}.failed.{job}.{revision}",
    e.StageFailed,
    PIPELINE_STAGES,
    "event",
    "A stage gave up on a job for good.",
)

INGEST_REQUESTED = Subject(
    "ingest.requested.{namespace}",
    e.IngestRequested,
    (),
    "command",
    "An upstream system asks to ingest an object.",
)
INGEST_BUCKET = Subject(
    "ingest.bucket", e.BucketNotification, (), "command", "An S3-style bucket notification."
)
INGEST_REFUSED = Subject(
    "ingest.refused",
    e.IngestRefused,
    (Stage.GATEWAY,),
    "public event",
    "An upload event that could not be taken, with the problem.",
)
HELD_REQUESTED = Subject(
    "held.requested.{namespace}",
    e.IngestRequested,
    (Stage.GATEWAY,),
    "command",
    "A request of a namespace whose queue is full, until there is room.",
)
HELD_BUCKET = Subject(
    "held.bucket.{namespace}",
    e.BucketNotification,
    (Stage.GATEWAY,),
    "command",
    "A bucket notification of a namespace whose queue is full, until there is room.",
)
DOCUMENT_OUTCOME = Subject(
    "document.{outcome}.{namespace}.{document}",
    e.DocumentOutcome,
    (Stage.GATEWAY,),
    "public event",
    "How the ingest of a document ended: published, failed, superseded or erased.",
)
DEAD_LETTER = Subject(
    "dead.{stage}.{letter}",
    e.DeadLetter,
    PIPELINE_STAGES,
    "dead letter",
    "A message that ran out of deliveries, whole.",
)
RETRY = Subject(
    "retry.{stage}.{consumer}.{id}",
    e.JobEvent,
    PIPELINE_STAGES,
    "schedule",
    "A message schedule: the server publishes the body to its target when it is due.",
)
REDELIVERY = Subject(
    "again.{consumer}",
    e.JobEvent,
    (),
    "redelivery",
    "A retried message that has come due, for one consumer only.",
)
CONTROL_CANCEL = Subject(
    "control.cancel.{job}",
    e.CancelJob,
    (Stage.GATEWAY,),
    "command",
    "Stop working on a job (core NATS, every stage hears it; the catalog remembers it).",
)
QUERY_PLAN = _request("plan", PlanQuery, Stage.GATEWAY, "Answer a query with evidence.")
QUERY_RETRIEVE = _request("retrieve", RetrieveQuery, Stage.PLANNER, "One retrieval step.")
QUERY_PROBE = _request("probe", ProbeQuery, Stage.PLANNER, "The searches of one hop, at once.")
QUERY_HYDRATE = _request("hydrate", HydrateQuery, Stage.PLANNER, "Read chosen chunks.")
QUERY_NAVIGATE = _request("navigate", NavigateQuery, Stage.PLANNER, "Sections around a chunk.")
QUERY_DOCUMENTS = _request("documents", DocumentsQuery, Stage.PLANNER, "Documents by name.")
QUERY_PICTURE = _request("picture", PictureQuery, Stage.GATEWAY, "Draw a page of a source.")
QUERY_FIND = _request("find", FindQuery, Stage.GATEWAY, "Search the entries of a collection.")
QUERY_MATCH = _request("match", MatchQuery, Stage.PLANNER, "One attempt of a search of entries.")
QUERY_COST = _request("cost", CostQuery, Stage.GATEWAY, "What enriching entries would cost.")
SEARCH_RAN = Subject(
    "search.ran.{namespace}",
    e.SearchRan,
    (Stage.PLANNER,),
    "event",
    "A query was answered: its run, steps and hits, stored in batches off the search path.",
)

JOB_EVENTS: dict[type[e.JobEvent], Subject] = {
    e.DocumentAccepted: GATEWAY_ACCEPTED,
    e.ErasureRequested: GATEWAY_ERASURE_REQUESTED,
    e.DocumentProfiled: PROFILER_PROFILED,
    e.DocumentSharded: PROFILER_SHARDED,
    e.ShardParsed: PARSER_SHARD_PARSED,
    e.ShardsDone: PARSER_SHARDS_DONE,
    e.DocumentParsed: PARSER_PARSED,
    e.EntriesMerged: CHUNKER_MERGED,
    e.EntriesDescribed: CHUNKER_DESCRIBED,
    e.DocumentChunked: CHUNKER_CHUNKED,
    e.DocumentPublished: INDEXER_PUBLISHED,
    e.RevisionSuperseded: INDEXER_SUPERSEDED,
    e.DocumentEmbedded: INDEXER_EMBEDDED,
    e.DocumentErased: INDEXER_ERASED,
}

QUERIES = (
    QUERY_PLAN, QUERY_RETRIEVE, QUERY_PROBE, QUERY_HYDRATE, QUERY_NAVIGATE, QUERY_PICTURE,
    QUERY_FIND, QUERY_MATCH, QUERY_COST, QUERY_DOCUMENTS,
)  # fmt: skip

SUBJECTS: tuple[Subject, ...] = (
    *JOB_EVENTS.values(), STAGE_FAILED, INGEST_REQUESTED, INGEST_BUCKET, INGEST_REFUSED,
    HELD_REQUESTED, HELD_BUCKET, DOCUMENT_OUTCOME, DEAD_LETTER, RETRY, REDELIVERY, CONTROL_CANCEL,
    *QUERIES, SEARCH_RAN,
)  # fmt: skip

PIPELINE = Stream(
    "pipeline",
    tuple(f"{stage}.*.*.*" for stage in PIPELINE_STAGES),
    "interest",
    "new",
    "events of jobs, kept until every durable has acknowledged them",
)
INGEST = Stream(
    "ingest",
    (INGEST_REQUESTED.wildcard, INGEST_BUCKET.wildcard),
    "workqueue",
    "new",
    "upload events, until they are jobs or refused",
)
HELD = Stream(
    "held",
    (HELD_REQUESTED.wildcard, HELD_BUCKET.wildcard),
    "limits",
    "new",
    "upload events of namespaces whose queue is full, so that those of others pass",
)
OUTCOMES = Stream(
    "outcomes",
    (DOCUMENT_OUTCOME.wildcard, INGEST_REFUSED.wildcard),
    "limits",
    "old",
    "public outcomes, for a week",
    max_age=7 * 86_400.0,
)
DEAD = Stream("dead", ("dead.*.*",), "limits", "new", "dead letters, until replayed or discarded")
RETRIES = Stream(
    "retries",
    ("retry.*.*.*", "again.*"),
    "workqueue",
    "old",
    "message schedules, and the retried messages that have come due (schedules forbid `new`)",
    schedules=True,
)
SEARCHES = Stream("searches", ("search.ran.*",), "workqueue", "old", "runs and hits to be stored")
ADVISORIES = Stream(
    "advisories",
    tuple(
        f"$JS.EVENT.ADVISORY.CONSUMER.{advisory}.{{prefix}}-{stream.name}.*"
        for advisory in ("MAX_DELIVERIES", "MSG_TERMINATED")
        for stream in (PIPELINE, RETRIES)
    ),
    "workqueue",
    "old",
    "what the server says of exhausted and terminated messages",
)
STREAMS: tuple[Stream, ...] = (
    PIPELINE,
    INGEST,
    HELD,
    OUTCOMES,
    DEAD,
    RETRIES,
    SEARCHES,
    ADVISORIES,
)


def _stage_consumer(
    durable: str, stage: Stage, subject: Subject, purpose: str, pending: int = 256
) -> Consumer:
    return Consumer(
        durable, stage, PIPELINE.name, (subject.wildcard,), purpose, max_ack_pending=pending
    )


PROFILE = _stage_consumer("profiler", Stage.PROFILER, GATEWAY_ACCEPTED, "profile a new source")
RELEASE = _stage_consumer(
    "profiler-window", Stage.PROFILER, PARSER_SHARD_PARSED, "release a job's next shard"
)
PARSE = _stage_consumer("parser", Stage.PARSER, PROFILER_SHARDED, "parse one shard")
JOIN = _stage_consumer("parser-join", Stage.PARSER, PARSER_SHARDS_DONE, "join a document's shards")
CHUNK = _stage_consumer("chunker", Stage.CHUNKER, PARSER_PARSED, "cut rows into chunks")
DESCRIBE = _stage_consumer(
    "chunker-describe", Stage.CHUNKER, CHUNKER_MERGED, "describe entries by a model"
)
TELL_APART = _stage_consumer(
    "chunker-context", Stage.CHUNKER, CHUNKER_DESCRIBED, "tell entries from their siblings"
)
PUBLISH = _stage_consumer("indexer", Stage.INDEXER, CHUNKER_CHUNKED, "publish a revision")
EMBED = _stage_consumer(
    "indexer-embed", Stage.INDEXER, INDEXER_PUBLISHED, "embed a published revision", pending=32
)
ERASE = _stage_consumer(
    "indexer-erase", Stage.INDEXER, GATEWAY_ERASURE_REQUESTED, "erase a hidden document"
)
LEDGER = Consumer(
    "ledger",
    Stage.GATEWAY,
    PIPELINE.name,
    PIPELINE.subjects,
    "keep the state of every job",
    max_ack_pending=1024,
)
TAKE = Consumer(
    "ingest", Stage.GATEWAY, INGEST.name, INGEST.subjects, "take upload events", max_ack_pending=16
)
PARK = Consumer(
    "advisories",
    Stage.GATEWAY,
    ADVISORIES.name,
    ADVISORIES.subjects,
    "park what ran out of deliveries",
)
RECORD = Consumer(
    "runs",
    Stage.PLANNER,
    SEARCHES.name,
    SEARCHES.subjects,
    "store runs and hits in batches",
    max_ack_pending=2048,
)
STAGE_CONSUMERS: tuple[Consumer, ...] = (
    PROFILE, RELEASE, PARSE, JOIN, CHUNK, DESCRIBE, TELL_APART, PUBLISH, EMBED, ERASE,
)  # fmt: skip
RETRY_CONSUMERS: tuple[Consumer, ...] = tuple(
    Consumer(
        f"{c.durable}-again", c.stage, RETRIES.name, (f"again.{c.durable}",), f"retry: {c.purpose}"
    )
    for c in STAGE_CONSUMERS
)
CONSUMERS: tuple[Consumer, ...] = (
    *STAGE_CONSUMERS, LEDGER, TAKE, PARK, RECORD, *RETRY_CONSUMERS,
)  # fmt: skip
