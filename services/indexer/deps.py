"""What the indexer's handlers are given; made once, in `app.py`."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from libs.contracts.events.base import now
from libs.runtime.bus import Bus
from libs.runtime.stores import Stores
from services.indexer.documents import Tokenize
from services.indexer.settings import Settings


@dataclass(frozen=True)
class Deps:
    """`tokenize` makes the tokens of the lexical channels; `clock` tells the time in UTC."""

    bus: Bus
    stores: Stores
    tokenize: Tokenize
    settings: Settings
    clock: Callable[[], datetime] = now
