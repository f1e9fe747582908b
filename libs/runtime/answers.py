"""Where cached answers lie, and how those of a namespace are forgotten."""

from libs.runtime.bus import Bus
from libs.runtime.streams import bucket_name

BUCKET = "searches"


def answer_key(namespace: str, digest: str) -> str:
    """The key of an answer in the bucket: answers of one namespace share a subject."""
    return f"{namespace}.{digest}"


async def forget_answers(bus: Bus, namespace: str) -> None:
    """Remove every cached answer of a namespace, with its text."""
    bucket = bucket_name(bus.prefix, BUCKET)
    await bus.js.purge_stream(f"KV_{bucket}", subject=f"$KV.{bucket}.{namespace}.>")
