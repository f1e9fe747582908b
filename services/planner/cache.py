"""The cache of answers, in a key-value bucket whose entries expire by themselves.

The key holds everything that an answer depends on, the corpus version first, so a stale
entry cannot be read; an entry is written only after success.
"""

import hashlib
from collections.abc import Awaitable, Callable

import nats.errors
import nats.js.errors
import orjson
from nats.js.kv import KeyValue
from pydantic import ValidationError

from libs.contracts.api.search import PlanQuery, SearchResponse
from libs.runtime.answers import BUCKET, answer_key
from libs.runtime.bus import Bus
from libs.runtime.streams import bucket_name

MAX_ENTRY_BYTES = 512 * 1024


def cache_key(query: PlanQuery, corpus_version: int, fingerprint: str) -> str:
    """Namespace, then sha256 over user, request, corpus version and `fingerprint`, which
    names settings and models of this version of the software."""
    request = query.request.model_dump(mode="json", by_alias=True)
    parts = [query.namespace, corpus_version, query.key_id, request, fingerprint]
    digest = hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return answer_key(query.namespace, digest)


class AnswerCache:
    """Never a reason to fail: a bucket that is away is a miss."""

    def __init__(self, open_bucket: Callable[[], Awaitable[KeyValue]]) -> None:
        self._open = open_bucket
        self._bucket: KeyValue | None = None

    async def get(self, key: str) -> SearchResponse | None:
        """The cached answer, or None."""
        try:
            entry = await (await self._kv()).get(key)
            return SearchResponse.model_validate_json(entry.value or b"")
        except (nats.errors.Error, nats.js.errors.Error, ValidationError, TimeoutError):
            return None

    async def put(self, key: str, response: SearchResponse) -> None:
        """Remember an answer, unless it is too large."""
        data = response.model_dump_json().encode()
        if len(data) > MAX_ENTRY_BYTES:
            return
        try:
            await (await self._kv()).put(key, data)
        except (nats.errors.Error, nats.js.errors.Error, TimeoutError):
            return

    async def _kv(self) -> KeyValue:
        if self._bucket is None:
            self._bucket = await self._open()
        return self._bucket


def answer_cache(bus: Bus) -> AnswerCache:
    """The cache in the bucket of the bus."""
    return AnswerCache(lambda: bus.js.key_value(bucket_name(bus.prefix, BUCKET)))
