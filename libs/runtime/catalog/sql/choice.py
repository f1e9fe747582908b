"""Chooses the catalog's database by the scheme of its URL."""

from libs.runtime.catalog.sql.database import Database
from libs.runtime.catalog.sql.sqlite import SqliteDatabase, sqlite_path

CHOICES = "sqlite:<path> or postgresql://<user>@<host>/<database>"


def is_postgres(url: str) -> bool:
    """Whether a URL names a database on Postgres."""
    return url.startswith("postgresql:")


def unknown(url: str) -> ValueError:
    """The refusal of a URL, without the password that it may hold."""
    return ValueError(f"no catalog for the scheme {url.partition(':')[0]!r}: use {CHOICES}")


def open_database(url: str, password: str | None = None) -> Database:
    """The database at `url`; nothing is opened before the first call.

    `password` goes before one in the URL. Raises `ValueError` with the choices.
    """
    if is_postgres(url):
        from libs.runtime.catalog.sql.postgres import PostgresDatabase

        return PostgresDatabase(url, password)
    path = sqlite_path(url)
    if path is None:
        raise unknown(url)
    return SqliteDatabase(path)
