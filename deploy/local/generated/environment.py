"""`.env.example`: every setting of every service, with its default and what it is for."""

import importlib
import json
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from libs.contracts.subjects import Stage
from libs.runtime.models.settings import Endpoint
from libs.runtime.settings import Settings

TARGET = Path(".env.example")

_HEAD = """\
# Every setting, with its default. Copy to `.env` and uncomment what you change; environment
# variables win over the file. Written from the settings classes by `make fix`.
"""
_STANDARD = """\
# --- OpenTelemetry, as its specification names them ---

# where spans are sent; without it nothing leaves the process
# OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318
# which share of traces is kept, such as parentbased_traceidratio with OTEL_TRACES_SAMPLER_ARG
# OTEL_TRACES_SAMPLER=parentbased_always_on
# OTEL_TRACES_SAMPLER_ARG=
"""


def _text(value: Any) -> str:
    if value is None or value is PydanticUndefined:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _is_model(field: FieldInfo) -> bool:
    return isinstance(field.default, Endpoint)


def _lines(name: str, field: FieldInfo) -> str:
    if _is_model(field):
        return f"# {field.description}\n" + "".join(
            f"# GROUNDWIRE_{name.upper()}_{part.upper()}=\n" for part in Endpoint.model_fields
        )
    default = "" if field.default_factory else _text(field.default)
    derived = " (by default from the machine)" if field.default_factory else ""
    return f"# {field.description or name}{derived}\n# GROUNDWIRE_{name.upper()}={default}\n"


def _section(title: str, fields: dict[str, FieldInfo]) -> str:
    body = "".join(_lines(name, field) for name, field in fields.items())
    return f"# --- {title} ---\n\n{body}"


def settings_of(stage: str) -> type[Settings]:
    """The settings class of a service."""
    found: type[Settings] = importlib.import_module(f"services.{stage}.settings").Settings
    return found


def variables_of(kind: type[Settings]) -> list[str]:
    """The environment variables that settings of this class are read from."""
    names: list[str] = []
    for name, field in kind.model_fields.items():
        parts = Endpoint.model_fields if _is_model(field) else [""]
        names += [f"GROUNDWIRE_{name}_{part}".upper().rstrip("_") for part in parts]
    return names


def _models() -> str:
    """Endpoints of language models, each once, after what an endpoint consists of."""
    fields: dict[str, FieldInfo] = {}
    kinds: list[type[Settings]] = [Settings, *map(settings_of, Stage)]
    for kind in kinds:
        fields |= {n: f for n, f in kind.model_fields.items() if _is_model(f)}
    parts = "".join(f"# {n.upper()}: {f.description}\n" for n, f in Endpoint.model_fields.items())
    return _section("language models, all of them optional", fields).replace(
        "---\n\n", f"---\n\n{parts}\n", 1
    )


def render(_root: Path) -> dict[Path, str]:
    """The file: shared settings, then those of each service."""
    shared = {n: f for n, f in Settings.model_fields.items() if not _is_model(f)}
    sections = [_HEAD, _section("shared by all services", shared)]
    for stage in Stage:
        own = {
            name: field
            for name, field in settings_of(stage).model_fields.items()
            if name not in Settings.model_fields and not _is_model(field)
        }
        if own:
            sections.append(_section(stage, own))
    return {TARGET: "\n".join((*sections, _models(), _STANDARD))}
