"""How a query is understood: by rules, and by models in their place where there are any."""

import asyncio
import time
from dataclasses import dataclass

from libs.contracts.api.search import PlanQuery
from libs.contracts.query.plan import RetrievalPlan
from libs.runtime.models.budget import Budget
from libs.runtime.models.factory import open_model
from libs.runtime.models.port import Model
from libs.runtime.models.use import ModelUse
from services.planner.agentic.rules import plan
from services.planner.analysis.model import Analyzer
from services.planner.analysis.planning import ModelPlanner
from services.planner.answered import Understood
from services.planner.local import analyzer
from services.planner.settings import Settings

MODEL_SHARE = 0.5
"""Of a query's tokens and time, what understanding it may cost; the rest is for evidence."""


@dataclass
class Understanding:
    """Without an `analyzer` a query is searched as it stands."""

    analyzer: Analyzer | None = None
    planner: ModelPlanner | None = None

    @property
    def fingerprint(self) -> str:
        """What it depends on, for the keys of cached answers."""
        parts = (self.analyzer, self.planner)
        return ":".join(part.fingerprint if part else "" for part in parts)

    async def warm_up(self) -> None:
        """Load what models are asked with, so that the first query does not wait for it."""
        for model in self._models():
            await model.warm_up()

    async def close(self) -> None:
        """Release connections."""
        for model in self._models():
            await model.close()

    def _models(self) -> list[Model]:
        models = [part.model for part in (self.analyzer, self.planner) if part is not None]
        return [model for model in models if model is not None]

    async def of(self, query: PlanQuery, started: float) -> Understood:
        """The query as it is understood; `started` is `time.perf_counter()` at its arrival."""
        began = time.perf_counter()
        limit = query.request.budget
        seconds = MODEL_SHARE * limit.milliseconds / 1000 - (began - started)
        budget = Budget(tokens=round(MODEL_SHARE * limit.tokens))
        text = query.request.query
        if self.analyzer is None:
            plan_alone = await self._planned(query, seconds, budget)
            return Understood(plan=plan_alone, tokens=budget.tokens_spent)
        analysing = self.analyzer.analyse(text, seconds, budget)
        if self.planner is None:
            done, steps = await analysing, None
        else:
            done, steps = await asyncio.gather(analysing, self._planned(query, seconds, budget))
        taken = 1000 * (time.perf_counter() - began)
        return Understood(done.analysis, taken, steps, budget.tokens_spent, done.made_by)

    async def _planned(
        self, query: PlanQuery, seconds: float, budget: Budget
    ) -> RetrievalPlan | None:
        """A model's plan for an agentic query; None where rules are to make one."""
        if self.planner is None or query.request.mode != "agentic":
            return None
        text = query.request.query
        return await self.planner.plan(text, plan(text), seconds, budget)


def understanding_of(settings: Settings) -> Understanding:
    """As the settings want it."""
    seconds = settings.planner_model_seconds
    found: Analyzer | None = None
    if settings.planner_analysis:
        rules = analyzer(settings.planner_taxonomy)
        found = Analyzer(rules, open_model(ModelUse.ANALYZE, settings), seconds)
    model = open_model(ModelUse.PLAN, settings)
    return Understanding(found, None if model is None else ModelPlanner(model, seconds))
