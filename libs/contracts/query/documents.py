"""`query.documents`: which documents a question names, by their metadata alone."""

from pydantic import Field

from libs.contracts.api.search import SearchFilters
from libs.contracts.base import Contract
from libs.contracts.tokens import Namespace

MAX_NAMES = 8
MAX_DOCUMENTS = 20


class DocumentsQuery(Contract):
    """`names` as a question writes them, of projects, institutions, products, and its `year`;
    only documents that `filters` leave are looked at."""

    namespace: Namespace
    names: list[str] = Field(max_length=MAX_NAMES)
    year: int | None = None
    filters: SearchFilters = Field(default_factory=SearchFilters)


class DocumentsAnswer(Contract):
    """The documents whose file name or tags hold a name; empty where that tells none from
    another. `ambiguous` says that one name stands for several documents. `candidates` counts
    what was named before the year and the bounds were looked at."""

    corpus_version: int
    document_ids: list[str] = []
    ambiguous: bool = False
    candidates: int = 0
