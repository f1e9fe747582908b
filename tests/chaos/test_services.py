"""Services, bus and stores are disturbed in the middle of a batch, and nothing is lost."""

import asyncio
import json
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
from nats.js.api import ConsumerInfo

from libs.contracts.subjects import PIPELINE, Stage
from libs.runtime.routes import stream_name
from tests.chaos import table
from tests.chaos.batches import (
    BATCH,
    SECONDS,
    Outcome,
    dead_letters,
    outcomes,
    send,
    try_to_send,
    wait,
)
from tests.chaos.disturbances import (
    SERVERS,
    Disturbance,
    World,
    clock_steps,
    disk_full,
    killed,
    killed_again_and_again,
    paused,
    store_killed,
    store_paused,
    store_refusing,
    store_slow,
)
from tests.support.relays import relayed
from tests.support.servers import Servers
from tests.support.stack import Stack, running_stack
from tests.support.waiting import until

SEED = 7
PREFIX = "groundwire"
MEMORY_FACTOR = 1.5
HOUR = 3600.0
MINUTE = 60.0

CASES: dict[tuple[str, str], Disturbance] = {
    **{("kill -9", str(stage)): killed(stage) for stage in Stage},
    **{("paused", str(stage)): paused(stage) for stage in Stage},
    ("kill -9, its store kept", "nats-server"): killed("bus"),
    ("paused", "nats-server"): paused("bus"),
    **{("kill -9", f"{store} ({SERVERS[store]})"): store_killed(store) for store in SERVERS},
    **{("paused", f"{store} ({SERVERS[store]})"): store_paused(store) for store in SERVERS},
    **{("connections refused", store): store_refusing(store) for store in SERVERS},
    **{("every packet late", store): store_slow(store) for store in SERVERS},
    ("kill -9, both at once", "parser and indexer"): killed("parser", "indexer"),
    ("kill -9, both at once", "gateway and indexer"): killed("gateway", "indexer"),
    ("kill -9, all at once", "services and nats-server"): killed("bus", *map(str, Stage)),
    ("kill -9, three times", "nats-server"): killed_again_and_again("bus"),
    ("kill -9, both at once", "objects and catalog"): store_killed("objects", "catalog"),
    ("kill -9, both at once", "index and graph"): store_killed("index", "graph"),
    ("paused for a minute", "catalog (postgres)"): store_paused("catalog", MINUTE),
    ("disk full", "catalog (postgres)"): disk_full(),
    ("clock an hour ahead, then back", "all services"): clock_steps(HOUR),
    ("clock an hour behind, then back", "all services"): clock_steps(-HOUR),
}
REPLAYED = ("every message again, in another order", "the pipeline")
SAMPLE = (
    ("kill -9", "indexer"),
    ("kill -9, its store kept", "nats-server"),
    ("kill -9", "catalog (postgres)"),
    ("paused", "objects (seaweedfs)"),
    ("connections refused", "index"),
    ("every packet late", "graph"),
)
"""What `make test-stack` runs, with the replayed messages; `make test-chaos` runs all."""

ROWS = [*CASES, REPLAYED]
"""Of the table in `docs/reliability.md`."""
HELD = "nothing lost, nothing twice, artefacts byte-equal, no orphan, no dead letter"


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The library that shifts clocks, and the file that says by how much."""
    folder = tmp_path_factory.mktemp("clock")
    library, offset = folder / "clock.so", folder / "offset"
    source = Path(__file__).parent / "clock.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
    offset.write_text("0")
    return library, offset


@pytest.fixture(scope="module")
def world(
    servers: Servers, places: dict[str, str], disk: Path | None, clock: tuple[Path, Path]
) -> Iterator[World]:
    with relayed(places) as (relays, settings):
        with running_stack(
            **settings,
            GROUNDWIRE_EMBEDDER="seeded",
            GROUNDWIRE_SHARD_OVER_PAGES="1",
            GROUNDWIRE_SHARD_PAGES="1",
            GROUNDWIRE_RETRY_SECONDS="0.3",
            GROUNDWIRE_MAX_RETRY_SECONDS="1",
            GROUNDWIRE_WORLD_RETRIES="200",
            LD_PRELOAD=str(clock[0]),
            CHAOS_CLOCK=str(clock[1]),
        ) as stack:
            yield World(stack, servers, relays, disk, clock[1])


@pytest.fixture(scope="module")
def undisturbed(world: World, places: dict[str, str]) -> dict[str, Outcome]:
    jobs = [send(world.stack, "calm", name) for name in BATCH]
    for job_id in jobs:
        job = wait(world.stack, job_id)
        assert job["state"] == "published", job
    settle(world.stack)
    calm = outcomes(world.stack, places, "calm")
    for outcome in calm.values():
        assert outcome.holdings.vectors == outcome.holdings.search > 0
    return calm


@pytest.fixture(scope="module")
def memory(world: World, undisturbed: dict[str, Outcome]) -> dict[str, int]:
    """Resident bytes of each service, once all have worked."""
    return resident(world.stack)


def resident(stack: Stack) -> dict[str, int]:
    """Resident bytes of each service."""
    pages = {
        name: int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        for name, (pid, _) in stack.services().items()
    }
    return {name: count * 4096 for name, count in pages.items()}


async def pending(stack: Stack) -> int:
    """Messages of the pipeline that somebody has still to acknowledge."""
    client = await nats.connect(stack.bus_url(), connect_timeout=10)
    try:
        js = client.jetstream(timeout=10)
        consumers: list[ConsumerInfo] = await js.consumers_info(stream_name(PREFIX, PIPELINE.name))
        return sum((c.num_pending or 0) + (c.num_ack_pending or 0) for c in consumers)
    finally:
        await client.close()


async def settled(stack: Stack) -> bool:
    """Whether the pipeline has nothing left to do."""
    try:
        return await pending(stack) == 0
    except (nats.errors.Error, OSError, TimeoutError):
        return False


def settle(stack: Stack) -> None:
    """Wait until it has not."""
    asyncio.run(until(lambda: settled(stack), SECONDS, "the end of the pipeline's work"))


def slug(case: tuple[str, str]) -> str:
    """A document id's beginning that names the case."""
    return "-".join("".join(c if c.isalnum() else " " for c in " ".join(case).lower()).split())


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=slug(case), marks=() if case in SAMPLE else pytest.mark.chaos)
        for case in CASES
    ],
)
def test_nothing_is_lost(
    world: World,
    places: dict[str, str],
    undisturbed: dict[str, Outcome],
    memory: dict[str, int],
    case: tuple[str, str],
) -> None:
    if case[0] == "disk full" and world.disk is None:
        pytest.skip("a small disk can be made by root alone")
    table.note(case, "FAILED")
    stack, prefix = world.stack, slug(case)
    order = random.Random(f"{SEED} {prefix}").sample(list(BATCH), len(BATCH))
    first = send(stack, prefix, order[0])
    jobs = {order[0]: first}
    with CASES[case](world):
        try_to_send(stack, prefix, order[1])
    for name in order[1:]:
        jobs[name] = send(stack, prefix, name)
    for name, job_id in jobs.items():
        job = wait(stack, job_id)
        assert job["state"] == "published", f"{name}: {json.dumps(job)}"
    assert_undisturbed(world, places, undisturbed, prefix)
    table.note(case, HELD)


def assert_undisturbed(
    world: World, places: dict[str, str], undisturbed: dict[str, Outcome], prefix: str
) -> None:
    """Artefacts, records of every store, dead letters and queues are those of a calm run."""
    settle(world.stack)
    found = outcomes(world.stack, places, prefix)
    for name in BATCH:
        assert found[name] == undisturbed[name], name
    assert dead_letters(world.stack, prefix) == []


def test_messages_that_come_again_and_out_of_order_change_nothing(
    world: World, places: dict[str, str], undisturbed: dict[str, Outcome]
) -> None:
    table.note(REPLAYED, "FAILED")
    asyncio.run(_replay(world.stack))
    assert_undisturbed(world, places, undisturbed, "again")
    table.note(REPLAYED, HELD)


async def _replay(stack: Stack) -> None:
    """Publish a batch, then everything that its pipeline said once more, shuffled."""
    client = await nats.connect(stack.bus_url())
    heard: list[nats.aio.msg.Msg] = []

    async def keep(message: nats.aio.msg.Msg) -> None:
        heard.append(message)

    for pattern in PIPELINE.subjects:
        await client.subscribe(f"{PREFIX}.{pattern}", cb=keep)
    await client.flush()
    jobs = [await asyncio.to_thread(send, stack, "again", name) for name in BATCH]
    for job_id in jobs:
        assert (await asyncio.to_thread(wait, stack, job_id))["state"] == "published"
    await until(lambda: settled(stack), SECONDS, "the end of the pipeline's work")
    messages = list(heard)
    random.Random(SEED).shuffle(messages)
    for number, message in enumerate(messages):
        headers = {**(message.headers or {}), "Nats-Msg-Id": f"again-{number}"}
        await client.jetstream().publish(message.subject, message.data, headers=headers)
    await client.close()
    assert len(messages) > 6 * len(BATCH)


@pytest.mark.chaos
def test_memory_is_back_at_its_level(world: World, memory: dict[str, int]) -> None:
    """After all that, no service holds much more than when it had worked for the first time."""
    now = resident(world.stack)
    assert {name for name, held in now.items() if held > MEMORY_FACTOR * memory[name]} == set()
