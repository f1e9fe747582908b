"""What the planner answers and records."""

from nats.aio.msg import Msg

from libs.contracts.api.search import PlanQuery, SearchResponse
from libs.contracts.query.entries import FindQuery, FoundEntries
from services.planner.entries import Finder
from services.planner.recorder import Recorder
from services.planner.workflow import Workflow


async def on_plan(workflow: Workflow, query: PlanQuery) -> SearchResponse:
    """Answer a query with evidence."""
    return await workflow.answer(query)


async def on_find(finder: Finder, query: FindQuery) -> FoundEntries:
    """Search the entries of a collection."""
    return await finder.find(query)


async def on_search_ran(recorder: Recorder, message: Msg) -> None:
    """Store a run, in a batch."""
    await recorder.take(message)
