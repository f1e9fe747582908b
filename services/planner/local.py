"""The planner's analysis without bus and stores, for the command line."""

from pathlib import Path

from libs.contracts.query.analysis import QueryAnalysis
from services.planner.analysis.rules import RulesAnalyzer
from services.planner.analysis.taxonomy import DEFAULT, load_taxonomy
from services.planner.analysis.terms import load_terms


def analyzer(taxonomy: Path | None = None) -> RulesAnalyzer:
    """The rules analyzer with the packaged term table, and the packaged taxonomy or another;
    one that cannot be used raises a `CallerFault`."""
    return RulesAnalyzer(load_taxonomy(taxonomy or DEFAULT), load_terms())


def analyse_query(query: str, taxonomy: Path | None = None) -> QueryAnalysis:
    """What the query is understood to ask for."""
    return analyzer(taxonomy).analyze(query)
