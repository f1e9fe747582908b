"""How well the right evidence is found: sets of questions through the running services."""
