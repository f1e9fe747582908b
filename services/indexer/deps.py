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
from libs.runtime.graph.port import GraphNode
from libs.runtime.inference.port import Vectors
from libs.runtime.stores import Stores
from services.indexer.documents import Tokenize
from services.indexer.linking import link_all
from services.indexer.parity import Held
from services.indexer.room import Room
from services.indexer.settings import Settings

BATCHES = 4
"""Batches that the embedder is given at once."""

LINKED = 16
"""Revisions that are joined to others in one step."""


@dataclass(frozen=True)
class Deps:
    """`tokenize` makes the tokens of the lexical channels; `clock` tells the time in UTC;
    `following` is held while the files of a corpus are written."""

    bus: Bus
    stores: Stores
    tokenize: Tokenize
    settings: Settings
    clock: Callable[[], datetime] = now
    following: asyncio.Lock = field(default_factory=asyncio.Lock)

    @cached_property
    def room(self) -> Room:
        """For the texts of revisions that are published at once."""
        return Room(int(self.settings.indexer_text_mb * 1_000_000))

    @cached_property
    def embed(self) -> Gathering[list[str], Vectors]:
        """The vectors of a batch of texts. Documents take turns, a batch each; batches that wait
        go to the embedder together, which likes them large and of like length."""
        return Gathering(self._embedded, BATCHES)

    @cached_property
    def link(self) -> Gathering[tuple[str, GraphNode], Held]:
        """Joins a node of a namespace to others; those that wait are joined together."""
        return Gathering(self._linked, LINKED)

    async def _linked(self, nodes: list[tuple[str, GraphNode]]) -> list[Held]:
        held: dict[tuple[str, int], Held] = {}
        for namespace in dict.fromkeys(name for name, _ in nodes):
            own = {node.revn: node for name, node in nodes if name == namespace}
            found = await link_all(self.stores.graph, namespace, list(own.values()))
            held |= {(namespace, revn): one for revn, one in zip(own, found, strict=True)}
        return [held[namespace, node.revn] for namespace, node in nodes]

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
