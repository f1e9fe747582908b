"""How a query is understood (analysis) and which steps gather its evidence (plan)."""
