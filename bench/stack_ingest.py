"""A thousand small documents on the real servers: how many a second, what each stage takes of a
document, and where they queue up."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import httpx

from bench.measure import Figure, Report
from bench.pipeline import cpu_by_service, send
from bench.start import cpu
from tests.support.servers import STORES, Servers, own_places
from tests.support.stack import Stack, running_stack

DOCUMENTS = 1_000
SENDERS = 4
WARM_UP = 20
LOOK_SECONDS = 1.0
PATIENCE = 900.0


class Queues:
    """Looks now and then how many messages wait for each durable, and how many jobs."""

    def __init__(self, stack: Stack) -> None:
        self._stack = stack
        self._end = threading.Event()
        self._looks = 0
        self._sums: Counter[str] = Counter()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Queues":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def longest(self, many: int) -> str:
        """The durables with the longest queues, by their mean length."""
        means = {name: total / max(1, self._looks) for name, total in self._sums.items()}
        most = sorted(means.items(), key=lambda one: -one[1])[:many]
        return ", ".join(f"{name} {mean:.1f}" for name, mean in most if mean >= 0.05)

    def _watch(self) -> None:
        with httpx.Client(timeout=30) as client:
            while not self._end.wait(LOOK_SECONDS):
                text = client.get(f"{self._stack.url}/metrics").text
                self._looks += 1
                for line in text.splitlines():
                    if line.startswith("groundwire_consumer_pending{"):
                        name = line.split('consumer="')[1].split('"')[0]
                        self._sums[name] += float(line.rsplit(" ", 1)[1])


def batch(stack: Stack, numbers: range) -> tuple[float, float]:
    """Seconds until all are accepted, and until all are published."""
    started = time.perf_counter()

    def send_some(first: int) -> None:
        with stack.client() as client:
            for number in numbers[first::SENDERS]:
                send(client, stack, "stack", number)

    with ThreadPoolExecutor(SENDERS) as senders:
        list(senders.map(send_some, range(SENDERS)))
    accepted = time.perf_counter() - started
    with stack.client() as client:
        while True:
            counts = client.get("/v1/usage").json()["items"][0]["jobs"]
            assert not counts["failed"], counts
            if not counts["waiting"] + counts["running"]:
                return accepted, time.perf_counter() - started
            assert time.perf_counter() - started < PATIENCE, counts
            time.sleep(0.2)


def metrics(stack: Stack) -> dict[str, list[str]]:
    """By service: the lines of its metrics."""
    return {
        name: httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=30).text.splitlines()
        for name, (_, port) in stack.services().items()
    }


def store_calls(stack: Stack) -> Counter[tuple[str, str]]:
    """By service and store: calls so far."""
    found: Counter[tuple[str, str]] = Counter()
    for service, lines in metrics(stack).items():
        for line in lines:
            if line.startswith("groundwire_store_seconds_count{"):
                store = line.split('store="')[1].split('"')[0]
                found[service, store.partition(".")[0]] += round(float(line.rsplit(" ", 1)[1]))
    return found


def message_seconds(stack: Stack) -> dict[str, tuple[float, float]]:
    """By consumer: seconds of work and messages, of all services."""
    found: dict[str, tuple[float, float]] = {}
    for lines in metrics(stack).values():
        sums, counts = {}, {}
        for line in lines:
            for name, kept in (("sum", sums), ("count", counts)):
                if line.startswith(f"groundwire_message_seconds_{name}{{"):
                    kept[line.split('consumer="')[1].split('"')[0]] = float(line.rsplit(" ", 1)[1])
        found |= {name: (sums[name], counts[name]) for name in sums}
    return found


def run(report: Report, servers: Servers) -> None:
    """The batch, after some documents to warm up; without embedding, which follows a publish."""
    with (
        own_places(servers) as places,
        running_stack(GROUNDWIRE_EMBEDDER="none", **places) as stack,
    ):
        batch(stack, range(WARM_UP))
        used = {name: cpu(servers[name].pid) for name in STORES}
        services, took = cpu_by_service(stack), message_seconds(stack)
        calls = store_calls(stack)
        with Queues(stack) as queues:
            accepted, published = batch(stack, range(1000, 1000 + DOCUMENTS))
        services = {n: s - services[n] for n, s in cpu_by_service(stack).items()}
        used = {name: cpu(servers[name].pid) - before for name, before in used.items()}
        after = message_seconds(stack)
        calls = store_calls(stack) - calls
    report.add(
        Figure(
            f"{DOCUMENTS:,} small documents on the servers",
            f"{DOCUMENTS / published:.1f}/s",
            f"{DOCUMENTS / accepted:.1f}/s accepted",
        )
    )
    for part, spent in (("services", services), ("servers", used)):
        told = " ".join(f"{n} {1000 * s / DOCUMENTS:.0f}" for n, s in sorted(spent.items()))
        report.add(Figure(f"CPU ms a document, {part}", told))
    for name in sorted({service for service, _ in calls}):
        told = " ".join(
            f"{s} {n / DOCUMENTS:.1f}" for (of, s), n in sorted(calls.items()) if of == name
        )
        report.add(Figure(f"store calls a document, {name}", told))
    busy = sum(services.values()) + sum(used.values())
    report.add(Figure("cores busy, services and servers", f"{busy / published:.2f}"))
    for name in sorted(after):
        seconds, count = took.get(name, (0.0, 0.0))
        spent, more = after[name][0] - seconds, after[name][1] - count
        if more:
            report.add(Figure(f"time of a message, {name}", f"{1000 * spent / more:.0f} ms"))
    report.add(Figure("longest queues, messages on average", queues.longest(3)))
