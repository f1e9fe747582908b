"""Folders of a run of tests are gone after it, however it ended."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deploy.local.house import ROOT
from tests.support.folders import mounted_below, run_folder

HOLDS = """
import sys
from pathlib import Path
from tests.support.folders import run_folder
with run_folder("other", Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path: Path) -> "subprocess.Popen[str]":
    """Another run, which holds a folder until its input ends."""
    return subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def folder_of(other: "subprocess.Popen[str]") -> Path:
    assert other.stdout is not None
    return Path(other.stdout.readline().strip())


def test_what_a_killed_run_left_is_removed_by_the_next(
    other: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    left = folder_of(other)
    (left / "file").write_text("left behind")
    with run_folder("next", tmp_path) as folder:
        assert (left / "file").exists()
    assert not folder.exists()
    other.kill()
    other.communicate()
    with run_folder("next", tmp_path):
        assert not left.exists()


def test_what_is_mounted_in_it_goes_as_well(other: "subprocess.Popen[str]", tmp_path: Path) -> None:
    left = folder_of(other)
    disk = left / "disk"
    disk.mkdir()
    other.kill()
    other.communicate()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("only who may mount leaves mounts behind")
    assert mounted_below(left) == [disk]
    with run_folder("next", tmp_path):
        assert not left.exists()
    assert mounted_below(tmp_path) == []
