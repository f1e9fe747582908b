"""What a catalogue of the bus is made of: stages, streams, durable consumers, subjects."""

from dataclasses import dataclass
from enum import StrEnum

from libs.contracts.base import Contract, Request


class Stage(StrEnum):
    """The seven services."""

    GATEWAY = "gateway"
    PROFILER = "profiler"
    PARSER = "parser"
    CHUNKER = "chunker"
    INDEXER = "indexer"
    RETRIEVER = "retriever"
    PLANNER = "planner"


PIPELINE_STAGES = (Stage.GATEWAY, Stage.PROFILER, Stage.PARSER, Stage.CHUNKER, Stage.INDEXER)


@dataclass(frozen=True)
class Stream:
    """A JetStream stream. `retention` and `discard` as the server names them; age in seconds."""

    name: str
    subjects: tuple[str, ...]
    retention: str
    discard: str
    purpose: str
    max_age: float = 0.0
    max_bytes: int = 128 << 20
    schedules: bool = False


@dataclass(frozen=True)
class Consumer:
    """A durable pull consumer of one stage."""

    durable: str
    stage: Stage
    stream: str
    subjects: tuple[str, ...]
    purpose: str
    max_deliver: int = 50
    max_ack_pending: int = 256


@dataclass(frozen=True)
class Subject:
    """One subject. `pattern` holds `{job}`-like tokens; `sender` None means upstream systems."""

    pattern: str
    model: type[Contract | Request]
    senders: tuple[Stage, ...]
    kind: str
    doc: str

    @property
    def wildcard(self) -> str:
        """The pattern with every token replaced by `*`."""
        return ".".join("*" if t.startswith("{") else t for t in self.pattern.split("."))
