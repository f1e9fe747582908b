"""Subtitles (WebVTT, SubRip): what is said as paragraphs, each with the time at which it begins.

After W3C, "WebVTT", 2019; SubRip has no standard, its files are read as players read them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.prose import read_anyway
from services.parser.formats.rows import Rows, one_line, read_text

LONGEST = 600
"""Characters from which a paragraph ends with the next sentence."""
PAUSE = 4.0
"""Seconds of silence that end a paragraph."""
_TIMES = re.compile(
    r"(?P<start>(?:[0-9]{1,3}:)?[0-9]{1,2}:[0-9]{2}[.,][0-9]{1,3})\s+-->\s+"
    r"(?P<end>(?:[0-9]{1,3}:)?[0-9]{1,2}:[0-9]{2}[.,][0-9]{1,3})"
)
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]{1,100})>")
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_ENDS = (".", "!", "?", "…", "。")


@dataclass
class _Cue:
    start: float
    end: float
    speaker: str
    text: str


def parse(given: ParseInput) -> ShardResult:
    """Rows of a subtitle file: cues that follow each other closely are one paragraph."""
    rows = Rows()
    text = read_text(given)
    if title := re.match(r"WEBVTT[ \t]+(?:-\s*)?(\S.*)", text):
        rows.heading(title[1], 1, evidence="markup")
    said: list[_Cue] = []
    for cue in _cues(text):
        if said and _begins(said, cue):
            _add(rows, said)
            said = []
        said.append(cue)
    _add(rows, said)
    read_anyway(rows, text)
    return rows.result("subtitles")


def _begins(said: list[_Cue], cue: _Cue) -> bool:
    """Whether the cue begins a paragraph after those that were said."""
    last = said[-1]
    long = sum(len(c.text) for c in said) >= LONGEST and last.text.endswith(_ENDS)
    return long or cue.speaker != last.speaker or cue.start - last.end > PAUSE


def _add(rows: Rows, said: list[_Cue]) -> None:
    if not said:
        return
    texts = [c.text for c, before in zip(said, [None, *said], strict=False)
             if before is None or c.text != before.text]  # fmt: skip
    minutes, seconds = divmod(int(said[0].start), 60)
    speaker = f"{said[0].speaker}: " if said[0].speaker else ""
    rows.add(
        "paragraph",
        speaker + " ".join(texts),
        marker=f"{minutes // 60:02}:{minutes % 60:02}:{seconds:02}",
    )


def _cues(text: str) -> Iterator[_Cue]:
    for block in re.split(r"\n[ \t]*\n", text):
        lines = block.strip("\n").split("\n")
        at = next((i for i, line in enumerate(lines[:3]) if _TIMES.search(line)), None)
        if at is None or (found := _TIMES.search(lines[at])) is None:
            continue
        words = "\n".join(lines[at + 1 :])
        voice = _VOICE.search(words)
        shown = one_line(unescape(_TAG.sub("", words)))
        if shown:
            yield _Cue(_seconds(found["start"]), _seconds(found["end"]),
                       one_line(voice[1]) if voice else "", shown)  # fmt: skip


def _seconds(time: str) -> float:
    *hours, minutes, seconds = time.replace(",", ".").split(":")
    return float(hours[0] if hours else 0) * 3600 + float(minutes) * 60 + float(seconds)
