"""Column types that read the same from every database."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import BigInteger, Column, ColumnElement, DateTime, Integer, String, or_
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from libs.contracts.events.base import now

AHEAD = timedelta(minutes=5)
"""Two machines' clocks may differ by less."""

Counter = BigInteger().with_variant(Integer, "sqlite")


class UtcDateTime(TypeDecorator[datetime]):
    """An aware UTC datetime, also where the database knows no time zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; without its zone for SQLite, whose text would otherwise not sort."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Always aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class AnyString(TypeDecorator[str]):
    """Text that may hold NUL, which Postgres' text cannot: there it is written as escapes."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """NUL and the escape sign itself as two characters each."""
        if value is None or dialect.name != "postgresql":
            return value
        return value.replace("\x1a", "\x1a\x1a").replace("\0", "\x1a0")

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        """As it was given."""
        if value is None or dialect.name != "postgresql" or "\x1a" not in value:
            return value
        parts = value.split("\x1a\x1a")
        return "\x1a".join(part.replace("\x1a0", "\0") for part in parts)


def overdue(moment: Column[datetime], seconds: float) -> ColumnElement[bool]:
    """Whether a moment was so long ago, or lies ahead: that one was written by a clock that was
    off, and would be overdue only when as much time has passed as the clock was off by."""
    present = now()
    return or_(moment <= present - timedelta(seconds=seconds), moment > present + AHEAD)
