"""The sandbox against children that spin, eat, fork, crash and lie."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from libs.contracts.faults import Code, DocumentFault, Fault, StaleFault, WorldFault
from libs.runtime.sandbox.crashes import crash_verdict
from libs.runtime.sandbox.limits import SPACE, Limits
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.verdict import ChildCrashed
from libs.runtime.work import Work
from tests.support.waiting import PATIENCE, until
from tests.unit.sandbox.conftest import LIMITS, SECRETS, alive, pids_in
from tests.unit.sandbox.misbehaviour import FUNCTIONS, HERE

HOST = """
import asyncio, sys
from pathlib import Path
from libs.runtime.sandbox.limits import Limits
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.work import Work
from tests.unit.sandbox.misbehaviour import FUNCTIONS, HERE

async def main(scratch, pids):
    sandbox = Sandbox(FUNCTIONS, Path(scratch), limits=Limits(), slots=2)
    await sandbox.start()
    print(sandbox.zygote_pid, flush=True)
    async with asyncio.TaskGroup() as group:
        for name in ("spin", "fork_family"):
            group.create_task(one(sandbox, name, pids))

async def one(sandbox, name, pids):
    async with sandbox.run(f"{HERE}:{name}", {"pids": pids}, work=Work("job")):
        pass

asyncio.run(main(*sys.argv[1:]))
"""


async def call(
    sandbox: Sandbox,
    name: str,
    *,
    limits: Limits = LIMITS,
    work: Work | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    given = {k: str(v) if isinstance(v, Path) else v for k, v in arguments.items()}
    async with sandbox.run(
        f"{HERE}:{name}", given, work=work or Work("job"), limits=limits
    ) as finished:
        return finished.result


async def fault_of(sandbox: Sandbox, name: str, **more: Any) -> Fault:
    with pytest.raises(Fault) as caught:
        await call(sandbox, name, **more)
    return caught.value


async def test_result_and_outputs_come_back_and_the_scratch_folder_goes(sandbox: Sandbox) -> None:
    async with sandbox.run(f"{HERE}:echo", {"say": "안녕"}, work=Work("job")) as finished:
        assert finished.result["said"] == "안녕"
        assert finished.file("rows/0").read_text() == "안녕"
        folder = finished.folder
    assert not folder.exists()


async def test_twenty_small_jobs_at_once(sandbox: Sandbox) -> None:
    results = await asyncio.gather(*(call(sandbox, "echo", say=str(i)) for i in range(20)))
    assert [r["said"] for r in results] == [str(i) for i in range(20)]
    assert len({r["pid"] for r in results}) == 20


async def test_no_more_children_than_slots(sandbox: Sandbox, pids: Path) -> None:
    work = Work("job")
    runs = [asyncio.create_task(call(sandbox, "hang", pids=pids, work=work)) for _ in range(6)]
    await until(lambda: len(pids_in(pids)) == 4)
    assert sum(alive(p) for p in pids_in(pids)) == 4
    work.cancel()
    ends = await asyncio.gather(*runs, return_exceptions=True)
    assert all(isinstance(e, StaleFault) for e in ends)
    assert len(pids_in(pids)) == 4


async def test_a_child_that_spins_is_too_slow(sandbox: Sandbox, pids: Path) -> None:
    limits = replace(LIMITS, wall_seconds=0.5)
    fault = await fault_of(sandbox, "spin", limits=limits, pids=pids)
    assert isinstance(fault, DocumentFault) and fault.code is Code.TOO_SLOW
    assert not any(alive(p) for p in pids_in(pids))


async def test_a_child_over_its_processor_time_is_too_slow(sandbox: Sandbox, pids: Path) -> None:
    fault = await fault_of(sandbox, "spin", limits=replace(LIMITS, cpu_seconds=1), pids=pids)
    assert (fault.code, "processor" in fault.detail) == (Code.TOO_SLOW, True)


async def test_only_a_child_that_turns_pages_outlives_the_stall_limit(
    sandbox: Sandbox, pids: Path
) -> None:
    limits, work = replace(LIMITS, stall_seconds=2), Work("job")
    work.take_progress()
    assert await call(sandbox, "turn_pages", limits=limits, work=work, pages=16) == {"moves": 16}
    assert work.take_progress()
    fault = await fault_of(sandbox, "hang", limits=limits, pids=pids)
    assert (fault.code, "no further" in fault.detail) == (Code.TOO_SLOW, True)


async def test_a_hanging_child_makes_no_progress_and_a_spinning_one_does(
    sandbox: Sandbox, pids: Path
) -> None:
    works = {"hang": Work("job-1"), "spin": Work("job-2")}
    runs = {
        asyncio.create_task(call(sandbox, name, work=work, pids=pids))
        for name, work in works.items()
    }
    await until(lambda: sum(alive(p) for p in pids_in(pids)) == len(works))
    await until(works["spin"].take_progress)
    works["hang"].take_progress()
    for _ in range(5):
        await until(works["spin"].take_progress)
    assert not works["hang"].take_progress()
    for work in works.values():
        work.cancel()
    await asyncio.wait(runs)


@pytest.mark.parametrize("name", ["eat_memory", "ask_for_the_moon", "fork_and_eat"])
async def test_memory_over_the_limit_is_too_large(sandbox: Sandbox, pids: Path, name: str) -> None:
    fault = await fault_of(sandbox, name, pids=pids)
    assert isinstance(fault, DocumentFault) and fault.code is Code.TOO_LARGE
    assert "200 MB" in fault.detail
    await until(lambda: not any(alive(p) for p in pids_in(pids)))


async def test_shared_memory_is_bounded_without_the_watchdog(sandbox: Sandbox) -> None:
    assert 0 < (await call(sandbox, "eat_shared_memory"))["mapped_mb"] <= SPACE * 200


async def test_writing_over_the_limit_is_too_large(sandbox: Sandbox) -> None:
    assert (await fault_of(sandbox, "write_too_much")).code is Code.TOO_LARGE


async def test_cancel_ends_the_child_and_all_its_descendants(sandbox: Sandbox, pids: Path) -> None:
    work = Work("job")
    run = asyncio.create_task(call(sandbox, "fork_family", pids=pids, work=work))
    await until(lambda: len(pids_in(pids)) == 4)
    work.cancel()
    with pytest.raises(StaleFault):
        await asyncio.wait_for(run, PATIENCE)
    await until(lambda: not any(alive(p) for p in pids_in(pids)))


async def test_a_cancelled_task_ends_its_child(sandbox: Sandbox, pids: Path) -> None:
    run = asyncio.create_task(call(sandbox, "hang", pids=pids))
    await until(lambda: bool(pids_in(pids)))
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert not any(alive(p) for p in pids_in(pids))


async def test_descendants_do_not_outlive_a_child_that_ended_well(
    sandbox: Sandbox, pids: Path
) -> None:
    assert await call(sandbox, "fork_family", pids=pids, stay=False) == {}
    await until(lambda: not any(alive(p) for p in pids_in(pids)))


@pytest.mark.parametrize(("name", "said"), [("crash", "SIGSEGV"), ("abort", "SIGABRT")])
async def test_a_crash_names_its_signal_and_harms_no_other(
    sandbox: Sandbox, name: str, said: str
) -> None:
    with pytest.raises(ChildCrashed) as caught:
        await call(sandbox, name)
    assert caught.value.signal_name == said
    assert (await call(sandbox, "echo", say="on"))["said"] == "on"


async def test_the_second_crash_on_a_document_is_the_documents_fault() -> None:
    class Jobs:
        count = 0

        async def failure(self, task: str, kind: str) -> int:
            assert (task, kind) == ("parser:job-1:0", "crash")
            self.count += 1
            return self.count

    jobs: Any = Jobs()
    crash = ChildCrashed("SIGSEGV")
    first = await crash_verdict(jobs, "parser:job-1:0", crash)
    second = await crash_verdict(jobs, "parser:job-1:0", crash)
    assert isinstance(first, WorldFault) and first.code is Code.WORKER_LOST
    assert isinstance(second, DocumentFault) and second.code is Code.PARSER_CRASHED


async def test_a_kill_that_nobody_here_sent_is_the_worlds(sandbox: Sandbox) -> None:
    fault = await fault_of(sandbox, "die_by_sigkill")
    assert isinstance(fault, WorldFault) and fault.code is Code.WORKER_LOST


async def test_faults_travel_and_other_exceptions_lose_their_text(sandbox: Sandbox) -> None:
    refused = await fault_of(sandbox, "refuse")
    assert (refused.code, refused.detail) == (Code.ENCRYPTED, "the file is encrypted")
    stumbled = await fault_of(sandbox, "stumble")
    assert stumbled.code is Code.UNREADABLE and "ValueError" in stumbled.detail
    assert "secret" not in stumbled.detail
    missing = await fault_of(sandbox, "miss_a_package")
    assert missing.code is Code.ENGINE_MISSING and "no_such_engine" in missing.detail
    for ours, name in (("have_a_bug", "NameError"), ("leave_a_gap", "NotImplementedError")):
        with pytest.raises(RuntimeError, match=name):
            await call(sandbox, ours)


@pytest.mark.parametrize("name", ["stumble_over_xml", "stumble_in_a_library", "panic"])
async def test_what_libraries_raise_over_a_file_is_no_bug_of_ours(
    sandbox: Sandbox, name: str
) -> None:
    fault = await fault_of(sandbox, name)
    assert (fault.code, "secret" in fault.detail) == (Code.UNREADABLE, False)


async def test_a_function_that_is_not_on_the_list_is_never_run(sandbox: Sandbox) -> None:
    with pytest.raises(RuntimeError, match="no answer"):
        async with sandbox.run("os:getcwd", {}, work=Work("job")):
            pass


async def test_links_out_of_the_outputs_are_refused(sandbox: Sandbox) -> None:
    async with sandbox.run(f"{HERE}:leave_a_link", {}, work=Work("job")) as finished:
        for name in ("file", "rows/passwd", "../job.json", "nothing", "/etc/passwd"):
            with pytest.raises(WorldFault):
                finished.file(name)


async def test_a_child_has_no_secrets_no_network_and_no_voice(
    sandbox: Sandbox, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen = await call(sandbox, "look_around", port=listener.getsockname()[1])
    assert not seen["environment"].keys() & set(SECRETS)
    assert "secret" not in seen["environment"].values()
    assert seen["no_new_privs"] and seen["oom"] == "1000"
    assert all("/attempt-" in place for place in seen["places"])
    if namespaces_are_granted():
        assert not seen["network"]
    await call(sandbox, "print_everything")
    said = capfd.readouterr()
    assert "secret" not in said.out + said.err


def namespaces_are_granted() -> bool:
    code = (
        "import ctypes; c = ctypes.CDLL(None); "
        "raise SystemExit(c.unshare(0x40000000) and c.unshare(0x50000000))"
    )
    return subprocess.run([sys.executable, "-c", code]).returncode == 0


async def test_a_dead_fork_server_is_the_worlds_and_comes_back(
    sandbox: Sandbox, pids: Path
) -> None:
    run = asyncio.create_task(call(sandbox, "fork_family", pids=pids))
    await until(lambda: len(pids_in(pids)) == 4)
    first = sandbox.zygote_pid
    assert first is not None
    os.kill(first, signal.SIGKILL)
    with pytest.raises(WorldFault) as caught:
        await run
    assert caught.value.code is Code.WORKER_LOST
    child = next(int(p.name.partition("-")[2]) for p in pids.glob("child-*"))
    await until(lambda: not alive(child))
    await until(lambda: sandbox.zygote_pid not in (None, first))
    assert (await call(sandbox, "echo", say="again"))["said"] == "again"
    for pid in filter(alive, pids_in(pids)):
        os.kill(pid, signal.SIGKILL)


async def test_light_work_has_a_fork_server_of_its_own(tmp_path: Path) -> None:
    sandbox = Sandbox(FUNCTIONS, tmp_path, limits=LIMITS, slots=2, light=["orjson"])
    await sandbox.start()
    zygote = sandbox.zygote_pid
    assert zygote is not None
    try:
        await sandbox.ready()
        assert (await call(sandbox, "echo", say="heavy"))["said"] == "heavy"
        os.kill(zygote, signal.SIGSTOP)
        given = {"say": "light"}
        async with sandbox.run(f"{HERE}:echo", given, work=Work("job"), light=True) as finished:
            assert finished.result["said"] == "light"
    finally:
        os.kill(zygote, signal.SIGCONT)
        await sandbox.close()
    assert not alive(zygote)
    assert list(tmp_path.iterdir()) == []


async def test_kill_nine_of_the_service_leaves_no_process_and_no_scratch(
    tmp_path: Path, pids: Path
) -> None:
    scratch = tmp_path / "scratch"
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, str(scratch), str(pids),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert host.stdout is not None
    zygote = int(await host.stdout.readline())
    await until(lambda: len(pids_in(pids)) == 5)
    host.kill()
    await host.wait()
    await until(lambda: not alive(zygote) and not any(alive(p) for p in pids_in(pids)))
    await until(lambda: list(scratch.iterdir()) == [])


async def test_scratch_of_dead_owners_is_swept_and_that_of_living_ones_stays(
    tmp_path: Path,
) -> None:
    first = Sandbox(FUNCTIONS, tmp_path, limits=LIMITS, slots=1)
    await first.start()
    (held,) = tmp_path.iterdir()
    (tmp_path / "run-left").mkdir()
    (tmp_path / "run-left" / ".owner").touch()
    second = Sandbox(FUNCTIONS, tmp_path, limits=LIMITS, slots=1)
    await second.start()
    assert held.exists() and not (tmp_path / "run-left").exists()
    await second.close()
    assert list(tmp_path.iterdir()) == [held]
    await first.close()
    assert list(tmp_path.iterdir()) == []
