"""The configuration of a run, read from YAML and checked whole before anything starts."""

from pathlib import Path
from typing import Literal

import yaml
from pydantic import Field, ValidationError

from eval.retrieval.model import Mode
from libs.contracts.api.search import Budget
from libs.contracts.base import Request
from libs.contracts.tokens import Namespace

MODES: tuple[Mode, ...] = ("classic", "agentic")
PeerName = Literal["bm25s", "tantivy"]


class ConfigError(Exception):
    """The configuration cannot be used; the text says where and why."""


class SetConfig(Request):
    """One set. `kind`: `beir` (corpus.jsonl, queries.jsonl, qrels.tsv), `squad` (the JSON of
    SQuAD and KorQuAD, each paragraph a passage), `cases` (YAML with documents beside it),
    `pages` (the same, judged by the pages of PDFs).

    `path` lies below the data folder, for `cases` beside the configuration. With `limit` only
    so many cases are asked, spread evenly; with `passages` the corpus is cut to so many, those
    that answer the cases among them. `top_k` counts pieces of evidence: of passages longer than
    a piece several may come. `bars` are what is to be reached, by mode and metric.
    """

    name: Namespace
    kind: Literal["beir", "squad", "cases", "pages"]
    path: str
    language: Literal["en", "ko", "mixed"] = "mixed"
    group: str | None = None
    limit: int | None = Field(default=None, ge=1)
    passages: int | None = Field(default=None, ge=1)
    modes: tuple[Mode, ...] = MODES
    top_k: int = Field(default=10, ge=1, le=100)
    budget: Budget = Field(default_factory=Budget)
    bars: dict[Mode, dict[str, float]] = {}


class EvalConfig(Request):
    """A run: its sets, who is measured beside them, and how. `callers` ask at once."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")
    data: str = "../shared/data/retrieval"
    sets: list[SetConfig] = Field(min_length=1)
    peers: tuple[PeerName, ...] = ("bm25s", "tantivy")
    callers: int = Field(default=1, ge=1, le=64)
    seed: int = 20
    embedder: str | None = None


def load_config(path: Path) -> EvalConfig:
    """The configuration in a file; `ConfigError` names every field that is wrong."""
    try:
        return EvalConfig.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: no YAML: {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {located(error)}") from error


def located(error: ValidationError) -> str:
    """Every field that is wrong, and why."""
    return "; ".join(
        f"{'.'.join(map(str, one['loc'])) or 'the whole'}: {one['msg']}" for one in error.errors()
    )
