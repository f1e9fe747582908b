"""What the indexer's handlers are given; made once, in `app.py`."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from libs.contracts.events.base import now
from libs.runtime.bus import Bus
from libs.runtime.corpusfiles import Corpus
from libs.runtime.stores import Stores
from services.indexer.documents import Tokenize
from services.indexer.settings import Settings


@dataclass(frozen=True)
class Deps:
    """`tokenize` makes the tokens of the lexical channels; `clock` tells the time in UTC;
    `embedding` is held for a batch of the embedder, first come, first served; `linking` while
    a document is joined to others, so that those of this process need not look twice;
    `following` while the files of a corpus are written."""

    bus: Bus
    stores: Stores
    tokenize: Tokenize
    settings: Settings
    clock: Callable[[], datetime] = now
    embedding: asyncio.Lock = field(default_factory=asyncio.Lock)
    linking: asyncio.Lock = field(default_factory=asyncio.Lock)
    following: asyncio.Lock = field(default_factory=asyncio.Lock)

    def corpus(self) -> Corpus:
        """The stores that the files of a corpus are made of."""
        stores = self.stores
        return Corpus(stores.catalog, stores.graph, stores.objects, self.clock)
