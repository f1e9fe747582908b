"""`corpus/*.json`: what belongs to a namespace as a whole, beside its documents.

Together with the documents' own files they let catalog, search and graph be made again. Each
says of which corpus version it is; `collections.json` is written last, so a file that is
missing or older than that one was not finished.
"""

from datetime import datetime
from typing import Any, Literal

from libs.contracts.api.documents import ErasureReceipt
from libs.contracts.base import Contract


class CorpusEdge(Contract):
    """An edge to the node of the larger revn `revn`."""

    revn: int
    score: float
    shared: list[str]


class CorpusNode(Contract):
    """A document's revision, with the edges whose smaller end it is."""

    revn: int
    document_id: str
    edges: list[CorpusEdge] = []


class CorpusGraph(Contract):
    """`graph.json`: nodes by revn. Keywords stand in each revision's manifest."""

    schema_version: Literal[1] = 1
    namespace: str
    corpus_version: int
    nodes: list[CorpusNode] = []


class DocumentHits(Contract):
    """How often each chunk of a document was returned."""

    document_id: str
    chunks: dict[str, int]


class CorpusHits(Contract):
    """`hits.json`: counted hits, by document id."""

    schema_version: Literal[1] = 1
    namespace: str
    corpus_version: int
    documents: list[DocumentHits] = []


class Tombstone(Contract):
    """An erasure; revisions up to `highest_revision` are gone for good."""

    receipt: ErasureReceipt
    highest_revision: int


class CorpusErasures(Contract):
    """`erasures.json`: what was or is being erased, by erasure id."""

    schema_version: Literal[1] = 1
    namespace: str
    corpus_version: int
    erasures: list[Tombstone] = []


class CollectionFile(Contract):
    """A collection with the settings that its documents share."""

    name: str
    settings: dict[str, Any] = {}


class CorpusCollections(Contract):
    """`collections.json`, and the stamp of all four files: they show the namespace as it was
    at `seen_at` or later."""

    schema_version: Literal[1] = 1
    namespace: str
    corpus_version: int
    seen_at: datetime
    collections: list[CollectionFile] = []


class CollectionCalibration(Contract):
    """`calibrations/<collection>.json`: what a sample of a collection says about a model. So
    many sentences were looked for in `chunks` pieces; `lexical` and `dense` are the mean
    reciprocal ranks at which the channels found the pieces that they are from. `most_dense` is
    the most that the dense channel counts in a mix; 1 limits nothing."""

    schema_version: Literal[1] = 1
    namespace: str
    collection: str
    model: str
    chunks: int
    sentences: int
    lexical: float
    dense: float
    most_dense: float
