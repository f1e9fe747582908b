"""What every object store must do, whatever it is made of.

Subclass in a test module, name the class `Test…`, and give the fixtures `store` and
`open_store_source`.
"""

import asyncio
import hashlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from libs.contracts.faults import Code, DocumentFault
from libs.runtime.objects.port import ObjectInfo, ObjectStore
from tests.support.waiting import PATIENCE

MIB = 1 << 20

PART = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/\\"), min_size=1, max_size=8
).filter(lambda part: part not in {".", ".."})
BAD_PART = st.one_of(
    st.sampled_from(["", ".", "..", "a\\b", "a\x00b", "a\x7f", "\n", "a\x85", "\udc80", "é" * 128]),
    st.tuples(PART, st.characters(categories=("Cc",)), PART).map("".join),
)
HOSTILE = st.one_of(
    st.tuples(st.lists(PART, max_size=3), BAD_PART, st.lists(PART, max_size=3)).map(
        lambda parts: "/".join([*parts[0], parts[1], *parts[2]])
    ),
    st.sampled_from(["", "/", "/etc/passwd", "a/", "a//b", "../up", "a/../../b", "a/" * 600 + "a"]),
)

HYPOTHESIS = settings(
    deadline=None,
    max_examples=60,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,  # the suite runs over several adapters
    ],
)


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


async def collect(stream: AsyncIterator[bytes]) -> bytes:
    return b"".join([piece async for piece in stream])


async def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return [info.key async for info in store.walk(prefix)]


class ObjectStoreSuite:
    """The MUSTs of `libs/runtime/objects/port.py`."""

    @pytest.fixture
    async def store(self) -> AsyncIterator[ObjectStore]:
        """An empty store."""
        raise NotImplementedError
        yield

    @pytest.fixture
    def open_store_source(self) -> str:
        """Python source of `def open_store()`, which opens the same store in any process."""
        raise NotImplementedError

    # --- writing and reading

    async def test_what_was_put_is_read(self, store: ObjectStore) -> None:
        data = b"\x00\xff evidence \n"
        info = await store.put("ns/doc/1/chunks.json", data, media_type="application/json")
        assert info == ObjectInfo(
            "ns/doc/1/chunks.json", len(data), hashlib.sha256(data).hexdigest(), "application/json"
        )
        assert await store.get("ns/doc/1/chunks.json") == data
        assert await store.stat("ns/doc/1/chunks.json") == info

    async def test_an_empty_object_is_an_object(self, store: ObjectStore) -> None:
        info = await store.put("a/empty", b"")
        assert (info.size, info.sha256) == (0, hashlib.sha256(b"").hexdigest())
        assert await store.get("a/empty") == b""
        assert await collect(store.stream("a/empty")) == b""
        assert await store.put("a/stream", pieces()) == ObjectInfo("a/stream", 0, info.sha256)

    async def test_a_stream_is_stored_whole(self, store: ObjectStore) -> None:
        parts = [os.urandom(size) for size in (1, 3 * MIB, 0, 17, MIB, 5)]
        info = await store.put("a/big", pieces(*parts), durable=True)
        whole = b"".join(parts)
        assert (info.size, info.sha256) == (len(whole), hashlib.sha256(whole).hexdigest())
        assert await store.get("a/big") == whole
        assert await collect(store.stream("a/big")) == whole

    async def test_putting_again_replaces(self, store: ObjectStore) -> None:
        await store.put("a/b", b"first, and longer", media_type="text/plain")
        second = await store.put("a/b", b"second")
        assert await store.get("a/b") == b"second"
        assert await store.stat("a/b") == second
        assert second.media_type is None

    async def test_absent_is_key_error(self, store: ObjectStore) -> None:
        await store.put("a/there", b"x")
        for key in ("a", "a/b", "a/there/below", "z"):
            assert await store.stat(key) is None
            with pytest.raises(KeyError):
                await store.get(key)
            with pytest.raises(KeyError):
                await collect(store.stream(key, 5, 5))
            with pytest.raises(KeyError):
                await store.copy(key, "a/copy")
            with pytest.raises(KeyError):
                async with store.local(key):
                    pass
        assert await keys(store) == ["a/there"]

    @pytest.mark.parametrize(
        ("start", "end"),
        [
            (0, None),
            (0, 0),
            (0, 1),
            (5, 5),
            (7, 2 * MIB + 3),
            (MIB - 1, MIB + 1),
            (2 * MIB + 9, None),
            (2 * MIB + 9, 9 * MIB),
            (2 * MIB + 10, None),
            (5 * MIB, 6 * MIB),
        ],
    )
    async def test_ranges(self, store: ObjectStore, start: int, end: int | None) -> None:
        data = os.urandom(2 * MIB + 10)
        await store.put("a/range", data)
        assert await collect(store.stream("a/range", start, end)) == data[start:end]

    async def test_a_started_stream_may_be_left(self, store: ObjectStore) -> None:
        await store.put("a/b", os.urandom(3 * MIB))
        async for _ in store.stream("a/b"):
            break
        await store.delete(["a/b"])
        assert await store.stat("a/b") is None

    async def test_local_is_the_object_as_a_file(self, store: ObjectStore) -> None:
        data = os.urandom(1000)
        await store.put("ns/doc/1/source/보고서 1.pdf", data)
        async with store.local("ns/doc/1/source/보고서 1.pdf") as path:
            assert path.is_absolute()
            assert path.read_bytes() == data
        assert await store.get("ns/doc/1/source/보고서 1.pdf") == data

    # --- limits

    @pytest.mark.parametrize("size", [11, 3 * MIB])
    async def test_too_large_stores_nothing(self, store: ObjectStore, size: int) -> None:
        await store.put("a/old", b"old")
        half = size // 2
        for key in ("a/old", "b/new"):
            for data in (b"x" * size, pieces(b"x" * half, b"x" * (size - half))):
                with pytest.raises(DocumentFault) as fault:
                    await store.put(key, data, max_bytes=size - 1)
                assert fault.value.code is Code.TOO_LARGE
        assert await keys(store) == ["a/old"]
        assert await store.get("a/old") == b"old"

    async def test_exactly_the_limit_fits(self, store: ObjectStore) -> None:
        assert (await store.put("a/a", b"x" * 10, max_bytes=10)).size == 10
        assert (await store.put("a/b", pieces(b"x" * 9, b"x"), max_bytes=10)).size == 10

    async def test_a_stream_that_fails_stores_nothing(self, store: ObjectStore) -> None:
        async def broken() -> AsyncIterator[bytes]:
            yield b"x" * (2 * MIB)
            raise ConnectionResetError("the client went away")

        with pytest.raises(ConnectionResetError):
            await store.put("a/b", broken())
        assert await keys(store) == []

    async def test_a_cancelled_put_stores_nothing(self, store: ObjectStore) -> None:
        started = asyncio.Event()

        async def stalled() -> AsyncIterator[bytes]:
            yield b"x" * (2 * MIB)
            started.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(store.put("a/b", stalled()))
        await asyncio.wait_for(started.wait(), PATIENCE)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await keys(store) == []

    # --- walking, copying, deleting

    async def test_walk_is_in_key_order_below_the_prefix(self, store: ObjectStore) -> None:
        names = [
            "a/b/c",
            "a/b.txt",
            "a/b-1",
            "a/b/.jobs/j/1/rows",
            "ab/c",
            "a/가/1",
            "a/b/\U0001f600",
        ]
        for name in names:
            await store.put(name, name.encode(), media_type="text/plain")
        assert await keys(store) == sorted(names)
        assert await keys(store, "a/") == sorted(n for n in names if n.startswith("a/"))
        assert await keys(store, "a/b/") == sorted(n for n in names if n.startswith("a/b/"))
        assert await keys(store, "a/nothing/") == []
        assert await keys(store, "a/b.txt/") == []
        async for info in store.walk(""):
            assert info == await store.stat(info.key)

    async def test_walk_yields_more_than_a_page(self, store: ObjectStore) -> None:
        names = [f"many/{n:04}" for n in range(1100)]
        for start in range(0, len(names), 100):
            await asyncio.gather(*(store.put(n, b"") for n in names[start : start + 100]))
        found = await keys(store, "many/")
        assert found == names
        assert all(one < two for one, two in pairwise(found))

    async def test_a_copy_is_independent(self, store: ObjectStore) -> None:
        original = await store.put("a/source", b"one", media_type="text/plain")
        await store.put("b/target", b"to be replaced")
        copy = await store.copy("a/source", "b/target")
        assert copy == ObjectInfo("b/target", 3, original.sha256, "text/plain")
        await store.put("a/source", b"two")
        assert await store.get("b/target") == b"one"
        assert await store.stat("b/target") == copy
        await store.delete(["a/source"])
        assert await store.get("b/target") == b"one"

    async def test_copying_onto_itself_or_twice_changes_nothing(self, store: ObjectStore) -> None:
        info = await store.put("a/b", b"same", media_type="text/plain")
        assert await store.copy("a/b", "a/b") == info
        await store.copy("a/b", "a/c")
        await store.copy("a/b", "a/c")
        assert await store.get("a/b") == await store.get("a/c") == b"same"
        assert await keys(store) == ["a/b", "a/c"]

    async def test_deleted_objects_are_gone_and_absent_ones_no_error(
        self, store: ObjectStore
    ) -> None:
        for key in ("a/1", "a/2", "b/1"):
            await store.put(key, b"x")
        await store.delete(["a/1", "a/absent", "b", "b/1"])
        await store.delete([])
        assert await keys(store) == ["a/2"]
        assert await store.stat("a/1") is None

    async def test_delete_prefix_takes_only_what_is_below(self, store: ObjectStore) -> None:
        for key in ("ns/d/1/a", "ns/d/1/.jobs/j/1/b", "ns/d/10/a", "ns/d2/1/a"):
            await store.put(key, b"x")
        assert await store.delete_prefix("ns/d/1/") == 2
        assert await keys(store) == ["ns/d/10/a", "ns/d2/1/a"]
        assert await store.delete_prefix("ns/d/1/") == 0
        assert await store.delete_prefix("ns/d/10/a/") == 0
        assert await store.delete_prefix("ns/") == 2
        await store.put("ns/d/1/a", b"again")
        assert await keys(store) == ["ns/d/1/a"]

    async def test_what_is_to_be_kept_stays_below_a_deleted_prefix(
        self, store: ObjectStore
    ) -> None:
        kept = ["ns/j/1/messages/a", "ns/j/2/messages/deep/b", "ns/messages/c"]
        for key in (*kept, "ns/j/1/a", "ns/j/messages", "ns/j/2/own-messages/b"):
            await store.put(key, b"x")
        assert await store.delete_prefix("ns/j/", keep="messages") == 3
        assert await keys(store) == kept
        assert await store.delete_prefix("ns/j/1/messages/", keep="messages") == 1
        assert await store.delete_prefix("ns/j/", keep="none") == 1
        assert await keys(store) == kept[2:]

    # --- names

    @HYPOTHESIS
    @given(key=HOSTILE)
    async def test_hostile_keys_are_refused(self, store: ObjectStore, key: str) -> None:
        with pytest.raises(ValueError, match=r".") as refusal:
            await store.put(key, b"x")
        assert type(refusal.value) is ValueError
        with pytest.raises(ValueError):
            await store.put(key, pieces(b"x"))
        with pytest.raises(ValueError):
            await store.get(key)
        with pytest.raises(ValueError):
            await store.stat(key)
        with pytest.raises(ValueError):
            await collect(store.stream(key))
        with pytest.raises(ValueError):
            await store.copy(key, "fine")
        with pytest.raises(ValueError):
            await store.copy("fine", key)
        with pytest.raises(ValueError):
            async with store.local(key):
                pass
        if key:
            with pytest.raises(ValueError):
                await keys(store, key + "/")
        with pytest.raises(ValueError):
            await store.delete_prefix(key + "/")
        assert await keys(store) == []

    async def test_one_hostile_key_stops_a_whole_delete(self, store: ObjectStore) -> None:
        await store.put("a/b", b"x")
        with pytest.raises(ValueError):
            await store.delete(["a/b", "../c"])
        assert await keys(store) == ["a/b"]

    async def test_prefixes_end_in_a_slash(self, store: ObjectStore) -> None:
        await store.put("a/b", b"x")
        for prefix in ("a", "", "a/b"):
            with pytest.raises(ValueError):
                await store.delete_prefix(prefix)
        with pytest.raises(ValueError):
            await keys(store, "a")
        assert await keys(store) == ["a/b"]

    @HYPOTHESIS
    @given(parts=st.lists(PART, min_size=1, max_size=4), data=st.binary(max_size=100))
    async def test_any_other_key_is_kept_as_it_is(
        self, store: ObjectStore, parts: list[str], data: bytes
    ) -> None:
        key = "/".join(["under", *parts])
        await store.put(key, data)
        try:
            assert await store.get(key) == data
            assert await keys(store) == [key]
        finally:
            await store.delete([key])

    async def test_the_longest_names_fit(self, store: ObjectStore) -> None:
        key = "/".join(["가" * 85, "b" * 255, "c" * 255, "d" * 255])
        await store.put(key, b"x")
        assert await keys(store) == [key]

    # --- many writers, killed writers

    async def test_the_last_whole_write_wins(self, store: ObjectStore) -> None:
        versions = [bytes([65 + n]) * (MIB + n) for n in range(8)]
        done = asyncio.Event()
        await store.put("a/contested", versions[0])

        async def read() -> int:
            seen = 0
            while not done.is_set():
                assert await store.get("a/contested") in versions
                assert await collect(store.stream("a/contested")) in versions
                info = await store.stat("a/contested")
                assert info is not None
                assert info.sha256 in digests[info.size]
                seen += 1
            return seen

        digests = {len(v): {hashlib.sha256(v).hexdigest()} for v in versions}
        reader = asyncio.create_task(read())
        for _ in range(3):
            await asyncio.gather(
                *(store.put("a/contested", pieces(v[:7], v[7:])) for v in versions),
                *(store.put("a/contested", v) for v in versions),
            )
        done.set()
        assert await reader > 0
        last = await store.get("a/contested")
        info = await store.stat("a/contested")
        assert last in versions
        assert info is not None
        assert info.sha256 == hashlib.sha256(last).hexdigest()

    async def test_writers_and_erasers_do_not_disturb_each_other(self, store: ObjectStore) -> None:
        async def write(n: int) -> None:
            for _ in range(15):
                await store.put(f"ns/doc/1/deep/er/{n}", b"x")

        async def erase() -> None:
            for _ in range(15):
                await store.delete_prefix("ns/doc/")
                await store.delete(["ns/doc/1/deep/er/0"])

        await asyncio.gather(*(write(n) for n in range(4)), erase(), erase())
        await store.put("ns/doc/1/deep/er/0", b"x")
        await store.delete_prefix("ns/")
        assert await keys(store) == []

    async def test_a_killed_writer_leaves_nothing_visible(
        self, store: ObjectStore, open_store_source: str
    ) -> None:
        source = (
            f"{open_store_source}\n"
            "import asyncio\n"
            "async def main():\n"
            "    async def endless():\n"
            "        for n in range(10**9):\n"
            f"            yield b'x' * {MIB}\n"
            "            if n == 3: print('writing', flush=True)\n"
            "            if n > 3: await asyncio.sleep(0.01)\n"
            "    await open_store().put('ns/doc/1/source/big', endless(), durable=True)\n"
            "asyncio.run(main())\n"
        )
        await store.put("ns/doc/1/profile.json", b"{}")
        writer = await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert writer.stdout is not None
            line = await asyncio.wait_for(writer.stdout.readline(), PATIENCE)
            assert line == b"writing\n"
            assert await keys(store) == ["ns/doc/1/profile.json"]
        finally:
            writer.send_signal(signal.SIGKILL)
            await writer.wait()
        assert await keys(store) == ["ns/doc/1/profile.json"]
        assert await store.stat("ns/doc/1/source/big") is None
        await store.put("ns/doc/1/source/big", b"the retry")
        assert await store.get("ns/doc/1/source/big") == b"the retry"

    async def test_another_process_sees_what_was_put(
        self, store: ObjectStore, open_store_source: str
    ) -> None:
        info = await store.put("a/b", b"shared", media_type="text/plain")
        source = (
            f"{open_store_source}\n"
            "import asyncio\n"
            "async def main():\n"
            "    store = open_store()\n"
            "    print(await store.get('a/b'), await store.stat('a/b'))\n"
            "    await store.put('a/b', b'replaced')\n"
            "asyncio.run(main())\n"
        )
        reader = await asyncio.create_subprocess_exec(
            sys.executable, "-c", source, stdout=asyncio.subprocess.PIPE
        )
        out, _ = await asyncio.wait_for(reader.communicate(), PATIENCE)
        assert out.decode().strip() == f"{b'shared'!r} {info}"
        assert await store.get("a/b") == b"replaced"
