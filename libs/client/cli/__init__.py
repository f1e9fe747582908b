"""The `groundwire` command line."""


def main() -> None:
    """Entry point of the command."""
    from libs.client.cli.app import build

    build()()
