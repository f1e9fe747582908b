"""A model package of a few pieces, for tests of the cache alone."""

from collections.abc import Callable
from pathlib import Path

from libs.runtime.inference import e5_cache
from libs.runtime.inference.e5_package import Package

SMALL = Package(
    pieces=[("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁hi", -1.0)],
    normaliser={1: ""},
    tensors={},
    word_offset=0,
)


def install(replace: Callable[[object, str, object], None]) -> None:
    """Let the cache convert `SMALL`; `replace` is `setattr` or a monkeypatch's."""
    replace(e5_cache, "find_package", lambda: Path("small"))
    replace(e5_cache, "read_package", lambda _path: SMALL)
