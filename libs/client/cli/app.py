"""The command line put together: remote commands here, others join by entry point."""

from importlib.metadata import entry_points
from typing import Annotated

import typer

from libs.client.cli import (
    admin,
    documents,
    entries,
    ingest,
    jobs,
    letters,
    mcp,
    pauses,
    reprocess,
    search,
    verify,
)
from libs.client.cli.shared import Target

JOINING = "groundwire.commands"


def root(
    context: typer.Context,
    url: Annotated[str | None, typer.Option(help="address of the service")] = None,
    key: Annotated[str | None, typer.Option(help="API key", show_default=False)] = None,
    namespace: Annotated[str | None, typer.Option(help="namespace to work in")] = None,
) -> None:
    """Documents in, cited evidence out.

    Address, key and namespace come from the options, from GROUNDWIRE_URL,
    GROUNDWIRE_API_KEY and GROUNDWIRE_NAMESPACE, or from the stack started on this machine:
    the one of this folder, or of the folder that GROUNDWIRE_DATA_DIR names.

    Exit codes: 0 done, 1 refused or failed, 2 wrong use, 3 nobody answers.
    """
    context.obj = Target(url, key, namespace)


def build() -> typer.Typer:
    """The whole command line."""
    app = typer.Typer(
        name="groundwire",
        no_args_is_help=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(root)
    asking = (ingest, search, verify, entries, documents, jobs)
    for module in (*asking, letters, reprocess, pauses, admin, mcp):
        module.register(app)
    for entry in entry_points(group=JOINING):
        entry.load()(app)
    return app


if __name__ == "__main__":
    build()()
