"""Pages of listings that the catalog gives whole: revisions, keys, namespaces."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from services.gateway.http.errors import invalid

T = TypeVar("T")


def page_of(
    items: Sequence[T], token: Callable[[T], str], cursor: str | None, limit: int
) -> tuple[list[T], str | None]:
    """At most `limit` items after the one whose token is `cursor`, and the next cursor.

    Raises 422 for a cursor that this listing did not give.
    """
    start = 0
    if cursor is not None:
        start = next((at for at, item in enumerate(items, 1) if token(item) == cursor), 0)
        if not start:
            raise invalid("cursor: give the `next_cursor` of a page of this listing")
    page = list(items[start : start + limit])
    return page, token(page[-1]) if start + limit < len(items) else None
