"""The two pydantic bases that every contract builds on."""

from pydantic import BaseModel, ConfigDict, ValidationInfo

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


class Request(BaseModel):
    """Something a caller sends us: unknown keys are an error that names them."""

    model_config = ConfigDict(frozen=True, extra="forbid")
