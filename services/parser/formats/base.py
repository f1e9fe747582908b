"""What every format strategy gets and gives; strategies run in a sandboxed child process.

A strategy is a plain function `parse(given: ParseInput) -> ShardResult` over one shard of
one file. It raises `DocumentFault` with a sentence when the file cannot be parsed; any
other exception is reported as `unreadable`, naming the exception's type only. It writes
nothing but assets (through `given.assets`) and files below `given.scratch`.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.artefacts.rows import Row
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.likeness import Likeness, likeness

EXTENSIONS = {
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/bmp": "bmp",
    "image/tiff": "tiff",
    "image/svg+xml": "svg",
    "image/x-emf": "emf",
    "image/x-wmf": "wmf",
}
PICTURES = frozenset({"image/png", "image/jpeg", "image/webp", "image/bmp"})
"""Types that are compared by their looks."""
MAX_LOOKS = 1_000
"""Images of a shard that later ones are compared with."""
MAX_ASSET_BYTES = 512 << 20
MAX_ASSETS = 20_000


class AssetSink:
    """Images of one shard, written below the child's scratch folder, each once.

    Equal bytes are one image, and so are images of one type that look the same, unless what is
    added says that its bytes alone count.
    At most `max_bytes` and `max_count` of distinct assets; more is `DocumentFault(TOO_LARGE)`.
    """

    def __init__(
        self, folder: Path, *, max_bytes: int = MAX_ASSET_BYTES, max_count: int = MAX_ASSETS
    ) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_count = max_count
        self._bytes = 0
        self._looks: dict[str, Likeness] = {}
        self.media_types: dict[str, str] = {}

    def add(self, data: bytes, media_type: str, *, by_looks: bool = True) -> str:
        """Keep `data`; its name in the revision, `assets/images/<sha256[:32]>.<ext>`.

        The extension follows `media_type`, `bin` where that is no known image type. An image
        that looks like an earlier one gets the name of that one, unless told not `by_looks`:
        screens of an app differ by few pixels.
        """
        digest = hashlib.sha256(data).hexdigest()[:32]
        name = f"assets/images/{digest}.{EXTENSIONS.get(media_type, 'bin')}"
        if name in self.media_types:
            return name
        look = likeness(data) if by_looks and media_type in PICTURES else None
        if look is not None and (twin := self._twin(look, media_type)) is not None:
            return twin
        if len(self.media_types) >= self._max_count or self._bytes + len(data) > self._max_bytes:
            raise DocumentFault(
                Code.TOO_LARGE,
                f"the images of the file are over {self._max_count} pieces or "
                f"{self._max_bytes >> 20} MB; split the file",
            )
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self._bytes += len(data)
        self.media_types[name] = media_type
        if look is not None and len(self._looks) < MAX_LOOKS:
            self._looks[name] = look
        return name

    def _twin(self, look: Likeness, media_type: str) -> str | None:
        """The first image of this type that looks the same."""
        return next(
            (n for n, known in self._looks.items() if self.media_types[n] == media_type
             and known.same(look)),
            None,
        )  # fmt: skip


def no_progress(pages: int) -> None:
    """Swallow progress, where nobody listens."""


@dataclass(frozen=True)
class Scans:
    """Who reads pages without text: `told` are the texts of pages that were read elsewhere;
    `folder` takes the pictures of pages that shall be, None where the engines here read them."""

    told: Mapping[int, str] = field(default_factory=dict)
    folder: Path | None = None


@dataclass(frozen=True)
class ParseInput:
    """One shard to parse.

    `path` is the source, to be read only; its name is not the file's name, which is
    `profile.file_name`. `pages` counts from 1, both ends included, 0–0 for the whole of an
    unpaged file. `scratch` is an own folder for temporary files, removed afterwards.
    `engine` is the engine that the caller asked for, or None. `depth` counts the files that this
    one is attached to. `scans` says who reads pages without text. Call `progress` with the
    pages, slides or sheets done since the last call, at least once every few seconds of work:
    a child that says nothing is taken for stuck.
    """

    path: Path
    profile: Profile
    pages: PageRange
    assets: AssetSink
    scratch: Path
    engine: str | None = None
    progress: Callable[[int], None] = no_progress
    depth: int = 0
    scans: Scans = field(default_factory=Scans)


@dataclass(frozen=True)
class ShardResult:
    """What a shard holds. `order` of the rows counts from 0 in the shard, in reading order;
    `page` is the page of the whole file, from 1.

    A heading carries the best level and evidence that the shard alone allows; a heading that
    is only a guess from its looks has evidence `font`, its `font_size` in points and `bold`,
    and `marker` holds its number (`1.2`, `제3조`) where it has one: the join decides levels
    over the whole document. `versions` names the libraries that did the work.
    """

    rows: list[Row]
    findings: list[Finding] = field(default_factory=list)
    engine: str = "native"
    versions: dict[str, str] = field(default_factory=dict)


Strategy = Callable[[ParseInput], ShardResult]
