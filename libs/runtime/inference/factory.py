"""The embedder that the settings name."""

from libs.runtime.inference.port import Embedder
from libs.runtime.settings import Settings

NAMES = ("e5", "use", "sentence-transformers", "openai", "seeded", "none")


def open_embedder(settings: Settings, name: str | None = None) -> Embedder | None:
    """The embedder of this name, by default the configured one; None for `none`.

    Nothing is loaded before the first use. Converted models are kept in `<data_dir>/models`.
    `seeded` gives random vectors, for benchmarks. `ValueError` for what the settings leave
    out or do not know.
    """
    name = name or settings.embedder
    if name == "none":
        return None
    if name == "e5":
        from libs.runtime.inference.e5 import E5Embedder

        return E5Embedder(settings.data_dir / "models")
    if name == "use":
        from libs.runtime.inference.use import UseEmbedder

        return UseEmbedder()
    if name == "sentence-transformers":
        if settings.embedder_folder is None:
            raise ValueError("embedder sentence-transformers needs GROUNDWIRE_EMBEDDER_FOLDER")
        from libs.runtime.inference.sentence import SentenceEmbedder

        return SentenceEmbedder(settings.embedder_folder)
    if name == "openai":
        if not (settings.model_embed.configured and settings.embedder_dimension):
            raise ValueError(
                "embedder openai needs GROUNDWIRE_MODEL_EMBED_URL, GROUNDWIRE_MODEL_EMBED_NAME"
                " and GROUNDWIRE_EMBEDDER_DIMENSION"
            )
        from libs.runtime.inference.remote import EndpointEmbedder

        return EndpointEmbedder(settings.model_embed, settings.embedder_dimension)
    if name == "seeded":
        from libs.runtime.inference.seeded import SeededEmbedder

        return SeededEmbedder()
    raise ValueError(f"GROUNDWIRE_EMBEDDER must be one of {', '.join(NAMES)}, not {name!r}")
