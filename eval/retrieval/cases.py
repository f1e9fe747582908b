"""The project's own cases: YAML beside the documents that they ask about."""

from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, model_validator

from eval.retrieval.config import ConfigError, located
from eval.retrieval.model import Case, EvalSet
from eval.retrieval.pages import page_passages, page_place
from libs.contracts.api.search import Turn
from libs.contracts.base import Request


class OwnCase(Request):
    """One question. `evidence` names the sections that answer it, `file#heading`; `pages` the
    pages of its files, where pages are judged."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")
    query: str
    group: str
    language: str
    evidence: list[str] = []
    pages: dict[str, list[int]] = {}
    abstain: bool = False
    sides: list[str] = []
    conversation: list[Turn] = []

    @model_validator(mode="after")
    def _judged(self) -> "OwnCase":
        if [bool(self.evidence), bool(self.pages), self.abstain].count(True) != 1:
            raise ValueError("give evidence, or pages, or abstain: true")
        return self

    @property
    def places(self) -> list[str]:
        """Where it is answered."""
        pages = [page_place(name, page) for name, some in self.pages.items() for page in some]
        return [*self.evidence, *pages]


class OwnCases(Request):
    """The whole file; `documents` lie beside it."""

    documents: list[str] = Field(min_length=1)
    cases: list[OwnCase] = Field(min_length=1)


def load_cases(name: str, path: Path) -> EvalSet:
    """The set in a file; `ConfigError` says what in it is wrong, a missing document and
    evidence in no document of it included."""
    try:
        raw: Any = yaml.safe_load(path.read_text("utf-8"))
        found = OwnCases.model_validate(raw)
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: no YAML: {error}") from error
    except ValidationError as error:
        raise ConfigError(f"{path}: {located(error)}") from error
    files = [path.parent / document for document in found.documents]
    paged = any(case.pages for case in found.cases)
    for file in files:
        if not file.is_file():
            raise ConfigError(f"{path}: no document {file.name} beside it")
    passages = page_passages(files) if paged else []
    known = {p.passage_id for p in passages} or {file.name for file in files}
    for case in found.cases:
        places = case.places if paged else [e.partition("#")[0] for e in case.places]
        if unknown := [place for place in places if place not in known]:
            raise ConfigError(f"{path}: {case.id} names evidence in no document: {unknown[0]}")
    cases = [
        Case(
            case_id=case.id,
            query=case.query,
            relevant=dict.fromkeys(case.places, 1),
            language=case.language,
            group=case.group,
            abstain=case.abstain,
            sides=tuple(case.sides),
            conversation=tuple(case.conversation),
        )
        for case in found.cases
    ]
    return EvalSet(name, cases, passages, files)
