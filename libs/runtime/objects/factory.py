"""Chooses the object store by the scheme of its URL."""

from pathlib import Path

from libs.runtime.objects.port import ObjectStore


def open_objects(url: str) -> ObjectStore:
    """`file:<path>`; anything else is a `ValueError` that names the choices."""
    scheme, _, rest = url.partition(":")
    if scheme == "file" and rest:
        from libs.runtime.objects.file import FileObjectStore

        return FileObjectStore(Path(rest.removeprefix("//")))
    raise ValueError(f"GROUNDWIRE_OBJECTS_URL is {url!r}: use file:<path>")
