"""Long documents with page truth, made on the spot: `python -m eval.pages --help`."""
