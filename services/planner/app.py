"""The planner: wiring only."""

from functools import partial

from libs.contracts.api.search import PlanQuery
from libs.contracts.subjects import QUERY_PLAN, RECORD, Stage
from libs.runtime.service import Service, run
from services.planner.agentic.mode import agentic_mode
from services.planner.cache import answer_cache
from services.planner.handlers import on_plan, on_search_ran
from services.planner.local import analyzer
from services.planner.recorder import BATCH, Recorder
from services.planner.settings import Settings
from services.planner.workflow import IN_HAND, Workflow


def build(service: Service) -> None:
    """Wire the service."""
    stores, settings, bus = service.stores, service.settings, service.bus
    assert isinstance(settings, Settings)
    cache = answer_cache(bus) if settings.planner_cache else None
    agentic = agentic_mode(bus, stores.catalog.runs, settings.models_dir())
    workflow = Workflow(bus, stores.catalog.documents, cache, f"1:{settings.embedder}", agentic)
    recorder = Recorder(bus, stores.catalog.runs, stores.objects, settings.planner_record_seconds)
    workflow.analyzer = analyzer(settings.planner_taxonomy) if settings.planner_analysis else None
    service.answer(QUERY_PLAN, PlanQuery, partial(on_plan, workflow), workers=4 * IN_HAND)
    service.subscribe(RECORD, partial(on_search_ran, recorder), batch=BATCH)
    service.every(3600.0, lambda: recorder.expire(settings.planner_run_days), "expire runs")
    service.soon(agentic.warm_up, "load the tokeniser")
    service.on_stop(workflow.finish)
    service.on_ready("catalog", stores.catalog.ping)


def main() -> None:
    """Run the planner."""
    run(Stage.PLANNER, Settings, build)


if __name__ == "__main__":
    main()
