"""A minimal OpenDocument writer, for documents inside documents as well."""

import io
import zipfile

_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{path}:1.0"'
    for name, path in (
        ("office", "office"),
        ("text", "text"),
        ("table", "table"),
        ("draw", "drawing"),
        ("presentation", "presentation"),
    )
)


def write_odf(
    content: str, kind: str, *, objects: dict[str, tuple[str, str]] | None = None
) -> bytes:
    """A package of `kind` (`text`, `spreadsheet`) whose body is `content`.

    `objects` are documents inside: kind and content by the name of their folder.
    """
    parts = {"": (kind, content)} | {f"{name}/": made for name, made in (objects or {}).items()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", _mime(kind))
        entries = "".join(_entries(folder, own) for folder, (own, _) in parts.items())
        archive.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:'
            f'manifest:1.0">{entries}</manifest:manifest>',
        )
        for folder, (_, body) in parts.items():
            archive.writestr(
                f"{folder}content.xml",
                f'<office:document-content {_SPACES} office:version="1.2"><office:body>{body}'
                "</office:body></office:document-content>",
            )
    return out.getvalue()


def _mime(kind: str) -> str:
    return f"application/vnd.oasis.opendocument.{kind}"


def _entries(folder: str, kind: str) -> str:
    entry = '<manifest:file-entry manifest:full-path="{}" manifest:media-type="{}"/>'
    return entry.format(folder or "/", _mime(kind)) + entry.format(
        f"{folder}content.xml", "text/xml"
    )
