"""Run by Alembic: migrates over the connection, and within the transaction, of the caller."""

from alembic import context

from libs.runtime.catalog.sql.graph_schema import graph_node

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=graph_node.metadata,
    render_as_batch=True,
    transactional_ddl=False,
)
context.run_migrations()
