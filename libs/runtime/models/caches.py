"""Where answers of models are kept: in memory, or in the object store."""

from collections import OrderedDict
from contextlib import suppress
from dataclasses import replace

import orjson

from libs.contracts.faults import Fault
from libs.runtime.models.port import Answer
from libs.runtime.objects.port import ObjectStore


class MemoryAnswers:
    """The last `limit` answers of this process, for queries."""

    def __init__(self, limit: int = 1024) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, Answer] = OrderedDict()

    async def get(self, key: str) -> Answer | None:
        """The answer, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return replace(found, cached=True)

    async def put(self, key: str, answer: Answer) -> None:
        """Keep it; the one unused longest makes room."""
        self._kept[key] = answer
        self._kept.move_to_end(key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)


class StoredAnswers:
    """Answers as objects `<prefix><key>.json`.

    Answers about a document lie below the document's own prefix, so that erasing it erases
    them, and reading it again under a new revision pays nothing.
    """

    def __init__(self, objects: ObjectStore, prefix: str) -> None:
        self._objects, self._prefix = objects, prefix

    async def get(self, key: str) -> Answer | None:
        """The answer; None when it is absent, unreadable or the store is away."""
        with suppress(KeyError, ValueError, TypeError, Fault):
            kept = orjson.loads(await self._objects.get(self._key(key)))
            answer = Answer(
                kept["text"], kept["tokens_in"], kept["tokens_out"], True, kept["finish"]
            )
            return answer if isinstance(answer.text, str) else None
        return None

    async def put(self, key: str, answer: Answer) -> None:
        """Keep it, unless the store is away."""
        kept = {
            "text": answer.text,
            "tokens_in": answer.tokens_in,
            "tokens_out": answer.tokens_out,
            "finish": answer.finish,
        }
        with suppress(Fault):
            data = orjson.dumps(kept)
            await self._objects.put(self._key(key), data, media_type="application/json")

    def _key(self, key: str) -> str:
        return f"{self._prefix}{key}.json"
