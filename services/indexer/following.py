"""The corpus files follow every change of what readers see, beside the work and at a pace that
the size of the corpus sets: a flip never waits for them.

A change is written when nothing has moved for a moment, or has waited long enough. Writing
costs in proportion to the corpus, so after each time the namespace rests for a multiple of
what it took.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from libs.runtime.corpusfiles import follow_corpus
from libs.runtime.telemetry import logger
from services.indexer.deps import Deps

LOOK_SECONDS = 1.0
QUIET_SECONDS = 2.0
LONGEST_SECONDS = 30.0
REST_FACTOR = 20.0
MOST_REST_SECONDS = 600.0

log = logger("indexer.following")


@dataclass
class _Namespace:
    settled: int | None = None
    seen: int | None = None
    since: float = 0.0
    moved: float = 0.0
    rest_until: float = 0.0


class Pace:
    """Decides which namespaces are due; versions in, names out. Times are seconds of `clock`."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, _Namespace] = {}

    def due(self, versions: dict[str, int]) -> list[str]:
        """Namespaces whose files are to be looked at now, given their corpus versions."""
        for gone in self._known.keys() - versions.keys():
            del self._known[gone]
        return [name for name, version in versions.items() if self._is_due(name, version)]

    def _is_due(self, name: str, version: int) -> bool:
        one, now = self._known.setdefault(name, _Namespace()), self._clock()
        if one.settled == version:
            one.seen = None
            return False
        if one.seen is None:
            one.since = now
        if one.seen != version:
            one.seen, one.moved = version, now
        waited = now - one.moved >= QUIET_SECONDS or now - one.since >= LONGEST_SECONDS
        return waited and now >= one.rest_until

    def settled(self, name: str, version: int, seconds: float) -> None:
        """The files are of this version, which took so long to see to."""
        one = self._known.setdefault(name, _Namespace())
        one.settled, one.seen = version, None
        one.rest_until = self._clock() + min(REST_FACTOR * seconds, MOST_REST_SECONDS)


class Following:
    """Looks at every namespace now and then; one writer a process at a time."""

    def __init__(self, deps: Deps, clock: Callable[[], float] = time.monotonic) -> None:
        self._deps = deps
        self._clock = clock
        self._pace = Pace(clock)

    async def look(self) -> None:
        """Write the files of namespaces that are due."""
        versions = await self._deps.stores.catalog.corpus.versions()
        for name in self._pace.due(versions):
            await self._follow(name, versions[name])

    async def _follow(self, namespace: str, version: int) -> None:
        began = self._clock()
        async with self._deps.following:
            found = await follow_corpus(self._deps.corpus(), namespace)
        if found is None:
            log.warning("the catalog is behind the corpus files", namespace=namespace)
        self._pace.settled(namespace, version if found is None else found, self._clock() - began)
