"""The key of a chunk: its revision and its order there, in one integer."""

_ORDER_BITS = 24
MAX_CHUNKS = 1 << _ORDER_BITS


def place_of(revn: int, order: int) -> int:
    """The key of a chunk: revisions one after another, each by order.

    `ValueError` for an order that no chunk can have.
    """
    if not 0 <= order < MAX_CHUNKS:
        raise ValueError(f"{order} is no order of a chunk: at most {MAX_CHUNKS} in a revision")
    return (revn << _ORDER_BITS) + order


def place_parts(place: int) -> tuple[int, int]:
    """(revn, order) of a place."""
    return place >> _ORDER_BITS, place & (MAX_CHUNKS - 1)


def places_of(revn: int) -> tuple[int, int]:
    """The first and the last place of a revision."""
    return place_of(revn, 0), place_of(revn, MAX_CHUNKS - 1)
