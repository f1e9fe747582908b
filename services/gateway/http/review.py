"""Reviewing entries in a spreadsheet: the workbook out, the edited one in, what it changed."""

import asyncio
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from libs.contracts.artefacts.records import ReviewReport
from libs.contracts.entries import EnrichStep, RecordKind, RecordRules, records_document
from libs.contracts.query.entries import ReviewAccepted
from libs.contracts.review import REVIEW_MEDIA_TYPE, ReviewLanguage
from libs.runtime.artefacts import load_chunks, load_json
from services.gateway.admission import Arrival, accept, refuse_when_full
from services.gateway.deps import Deps
from services.gateway.http.collections import Named
from services.gateway.http.documents import UPLOAD
from services.gateway.http.errors import invalid, not_found
from services.gateway.http.guard import GuardedRoute, needs
from services.gateway.http.params import DepsDep, Namespaced, reply
from services.gateway.http.receive import arrival_of
from services.gateway.review import review_workbook
from services.gateway.staging import new_upload_id, staging_key

MOST = 20_000
"""Entries that one workbook holds."""
REPORT = "review.json"
STEPS: list[EnrichStep] = ["describe", "context"]

router = APIRouter(
    prefix="/v1/namespaces/{ns}/collections/{collection}",
    tags=["collections"],
    route_class=GuardedRoute,
)
By = Annotated[str, Query(max_length=128, description="`category`, or a free field: a department")]
Lang = Annotated[ReviewLanguage, Query(description="language of the titles")]


@router.get(
    "/review.xlsx",
    response_class=Response,
    responses={200: {"content": {REVIEW_MEDIA_TYPE: {}}}},
    openapi_extra=needs("reader"),
)
async def get_workbook(
    ns: Namespaced, collection: Named, deps: DepsDep, by: By = "category", lang: Lang = "ko"
) -> Response:
    """The entries as a workbook to be edited: a sheet a category (or department), sample
    questions to strike through or add, keywords, and a column for feedback."""
    active = await deps.stores.catalog.documents.revision(
        ns, records_document("entries", collection)
    )
    if active is None:
        raise not_found("the collection")
    chunks = await load_chunks(deps.stores.objects, active.artefacts["chunks.json"])
    entries = [c.metadata.entry for c in chunks if c.metadata.entry is not None]
    if len(entries) > MOST:
        raise invalid(f"a workbook holds {MOST} entries at most, the collection has more")
    data = await asyncio.to_thread(review_workbook, entries, by, lang)
    name = f'attachment; filename="{collection}-review-{active.revision}.xlsx"'
    return Response(data, media_type=REVIEW_MEDIA_TYPE, headers={"Content-Disposition": name})


@router.post(
    "/review",
    status_code=202,
    response_model=ReviewAccepted,
    openapi_extra=needs("writer", **UPLOAD),
)
async def send_review(
    request: Request, ns: Namespaced, collection: Named, deps: DepsDep
) -> Response:
    """Send the edited workbook. Struck questions are taken out, new ones are marked as people's,
    keywords are united, and entries with new feedback are described anew where a model is
    configured; the questions that stand join the query index."""
    await refuse_when_full(deps, ns)
    async with arrival_of(request, ns, deps) as arrival:
        if arrival.document_id is not None:
            raise invalid("document_id: the collection names the document")
        entries = _as(arrival, collection, "entries")
        questions = _as(arrival, collection, "questions")
        second = staging_key(ns, new_upload_id())
        copied = arrival.staged
        if arrival.body is None:
            copied = await deps.stores.objects.copy(arrival.staged.key, second)
        accepted = await accept(deps, entries)
        try:
            asked = await accept(deps, replace(questions, staged=copied))
        except BaseException:
            await deps.stores.objects.delete([second])
            raise
    return reply(ReviewAccepted(entries=accepted, questions=asked), 202)


@router.get("/review", response_model=ReviewReport, openapi_extra=needs("reader"))
async def get_report(ns: Namespaced, collection: Named, deps: DepsDep) -> Response:
    """What the review that made the active revision changed."""
    return reply(await _report(deps, ns, collection))


async def _report(deps: Deps, namespace: str, collection: str) -> ReviewReport:
    active = await deps.stores.catalog.documents.revision(
        namespace, records_document("entries", collection)
    )
    if active is None or REPORT not in active.artefacts:
        raise not_found("a review of the active revision")
    return await load_json(deps.stores.objects, active.artefacts[REPORT], ReviewReport)


def _as(arrival: Arrival, collection: str, kind: RecordKind) -> Arrival:
    """The same file as records of this kind; a key for repeating the call is one for each."""
    rules = RecordRules(kind=kind, review=True, enrich=STEPS if kind == "entries" else [])
    options = arrival.options.model_copy(
        update={"collection": collection, "records": rules, "wait_for_dense": True}
    )
    identity = None if arrival.identity is None else f"{arrival.identity}:{kind}"
    document_id = records_document(kind, collection)
    return replace(arrival, options=options, identity=identity, document_id=document_id, anew=True)
