"""How a command that takes long shows its steps."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Tell = Callable[[str, int, int], None]
"""Called with a step, how much of it is done, and of how much."""


@contextmanager
def shown_steps() -> Iterator[Tell]:
    """A bar for each step on a terminal's standard error, a line for each elsewhere."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<32}"), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total)
            progress.update(tasks[step], completed=done, total=total)
            if done == total and not console.is_terminal:
                print(f"{step} {done}/{total}", file=sys.stderr)

        yield tell
