"""A real browser that is clicked through: Chromium over its debugging pipe, one tab."""

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
SECONDS = 60.0
TICK = 0.05


class Tab:
    """One page. `console` holds what scripts threw and what policies refused."""

    def __init__(self, writes: int, reads: int) -> None:
        self._writes, self._reads = writes, os.fdopen(reads, "rb")
        self._rest, self._last, self._session = b"", 0, ""
        self.console: list[str] = []

    def attach(self) -> None:
        """Take the first page of the browser, and listen to its console."""
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=page, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Runtime", "Log", "Page", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer of the browser to one command; raises `AssertionError` with its error."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        while True:
            told = self._told()
            if told.get("id") == self._last:
                assert "error" not in told, told
                result: dict[str, Any] = told["result"]
                return result

    def _told(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            more = self._reads.read1(65536)
            assert more, "the browser has gone"
            self._rest += more
        line, self._rest = self._rest.split(b"\0", 1)
        told: dict[str, Any] = json.loads(line)
        if told.get("method") == "Runtime.exceptionThrown":
            self.console.append(json.dumps(told["params"]["exceptionDetails"])[:500])
        entry = told.get("params", {}).get("entry", {})
        if entry.get("source") == "security":
            self.console.append(entry["text"])
        return told

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def until(self, script: str) -> Any:
        """The expression's value once it is true, True for a node."""
        deadline = time.monotonic() + SECONDS
        told = f"(() => {{ try {{ return {script} }} catch {{}} }})()"
        shown = f"(one => one instanceof Node || one)({told})"
        while not (value := self.run(shown)):
            assert time.monotonic() < deadline, f"{script}: {self.text()}"
            time.sleep(TICK)
        return value

    def go(self, address: str) -> None:
        """Open an address anew, even one that differs only behind its #."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)

    def text(self) -> str:
        """What can be read on the page."""
        return str(self.run("document.body.innerText"))

    def click(self, selector: str) -> None:
        """Click the first node that matches, once it is there."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.until(found)
        self.run(f"{found}.click()")

    def fill(self, selector: str, text: str) -> None:
        """Type into a field, in the place of what is in it."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.until(found)
        self.run(
            f"(() => {{ const field = {found}; field.focus(); field.value = {json.dumps(text)};"
            " field.dispatchEvent(new Event('input', { bubbles: true }));"
            " field.dispatchEvent(new Event('change', { bubbles: true })); })()"
        )

    def choose(self, selector: str, *files: Path) -> None:
        """Choose files in a field for them."""
        self.until(f"document.querySelector({json.dumps(selector)})")
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(file) for file in files])

    def press(self, key: str) -> None:
        """Press and let go a key, by its name in the DOM."""
        codes = {"Tab": 9, "Enter": 13, "ArrowRight": 39}
        typed = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=key, code=key,
                windowsVirtualKeyCode=codes[key], **(typed if kind == "keyDown" else {}),
            )  # fmt: skip


@contextmanager
def tab(width: int = 1280, height: int = 900) -> Iterator[Tab]:
    """A browser of its own that knows nothing yet; afterwards its console is clean."""
    assert CHROMIUM is not None
    commands, answers = os.pipe(), os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = (
            f"--headless=new --no-sandbox --disable-gpu --remote-debugging-pipe "
            f"--user-data-dir={folder} --window-size={width},{height} about:blank"
        )
        shell = f'exec 3<&{commands[0]} 4>&{answers[1]}; exec "$0" "$@"'
        running = subprocess.Popen(
            ["bash", "-c", shell, CHROMIUM, *options.split()],
            pass_fds=(commands[0], answers[1]), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(commands[0])
        os.close(answers[1])
        page = Tab(commands[1], answers[0])
        try:
            page.attach()
            page.call(
                "Emulation.setDeviceMetricsOverride", width=width, height=height,
                deviceScaleFactor=1, mobile=False,
            )  # fmt: skip
            yield page
            assert not page.console, page.console
        finally:
            running.kill()
            running.wait()
            os.close(commands[1])
