"""JSON objects in what models write. Pure."""

import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from libs.runtime.models.failure import ModelFailed, Reason

T = TypeVar("T", bound=BaseModel)
CANDIDATES = 32
"""Opening braces at which an object is looked for."""
_THOUGHT, _THOUGHT_ENDS = "<think>", "</think>"
_DECODER = json.JSONDecoder()


def instructed(system: str, schema: type[BaseModel]) -> str:
    """The system prompt with the form of the answer; it says JSON, which servers ask for."""
    shape = json.dumps(
        _plain(schema.model_json_schema()), ensure_ascii=False, separators=(",", ":")
    )
    return (
        f"{system}\n\nAnswer with one JSON object and nothing else: no prose, no code fence. "
        f"It must be valid by this JSON schema:\n{shape}"
    )


def _plain(schema: Any, names: bool = False) -> Any:
    """A JSON schema without what a model need not read: titles, defaults, what a class is for.

    `names` are the keys of an object's properties, which stay whatever they are called.
    """
    if isinstance(schema, list):
        return [_plain(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    left = ("title", "default") if not names else ()
    about_class = "properties" in schema and not names
    return {
        key: _plain(value, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if key not in left and not (about_class and key == "description")
    }


def read_object(text: str, schema: type[T], *, cut: bool) -> T:
    """The first object in `text` that is valid by `schema`; what stands around it is ignored.

    Raises `ModelFailed`: `TRUNCATED` where the answer was `cut` at its limit, else `INVALID`.
    """
    text = without_thoughts(text)
    problem = "there is no JSON object in it"
    start = -1
    for _ in range(CANDIDATES):
        start = text.find("{", start + 1)
        if start < 0:
            break
        try:
            found, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            problem = "its JSON cannot be read"
            continue
        try:
            return schema.model_validate(found)
        except (ValidationError, RecursionError) as invalid:
            problem = _problem(invalid)
            start = end - 1
    reason = Reason.TRUNCATED if cut else Reason.INVALID
    raise ModelFailed(reason, f"the model's answer is no valid JSON object: {problem}")


def without_thoughts(text: str) -> str:
    """`text` without the reasoning that some models put before it, whose beginning a server may
    have left out; nothing where the answer was cut in the midst of it."""
    _, ended, answer = text.partition(_THOUGHT_ENDS)
    return answer if ended or text.lstrip().startswith(_THOUGHT) else text


def _problem(invalid: Exception) -> str:
    """Which fields are wrong and how, without their values."""
    if not isinstance(invalid, ValidationError):
        return "it is nested too deeply"
    errors = invalid.errors(include_url=False, include_context=False, include_input=False)
    fields = {".".join(map(str, e["loc"])): e["type"] for e in errors[:8]}
    return ", ".join(f"{name or 'object'}: {kind}" for name, kind in fields.items())
