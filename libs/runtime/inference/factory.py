"""The embedder that a setting names."""

from pathlib import Path

from libs.runtime.inference.port import Embedder


def open_embedder(name: str, data_dir: Path) -> Embedder | None:
    """`e5`, `seeded` (random vectors for benchmarks), or None for `none`: lexical search alone.

    Nothing is loaded before the first use. Converted models are kept in `<data_dir>/models`.
    """
    if name == "none":
        return None
    if name == "e5":
        from libs.runtime.inference.e5 import E5Embedder

        return E5Embedder(data_dir / "models")
    if name == "seeded":
        from libs.runtime.inference.seeded import SeededEmbedder

        return SeededEmbedder()
    raise ValueError(f"GROUNDWIRE_EMBEDDER must be e5, none or seeded, not {name!r}")
