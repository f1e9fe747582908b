"""The two pydantic bases that every contract builds on."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationInfo
from pydantic.config import ExtraValues

STORED = {"stored": True}
"""Validation context of what was taken in before a rule was made: it stays readable."""


def is_stored(info: ValidationInfo) -> bool:
    """Whether a value is read back, and so exempt from rules that were made later."""
    return info.context == STORED


class Contract(BaseModel):
    """A message or artefact that we write: immutable, and tolerant when read.

    Unknown keys are ignored, so an older reader survives a newer writer during a
    rolling update; keys may be added with a default but never renamed or removed
    (`tests/contract/golden/` holds every version that was ever written).
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def model_validate_json(
        cls,
        json_data: str | bytes | bytearray,
        *,
        strict: bool | None = None,
        extra: ExtraValues | None = "ignore",
        context: Any | None = None,
        by_alias: bool | None = None,
        by_name: bool | None = None,
    ) -> Self:
        """As pydantic's own, but that a caller's request inside a message is read as tolerantly
        as the message: it was refused or taken where it came in."""
        return super().model_validate_json(
            json_data,
            strict=strict,
            extra=extra,
            context=context,
            by_alias=by_alias,
            by_name=by_name,
        )


class Request(BaseModel):
    """Something a caller sends us: unknown keys are an error that names them."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Typed(Request):
    """A request whose values are of their types: `"5"` is no number, and 1 is not true."""

    model_config = ConfigDict(strict=True)
