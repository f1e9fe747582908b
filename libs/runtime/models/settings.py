"""Endpoints of language models in the settings: `GROUNDWIRE_MODEL_<USE>_{URL,NAME,KEYS,RPM}`.

A service's settings name the uses that it has, one field each:

    model_analyze: Endpoint = endpoint(ModelUse.ANALYZE)
"""

from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from libs.runtime.models.use import PURPOSES, ModelUse

PREFIX = "model_"
KEYLESS = "none"
"""What is sent as a key to a server that wants none, since the protocol has a place for it."""


class Endpoint(BaseModel):
    """Where one use finds its model. Off while `url` and `keys` are both empty."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    url: str = Field(
        default="",
        description="its OpenAI-compatible base URL, such as http://127.0.0.1:8000/v1; with"
        " ?api-version= an Azure endpoint",
    )
    name: str = Field(default="", description="the model's name there; on Azure the deployment")
    keys: SecretStr = Field(
        default=SecretStr(""), description="keys, with commas between; none for a local server"
    )
    rpm: str = Field(
        default="", description="requests a minute: one number for every key, or one for each"
    )

    @field_validator("rpm", mode="before")
    @classmethod
    def _as_text(cls, value: object) -> object:
        return str(value) if isinstance(value, int | float) else value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.url and urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError("url must begin with http:// or https://")
        if self.configured and not (self.url and self.name):
            raise ValueError("url and name are needed together")
        if len(self.rates) not in (1, len(self.key_list)):
            raise ValueError("rpm is one number, or as many as there are keys")
        return self

    @property
    def configured(self) -> bool:
        """Whether this use is on."""
        return bool(self.url or self.keys.get_secret_value())

    @property
    def key_list(self) -> list[str]:
        """The keys, at least one."""
        given = [k.strip() for k in self.keys.get_secret_value().split(",")]
        return [k for k in given if k] or [KEYLESS]

    @property
    def rates(self) -> list[float | None]:
        """Requests a minute, for all keys or for each; None is without a limit."""
        parts = [p.strip() for p in self.rpm.split(",")] if self.rpm.strip() else []
        rates = [float(p) for p in parts if p]
        if any(not 0 < r < 1e6 for r in rates):
            raise ValueError("rpm must be greater than 0")
        return [*rates] or [None]


def endpoint(use: ModelUse) -> Any:
    """The field of a use in a service's settings."""
    return Field(default=Endpoint(), description=f"model for {PURPOSES[use]}")
