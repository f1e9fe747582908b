"""Bounded waits on conditions.

The bounds are for what never comes: a test that passes waits no longer than it must, and one on a
busy machine may. A test that asserts how long something takes says so with a bound of its own.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

PATIENCE = 120.0
"""Seconds that no step of a test takes, however slow and busy the machine."""

_PAUSE_SECONDS = 0.02


async def until(
    condition: Callable[[], Any], seconds: float = PATIENCE, what: str = "the condition"
) -> Any:
    """Wait, bounded, until `condition()` (sync or async) is truthy; returns its value."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if asyncio.iscoroutine(value):
            value = await value
        if value:
            return value
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
        await asyncio.sleep(_PAUSE_SECONDS)


def wait_until(
    condition: Callable[[], Any], seconds: float = PATIENCE, what: str = "the condition"
) -> Any:
    """The same for a test that is no coroutine."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"{what} did not come within {seconds:g} s"
        time.sleep(_PAUSE_SECONDS)
    return value
