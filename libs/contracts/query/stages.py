"""The stages in which a query is tried: all that it states, nothing required, no filter."""

from typing import Literal

Stage = Literal["strict", "reduced", "relaxed"]
