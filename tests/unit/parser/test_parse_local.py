"""One file without bus and stores, as the command line does it: in a process of its own."""

import json
import subprocess
import sys
from pathlib import Path

from tests.support import documents
from tests.support.waiting import PATIENCE

SCRIPT = """
import json, sys
from pathlib import Path
from libs.contracts.faults import Fault
from services.parser.local import parse_file
from services.profiler.local import profile_path
try:
    path = Path(sys.argv[1])
    profile = profile_path(path)
    rows, diagnostics = parse_file(path, profile, assets=Path(sys.argv[2]))
    print(json.dumps({"format": profile.format, "pages": profile.page_count,
        "rows": [[r.kind, r.text, r.asset] for r in rows], "engine": diagnostics.engine}))
except Fault as fault:
    print(json.dumps({"code": fault.code, "detail": fault.detail}))
"""


def run(tmp_path: Path, name: str, data: bytes) -> dict[str, object]:
    (tmp_path / name).write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name, "assets"],
        capture_output=True, cwd=tmp_path, check=True, timeout=PATIENCE,
    )  # fmt: skip
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_a_file_is_profiled_and_parsed(tmp_path: Path) -> None:
    seen = run(tmp_path, "turbine.pdf", documents.manual_pdf())
    assert (seen["format"], seen["pages"], seen["engine"]) == ("pdf", 2, "liteparse")
    assert ["heading", "1 Commissioning", None] in seen["rows"]


def test_its_images_are_kept_where_asked(tmp_path: Path) -> None:
    seen = run(tmp_path, "sign.png", documents.png())
    (name,) = [r[2] for r in seen["rows"] if r[2]]
    assert (tmp_path / "assets" / name).read_bytes().startswith(b"\x89PNG")


def test_a_bad_file_is_a_fault_with_a_sentence(tmp_path: Path) -> None:
    seen = run(tmp_path, "broken.docx", documents.docx()[:1500])
    assert seen["code"] == "unreadable"
