"""The graph's tables, in the catalog's database."""

from sqlalchemy import Column, Float, Index, String, Table, Text

from libs.runtime.catalog.sql.schema import metadata
from libs.runtime.catalog.sql.types import AnyString, Counter

graph_node = Table(
    "graph_node",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("revn", Counter, primary_key=True, autoincrement=False),
    Column("document_id", String, nullable=False),
    Column("keywords", Text, nullable=False),
    sqlite_with_rowid=False,
)

graph_keyword = Table(
    "graph_keyword",
    metadata,
    Column("namespace", String, primary_key=True),
    Column("keyword", AnyString, primary_key=True),
    Column("revn", Counter, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

graph_edge = Table(
    "graph_edge",
    metadata,
    Column("revn_a", Counter, primary_key=True, autoincrement=False),
    Column("revn_b", Counter, primary_key=True, autoincrement=False),
    Column("namespace", String, primary_key=True),
    Column("score", Float, nullable=False),
    Column("shared", Text, nullable=False),
    Index(None, "revn_b"),
    sqlite_with_rowid=False,
)
