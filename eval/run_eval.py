"""Measure retrieval: `python eval/run_eval.py --config eval/dev_config.yaml`; see `--help`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from eval.retrieval.cli import main

    sys.exit(main(sys.argv[1:]))
