"""What the indexer's handlers are given; made once, in `app.py`."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import accumulate

import numpy as np

from libs.contracts.events.base import now
from libs.runtime.bus import Bus
from libs.runtime.corpusfiles import Corpus
from libs.runtime.gathering import Gathering
from libs.runtime.inference.port import Vectors
from libs.runtime.stores import Stores
from services.indexer.documents import Tokenize
from services.indexer.settings import Settings

BATCHES = 4
"""Batches that the embedder is given at once."""


@dataclass(frozen=True)
class Deps:
    """`tokenize` makes the tokens of the lexical channels; `clock` tells the time in UTC;
    `linking` is held while a document is joined to others, so that those of this process need
    not look twice; `following` while the files of a corpus are written."""

    bus: Bus
    stores: Stores
    tokenize: Tokenize
    settings: Settings
    clock: Callable[[], datetime] = now
    linking: asyncio.Lock = field(default_factory=asyncio.Lock)
    following: asyncio.Lock = field(default_factory=asyncio.Lock)

    @cached_property
    def embed(self) -> Gathering[list[str], Vectors]:
        """The vectors of a batch of texts. Documents take turns, a batch each; batches that wait
        go to the embedder together, which likes them large and of like length."""
        return Gathering(self._embedded, BATCHES)

    async def _embedded(self, batches: list[list[str]]) -> list[Vectors]:
        embedder = self.stores.embedder
        if embedder is None:
            raise RuntimeError("there is no embedder")
        texts = [text for batch in batches for text in batch]
        made = np.asarray(await embedder.embed_passages(texts), np.float32)
        return np.split(made, list(accumulate(len(batch) for batch in batches[:-1])))

    def corpus(self) -> Corpus:
        """The stores that the files of a corpus are made of."""
        stores = self.stores
        return Corpus(stores.catalog, stores.graph, stores.objects, self.clock)
