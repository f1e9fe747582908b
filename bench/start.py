"""Start to healthy, beside importing what all services import once; memory by service."""

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from bench.measure import Figure, Report
from tests.support.documents import MARKDOWN
from tests.support.stack import running_stack

IMPORTS = "from deploy.local.preload import preload; preload()"


def children_cpu() -> float:
    """CPU seconds of children that have been waited for."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def import_seconds() -> tuple[float, float]:
    """CPU and wall seconds of importing what all services import, once."""
    before, started = children_cpu(), time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORTS], check=True)
    return children_cpu() - before, time.perf_counter() - started


def memory(pid: int) -> tuple[float, float]:
    """Resident and proportional set size in MB, with all descendants."""
    rss = pss = 0.0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        fields = line.split()
        if fields[0] == "Rss:":
            rss = int(fields[1]) / 1024
        elif fields[0] == "Pss:":
            pss = int(fields[1]) / 1024
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        more_rss, more_pss = memory(int(child))
        rss, pss = rss + more_rss, pss + more_pss
    return rss, pss


def cpu(pid: int) -> float:
    """CPU seconds of a process and its living and reaped children."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    ticks = sum(int(fields[i]) for i in (11, 12, 13, 14))
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return ticks / os.sysconf("SC_CLK_TCK") + sum(cpu(int(child)) for child in below)


def run(report: Report) -> None:
    """A second start, with the packaged embedder; memory after one document and one query."""
    with running_stack() as stack:
        stack.stop()
        import_cpu, import_wall = import_seconds()
        started = time.perf_counter()
        stack.start()
        healthy = time.perf_counter() - started
        assert stack.process is not None
        used = cpu(stack.process.pid)
        report.add(
            Figure(
                "start to healthy, CPU seconds",
                f"{used:.1f} s ({healthy:.1f} s wall)",
                f"{import_cpu:.1f} s ({import_wall:.1f} s wall)",
                used / import_cpu,
                "<= 2",
            )
        )
        stack.ingest("pump.md", MARKDOWN.encode(), wait_for_dense=True)
        stack.search("grease")
        for name, (pid, _) in sorted(stack.services().items()):
            rss, pss = memory(pid)
            report.add(Figure(f"memory of {name}, RSS / PSS", f"{rss:.0f} / {pss:.0f} MB"))
