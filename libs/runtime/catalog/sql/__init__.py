"""The catalog in a SQL database: SQLite here, by operations that speak no dialect."""

from libs.runtime.catalog.sql.catalog import SqlCatalog, open_catalog
from libs.runtime.catalog.sql.upgrade import upgrade

__all__ = ["SqlCatalog", "open_catalog", "upgrade"]
