"""A trace without what must not leave: pure, used where a trace is written or sent.

Works on the stored form, so that keys of newer versions are masked too: under `all` nothing
stays but numbers, ids of the run itself, and the closed words named here. The form stays that
of the schema: lists keep their length, maps their size.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

Redaction = Literal["all", "doc_ids"]
REDACTED = "<redacted>"
SUMMARY = "readable_summary"

STRUCTURES = frozenset(
    {"query_rewrite", "planner", "answer_schema", "stage_latencies_ms", "retrieval_budget"}
)
"""Maps whose keys are those of the schema; keys of any other map may be names."""

CLOSED = frozenset(
    {
        "run_id", "trace_id", "rewrite_type", "context_source", "context_status", "query_type",
        "pipeline", "prompt_profile", "strategy", "retrieval_mode", "stage_sequence",
        "selected_stage", "stage", "status",
    }
)  # fmt: skip
"""Fields whose values are ours and name nothing of a caller's."""

_CODE = re.compile(r"[\w.:-]{1,80}", re.ASCII)
_ID_FIELD = re.compile(r"(?:^|_)doc(?:ument)?_ids?$")


def redact(trace: Mapping[str, Any], how: Redaction) -> dict[str, Any]:
    """A copy of a trace, schema version 1, in which names, texts and document ids (`all`) or
    document ids (`doc_ids`) are masked, in strings and map keys too, and every readable
    summary is written anew from what is left. The given trace stays as it is."""
    if how == "all":
        masked = _all(trace)
    else:
        ids = sorted(set(_document_ids(trace)), key=lambda one: (-len(one), one))
        masked = _ids(trace, _masker(ids))
    return _summarised(masked)


def _all(value: Any, field: str = "", *, named: bool = True) -> Any:
    """`named`: the keys of a map here are the schema's."""
    if isinstance(value, Mapping):
        keys = list(value) if named else _numbered(len(value))
        return {
            key: _all(one, str(own), named=str(own) in STRUCTURES)
            for key, (own, one) in zip(keys, value.items(), strict=True)
        }
    if isinstance(value, list):
        return [_all(one, field, named=field == "attempts") for one in value]
    if not isinstance(value, str) or not value:
        return value
    return value if field in CLOSED and _CODE.fullmatch(value) else REDACTED


def _numbered(size: int) -> list[str]:
    return [f"<redacted {number}>" for number in range(1, size + 1)]


def _ids(value: Any, mask: Callable[[str], str], field: str = "", *, named: bool = True) -> Any:
    if isinstance(value, Mapping):
        return {
            key if named else mask(str(key)): _ids(
                one, mask, str(key), named=str(key) in STRUCTURES
            )
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_ids(one, mask, field, named=field == "attempts") for one in value]
    if not isinstance(value, str) or not value:
        return value
    if _ID_FIELD.search(field):
        return REDACTED
    return value if field in CLOSED else mask(value)


def _document_ids(value: Any, field: str = "") -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _document_ids(one, str(key))
    elif isinstance(value, list):
        for one in value:
            yield from _document_ids(one, field)
    elif isinstance(value, str) and value and _ID_FIELD.search(field):
        yield value


def _masker(ids: list[str]) -> Callable[[str], str]:
    """Masks each of the ids wherever it stands as a word of its own."""
    if not ids:
        return lambda text: text
    whole = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ids))})(?!\w)")
    return lambda text: whole.sub(REDACTED, text)


def _summarised(trace: dict[str, Any]) -> dict[str, Any]:
    written = {"query_rewrite": _rewrite_summary, "planner": _planner_summary}
    for part, summary in written.items():
        section = trace.get(part)
        if isinstance(section, dict) and section.get(SUMMARY):
            section[SUMMARY] = summary(section)
    return trace


def _rewrite_summary(section: Mapping[str, Any]) -> str:
    counts = ", ".join(
        f"{len(section.get(field) or [])} {what}"
        for field, what in (
            ("context_entities", "entities"),
            ("context_projects", "projects"),
            ("active_doc_ids", "active documents"),
        )
    )
    used = "was rewritten" if section.get("rewritten") else "was used as it stands"
    kind = section.get("rewrite_type", "none")
    return f"The query {used} ({kind}); its context held {counts}. Names are redacted."


def _planner_summary(section: Mapping[str, Any]) -> str:
    attempts = section.get("attempts") or []
    verified = sum(1 for one in attempts if isinstance(one, dict) and one.get("verified"))
    return (
        f"{section.get('pipeline', '')}, {section.get('strategy', '')}: stage "
        f"{section.get('selected_stage', '')}, {verified} of {len(attempts)} attempts verified, "
        f"at most {section.get('selected_top_k', 0)} pieces. Names are redacted."
    )
