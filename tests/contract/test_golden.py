"""Old messages are files: every version ever written must still load, and lose nothing."""

import importlib
import json
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError
from pydantic_core import to_json

import libs.contracts
from libs.contracts.api.search import RetrieveAnswer
from libs.contracts.artefacts import Row
from libs.contracts.artefacts.chunk import Chunks, canonical_table, canonical_text, chunk_id
from libs.contracts.base import Request
from libs.contracts.events import Event, JobEvent
from libs.contracts.events.planner import RunStep, SearchHit
from libs.contracts.subjects import SUBJECTS
from libs.contracts.trace import AnswerSchema

GOLDEN = Path(__file__).parent / "golden"
ABSTRACT = {Event, JobEvent}
PARTS = {RunStep, SearchHit, AnswerSchema}


def snake(model: type[BaseModel]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", model.__name__).lower()


def contracts() -> Iterator[type[BaseModel]]:
    """Every model that libs.contracts defines."""
    for module in pkgutil.walk_packages(libs.contracts.__path__, "libs.contracts."):
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseModel):
                yield value


def models() -> dict[str, type[BaseModel]]:
    """Everything that is stored or sent whole, by the name of its folder: it has a schema
    version of its own, or a subject."""
    found = {model for model in contracts() if "schema_version" in model.model_fields}
    found |= {subject.model for subject in SUBJECTS} | {Row, RetrieveAnswer}
    return {snake(model): model for model in found - ABSTRACT - PARTS}


def versions() -> list[tuple[str, str]]:
    return [(path.parent.name, path.stem) for path in sorted(GOLDEN.glob("*/v*.json"))]


def lost(before: Any, after: Any, place: str = "") -> list[str]:
    """Places whose value is gone or another after loading."""
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            found
            for key, value in before.items()
            for found in (
                lost(value, after[key], f"{place}.{key}") if key in after else [f"{place}.{key}"]
            )
        ]
    if isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        pairs = enumerate(zip(before, after, strict=True))
        return [found for n, (b, a) in pairs for found in lost(b, a, f"{place}[{n}]")]
    return [] if before == after else [place]


@pytest.mark.parametrize("name", sorted(models()))
def test_every_model_has_a_golden_file(name: str) -> None:
    assert (GOLDEN / name / "v1.json").exists(), (
        f"write tests/contract/golden/{name}/v1.json with every field of {models()[name].__name__}"
    )


@pytest.mark.parametrize(("name", "version"), versions())
def test_an_old_file_still_loads_and_loses_nothing(name: str, version: str) -> None:
    text = (GOLDEN / name / f"{version}.json").read_text(encoding="utf-8")
    model = models()[name].model_validate_json(text)
    assert lost(json.loads(text), json.loads(model.model_dump_json(by_alias=True))) == []


def of_a_later_release(value: Any) -> Any:
    """What a newer writer may say: a field more in every object that is a model."""
    if isinstance(value, BaseModel):
        fields = type(value).model_fields.items()
        said = {field.alias or name: getattr(value, name) for name, field in fields}
        return {"added_later": "x", **{name: of_a_later_release(it) for name, it in said.items()}}
    if isinstance(value, dict):
        return {key: of_a_later_release(it) for key, it in value.items()}
    return [of_a_later_release(it) for it in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize(("name", "version"), versions())
def test_a_message_of_a_later_release_is_read_while_both_are_on_the_bus(
    name: str, version: str
) -> None:
    model = models()[name]
    text = (GOLDEN / name / f"{version}.json").read_text(encoding="utf-8")
    if issubclass(model, Request):
        with pytest.raises(ValidationError, match="added_later"):
            model.model_validate_json(to_json(of_a_later_release(model.model_validate_json(text))))
        return
    known = model.model_validate_json(text)
    assert model.model_validate_json(to_json(of_a_later_release(known))) == known


@pytest.mark.parametrize("name", sorted(models()))
def test_no_field_of_the_first_version_is_gone(name: str) -> None:
    model = models()[name]
    written = json.loads((GOLDEN / name / "v1.json").read_text(encoding="utf-8"))
    fields = {f.alias or n: f.is_required() for n, f in model.model_fields.items()}
    missing = [field for field, required in fields.items() if required and field not in written]
    assert not missing
    assert set(written) <= set(fields), "a field was renamed or removed"


def test_a_value_that_is_lost_is_noticed() -> None:
    assert lost({"a": [{"b": 1}]}, {"a": [{"b": 2}]}) == [".a[0].b"]
    assert lost({"a": 1}, {}) == [".a"]
    assert lost([1], [1, 2]) == [""]
    assert lost({"a": 1}, {"a": 1, "new": 2}) == []


def test_the_ids_in_the_golden_chunks_are_still_what_the_text_gives() -> None:
    golden = Chunks.model_validate_json((GOLDEN / "chunks" / "v1.json").read_text())
    text = next(chunk for chunk in golden.chunks if chunk.type == "text")
    assert text.chunk_id == chunk_id("text", canonical_text(text.content))
    row = Row.model_validate_json((GOLDEN / "row" / "v1.json").read_text())
    table = next(chunk for chunk in golden.chunks if chunk.type == "table")
    assert table.chunk_id == chunk_id("table", canonical_table(row.cells))
