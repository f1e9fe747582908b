"""The catalog over one SQL database."""

from sqlalchemy import Connection, select

from libs.runtime.catalog.sql.audit import SqlAudit
from libs.runtime.catalog.sql.choice import open_database
from libs.runtime.catalog.sql.chunks import SqlChunks
from libs.runtime.catalog.sql.corpus import SqlCorpus
from libs.runtime.catalog.sql.database import Database
from libs.runtime.catalog.sql.documents import SqlDocuments
from libs.runtime.catalog.sql.jobs import SqlJobs
from libs.runtime.catalog.sql.keys import SqlKeys
from libs.runtime.catalog.sql.runs import SqlRuns
from libs.runtime.catalog.sql.schema import namespace


def open_catalog(url: str, password: str | None = None) -> "SqlCatalog":
    """The catalog at `sqlite:<path>` or `postgresql://…`; else `ValueError` with the choices.

    Nothing is opened before the first call; the schema comes from `upgrade`.
    """
    return SqlCatalog(open_database(url, password))


def _ping(connection: Connection) -> None:
    connection.execute(select(namespace.c.name).limit(1)).all()


class SqlCatalog:
    """The seven parts, and the `database` that they share with the graph tables."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.keys = SqlKeys(database)
        self.documents = SqlDocuments(database)
        self.jobs = SqlJobs(database)
        self.chunks = SqlChunks(database)
        self.runs = SqlRuns(database)
        self.corpus = SqlCorpus(database)
        self.audit = SqlAudit(database)

    async def ping(self) -> None:
        """See the port."""
        await self.database.read(_ping)

    async def close(self) -> None:
        """See the port; a second time does nothing."""
        await self.database.close()
