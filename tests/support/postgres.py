"""Databases for tests on a real Postgres: copies of one that is migrated once."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg

from deploy.stack.running import Running
from libs.runtime.catalog.sql import upgrade

_templates: dict[int, str] = {}


def url_of(server: Running, database: str) -> str:
    """The URL of a database of the server, its password included."""
    plain = server.settings["GROUNDWIRE_CATALOG_URL"].rpartition("/")[0]
    password = server.settings["GROUNDWIRE_CATALOG_PASSWORD"]
    return f"{plain.replace('@', f':{password}@')}/{database}"


@contextmanager
def empty_database(server: Running, template: str = "template0") -> Iterator[str]:
    """A database of the test's own; dropped afterwards, whoever is still connected."""
    name = f"test_{secrets.token_hex(8)}"
    with psycopg.connect(url_of(server, "postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    try:
        yield url_of(server, name)
    finally:
        with psycopg.connect(url_of(server, "postgres"), autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


async def migrated_template(server: Running) -> str:
    """The name of a database with all tables and no rows; made once a server."""
    if server.pid not in _templates:
        name = f"template_{secrets.token_hex(8)}"
        with psycopg.connect(url_of(server, "postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"')
        await upgrade(url_of(server, name))
        _templates[server.pid] = name
    return _templates[server.pid]
