"""Events (past tense) and commands (imperative) on the bus, one module a sender."""

from libs.contracts.events.base import ArtefactRef, Event, JobEvent
from libs.contracts.events.chunker import DocumentChunked, EntriesDescribed, EntriesMerged
from libs.contracts.events.gateway import CancelJob, DocumentAccepted, ErasureRequested
from libs.contracts.events.indexer import (
    DocumentEmbedded,
    DocumentErased,
    DocumentPublished,
    RevisionSuperseded,
)
from libs.contracts.events.outcome import DeadLetter, DocumentOutcome, IngestRefused, StageFailed
from libs.contracts.events.parser import DocumentParsed, ShardParsed, ShardsDone
from libs.contracts.events.planner import SearchRan
from libs.contracts.events.profiler import DocumentProfiled, DocumentSharded
from libs.contracts.events.upstream import BucketNotification, IngestRequested

__all__ = [
    "ArtefactRef",
    "BucketNotification",
    "CancelJob",
    "DeadLetter",
    "DocumentAccepted",
    "DocumentChunked",
    "DocumentEmbedded",
    "DocumentErased",
    "DocumentOutcome",
    "DocumentParsed",
    "DocumentProfiled",
    "DocumentPublished",
    "DocumentSharded",
    "EntriesDescribed",
    "EntriesMerged",
    "ErasureRequested",
    "Event",
    "IngestRefused",
    "IngestRequested",
    "JobEvent",
    "RevisionSuperseded",
    "SearchRan",
    "ShardParsed",
    "ShardsDone",
    "StageFailed",
]
