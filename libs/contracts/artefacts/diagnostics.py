"""`diagnostics.json`: what the stages noticed and a reader should know."""

from typing import Literal

from libs.contracts.base import Contract


class Finding(Contract):
    """One observation, such as `flat_structure` or `hidden_text`; `detail` holds no text."""

    code: str
    detail: str
    severity: Literal["info", "warning"] = "info"
    page: int | None = None
    count: int = 1


class Diagnostics(Contract):
    """The file itself; `timings` in seconds by step."""

    schema_version: Literal[1] = 1
    engine: str
    findings: list[Finding] = []
