"""What `groundwire up` says: short, in colour only on a terminal."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Welcome:
    """Everything a newcomer needs, once all services are ready."""

    url: str
    key: str
    namespace: str
    data_dir: Path
    seconds: float

    def lines(self) -> list[str]:
        """The text: address, key, and two commands to copy."""
        base = f"{self.url}/v1/namespaces/{self.namespace}"
        auth = f"-H 'Authorization: Bearer {self.key}'"
        json = "-H 'Content-Type: application/json'"
        query = '{"query": "how do I start everything?"}'
        return [
            f"Groundwire is ready after {self.seconds:.1f} s",
            "",
            f"  page        {self.url}/#key={self.key}",
            f"  API, MCP    {self.url}   (reference: {self.url}/docs; agents: {self.url}/mcp)",
            f"  key         {self.key}",
            f"  data, logs  {shlex.quote(str(self.data_dir))}   (bus URL: run/nats.url)",
            "",
            "Send a document, then search it (a second later: it is published in the background):",
            "",
            f"  curl {auth} -F file=@README.md {base}/documents",
            "",
            f"  curl {auth} {json} -d {shlex.quote(query)} {base}/search",
            "",
            "Ctrl-C ends everything; documents stay.",
        ]


class Screen:
    """Standard output for news, standard error for troubles."""

    def news(self, line: str = "") -> None:
        """A line that says what goes on."""
        print(line, flush=True)

    def trouble(self, line: str) -> None:
        """A line that somebody should read."""
        shown = f"\033[33m{line}\033[0m" if sys.stderr.isatty() else line
        print(shown, file=sys.stderr, flush=True)

    def welcome(self, welcome: Welcome) -> None:
        """The text of a finished start, its first line set off on a terminal."""
        first, *rest = welcome.lines()
        self.news(f"\033[1;32m{first}\033[0m" if sys.stdout.isatty() else first)
        for line in rest:
            self.news(line)
