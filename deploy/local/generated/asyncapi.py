"""`docs/asyncapi.json`: the bus as AsyncAPI 3.0, with the schema of every message."""

import json
import re
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from libs.contracts.subjects import SUBJECTS, Subject

TARGET = Path("docs/asyncapi.json")
PREFIX = "groundwire"
_TOKEN = re.compile(r"\{(\w+)\}")


def _name(subject: Subject) -> str:
    """`parser.shards_done.{job}.{revision}` becomes `parserShardsDone`."""
    words = re.split(r"[._]", _TOKEN.sub("", subject.pattern).strip("."))
    words = [word for word in words if word] or ["any"]
    return words[0] + "".join(word.title() for word in words[1:])


def _channel(subject: Subject) -> dict[str, Any]:
    channel: dict[str, Any] = {
        "address": f"{PREFIX}.{subject.pattern}",
        "description": subject.doc,
        "messages": {
            subject.model.__name__: {
                "$ref": f"#/components/messages/{subject.model.__name__}",
            }
        },
    }
    if tokens := _TOKEN.findall(subject.pattern):
        channel["parameters"] = {token: {} for token in tokens}
    return channel


def _operations(subject: Subject) -> dict[str, Any]:
    reference = {"$ref": f"#/channels/{_name(subject)}"}
    if not subject.senders:
        return {f"{_name(subject)}.receive": {"action": "receive", "channel": reference}}
    return {
        f"{_name(subject)}.{sender}": {"action": "send", "channel": reference, "title": sender}
        for sender in subject.senders
    }


def _schemas(models: list[type[BaseModel]]) -> dict[str, Any]:
    _, definitions = models_json_schema(
        [(model, "serialization") for model in models],
        ref_template="#/components/schemas/{model}",
    )
    schemas: dict[str, Any] = definitions["$defs"]
    return schemas


def render(_root: Path) -> dict[Path, str]:
    """The document, with sorted keys."""
    models = sorted({s.model for s in SUBJECTS}, key=lambda model: model.__name__)
    document = {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Groundwire",
            "version": "1.0.0",
            "description": "Every subject of the bus. Delivery is at least once; `Nats-Msg-Id` "
            "removes duplicates; `traceparent` travels in the headers.",
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "channels": {_name(subject): _channel(subject) for subject in SUBJECTS},
        "operations": {k: v for subject in SUBJECTS for k, v in _operations(subject).items()},
        "components": {
            "messages": {
                model.__name__: {
                    "name": model.__name__,
                    "summary": (model.__doc__ or "").strip().splitlines()[0],
                    "payload": {"$ref": f"#/components/schemas/{model.__name__}"},
                }
                for model in models
            },
            "schemas": _schemas(list(models)),
        },
    }
    return {TARGET: json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"}
