"""How stated and inferred metadata of a document meet."""

from typing import Any

from pydantic import ValidationError

from libs.contracts.api.ingest import DocumentMetadata


def overlaid(base: DocumentMetadata, stated: DocumentMetadata) -> DocumentMetadata:
    """`base` with every field that `stated` states."""
    said = {name: value for name, value in stated.model_dump().items() if value not in (None, [])}
    return base.model_copy(update=said)


def effective(stated: DocumentMetadata, inferred: dict[str, Any]) -> DocumentMetadata:
    """What filters see: the stated fields, and inferred values for those left open.

    Inferred values that are no metadata, or not of the field's type, are left out.
    """
    fields = {}
    for name, value in stated.model_dump().items():
        if value in (None, []) and inferred.get(name) is not None:
            try:
                checked = DocumentMetadata.model_validate({name: inferred[name]})
            except ValidationError:
                continue
            fields[name] = getattr(checked, name)
    return stated.model_copy(update=fields)
