"""Settings that decide the order of what is found: the retriever searches by them, and the
planner keeps answers apart by them."""

import hashlib

from pydantic import Field

from libs.runtime.settings import Settings


class Ranking(Settings):
    """Weights of the channels; the seed's for rank fusion, measured ones for the mix."""

    retriever_depth: int = Field(default=100, ge=10, le=1000, description="hits taken per channel")
    retriever_rrf_k: int = Field(default=60, ge=1, description="k of reciprocal rank fusion")
    retriever_weight_path: float = Field(default=1.0, ge=0, description="rank fusion: path channel")
    retriever_weight_content: float = Field(
        default=2.0, ge=0, description="rank fusion: content channel"
    )
    retriever_weight_term: float = Field(default=1.5, ge=0, description="rank fusion: term channel")
    retriever_mix_dense: float = Field(
        default=0.65,
        ge=0,
        le=1,
        description="the most that the dense channel counts in the convex mix",
    )
    retriever_mix_path: float = Field(
        default=0.0, ge=0, description="weight of the path channel beside the convex mix"
    )
    retriever_mix_term: float = Field(
        default=0.05, ge=0, description="weight of the term channel beside the convex mix"
    )
    retriever_boost_named: float = Field(
        default=0.02, ge=0, le=2, description="boost of chunks that hold what a query names exactly"
    )
    retriever_boost_soft: float = Field(
        default=0.1, ge=0, le=1, description="boost of documents of the query's domain or type"
    )


def ranked_by(settings: Ranking) -> str:
    """What the order of results depends on, as far as settings name it: weights and models."""
    own = Ranking.model_fields.keys() - Settings.model_fields.keys()
    weights = settings.model_dump(include=own)
    models = (
        settings.embedder,
        str(settings.embedder_folder or ""),
        settings.model_embed.name,
        settings.model_rerank.name,
        str(settings.reranker_folder or ""),
    )
    return hashlib.sha256(repr((sorted(weights.items()), models)).encode()).hexdigest()[:16]
