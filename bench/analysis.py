"""Query analysis by rules: CPU time of one query."""

import time

from bench.measure import Figure, Report, percentile, spread
from services.planner.analysis.rules import RulesAnalyzer
from services.planner.analysis.taxonomy import load_taxonomy
from services.planner.analysis.terms import load_terms

QUERIES = (
    "산업안전보건법 제12조의2에 따른 사업주의 의무는?",
    "2023년 매출액과 2022년 매출액을 비교해 줘",
    "Which safety regulation applies to scaffolding above five metres?",
    '"annual report" revenue pdf 2021',
    "How do Germany and France differ in their pension systems?",
    "pump manual",
)
ROUNDS = 200


def run(report: Report) -> None:
    """Each query `ROUNDS` times, after one round to warm up."""
    analyzer = RulesAnalyzer(load_taxonomy(), load_terms())
    taken = []
    for turn in range(ROUNDS + 1):
        for query in QUERIES:
            started = time.thread_time()
            analyzer.analyze(query)
            if turn:
                taken.append(1000 * (time.thread_time() - started))
    report.add(
        Figure(
            "query analysis by rules, CPU p50 / p95",
            spread(taken),
            "2 ms",
            percentile(taken, 0.95) / 2,
            "<= 1",
        )
    )
