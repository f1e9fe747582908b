"""What the indexer says."""

from libs.contracts.events.base import JobEvent


class DocumentPublished(JobEvent):
    """The document's active revision was flipped to this one, whole."""

    chunk_count: int
    chunk_digest: str
    corpus_version: int


class RevisionSuperseded(JobEvent):
    """A newer revision was already published: this job ended without a flip."""


class DocumentEmbedded(JobEvent):
    """Every chunk of the revision has its vector; its dense channel is on."""

    model: str
    corpus_version: int


class DocumentErased(JobEvent):
    """Nothing of the document is left in any store; the receipt says what went."""
