"""The planner: wiring only."""

from functools import partial

from libs.contracts.api.search import PlanQuery
from libs.contracts.query.entries import FindQuery
from libs.contracts.subjects import QUERY_FIND, QUERY_PLAN, RECORD, Stage
from libs.runtime.service import Service, require, run
from services.planner.agentic.mode import agentic_mode
from services.planner.entries import finder_of
from services.planner.handlers import on_find, on_plan, on_search_ran
from services.planner.recorder import BATCH, Recorder
from services.planner.settings import Settings
from services.planner.workflow import IN_HAND, workflow_of


def build(service: Service) -> None:
    """Wire the service."""
    stores, settings, bus = service.stores, service.settings, service.bus
    assert isinstance(settings, Settings)
    agentic = agentic_mode(bus, stores.catalog.runs, settings.models_dir())
    workflow = workflow_of(bus, stores, settings, agentic)
    recorder = Recorder(bus, stores.catalog.runs, stores.objects, settings.planner_record_seconds)
    service.answer(QUERY_PLAN, PlanQuery, partial(on_plan, workflow), workers=4 * IN_HAND)
    find = partial(on_find, finder_of(service, settings))
    service.answer(QUERY_FIND, FindQuery, find, workers=IN_HAND)
    service.subscribe(RECORD, partial(on_search_ran, recorder), batch=BATCH)
    service.every(3600.0, lambda: recorder.expire(settings.planner_run_days), "expire runs")
    service.soon(workflow.warm_up, "load what queries are read and counted with")
    service.on_stop(workflow.finish)
    require(service, "catalog", "objects")


def main() -> None:
    """Run the planner."""
    run(Stage.PLANNER, Settings, build)


if __name__ == "__main__":
    main()
