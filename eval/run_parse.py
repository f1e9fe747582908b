"""Measure the parser: `python eval/run_parse.py --data DIR [--out DIR]`; see `--help`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parent.parent)
    from eval.parsing.cli import main

    sys.exit(main(sys.argv[1:]))
