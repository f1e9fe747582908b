"""Documents that the service fetches itself, from hosts that its operator allows."""

import uuid

from libs.client.calls import Call, as_model, given, space
from libs.contracts.api.documents import Accepted
from libs.contracts.api.ingest import IngestOptions


def ingest_url(
    namespace: str,
    url: str,
    *,
    file_name: str | None,
    document_id: str | None,
    options: IngestOptions | None,
) -> Call[Accepted]:
    """Have a document fetched and taken."""
    body = given(
        url=url,
        file_name=file_name,
        document_id=document_id,
        options=options.model_dump(mode="json", exclude_defaults=True) if options else None,
    )
    return Call(
        "POST",
        space(namespace, "documents"),
        as_model(Accepted),
        json=body,
        headers={"Idempotency-Key": uuid.uuid4().hex},
    )
