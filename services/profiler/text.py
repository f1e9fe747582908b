"""Which kind of text a file is: HTML, mail, records, tables, Markdown, or just text."""

import csv
import json
import re
from pathlib import Path

from libs.contracts.artefacts.profile import Format
from services.profiler.encoding import encoding_of
from services.profiler.markup import marked_format, xml_format

SAMPLE = 64 << 10
FRAGMENTS_TYPE = "application/vnd.groundwire.fragments+jsonl"
MARKDOWN_SUFFIXES = frozenset({"md", "markdown", "mdown", "mkd"})
HTML_SUFFIXES = frozenset({"html", "htm", "xhtml", "shtml"})
JSONL_SUFFIXES = frozenset({"jsonl", "ndjson"})
CSV_SUFFIXES = frozenset({"csv", "tsv", "tab"})
PLAIN_SUFFIXES = frozenset({"txt", "text", "log", "asc"})

_HTML = re.compile(
    r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--(?:[^-]|-(?!->))*+-->\s*)*+"
    r"<(?:!doctype\s+html|html|head|body)[\s>]",
    re.IGNORECASE | re.DOTALL,
)
_TAG = re.compile(r"<(?:p|div|table|h[1-6]|ul|ol|span|br|a\s)[\s>/]?", re.IGNORECASE)
_WORD_XML = re.compile(r"\s*<\?xml[^>]*\?>\s*<\?mso-application\s+progid=\"Word.Document\"")
_HEADER = re.compile(
    r"^(?:received|return-path|from|to|cc|subject|date|message-id|mime-version|"
    r"content-type|delivered-to|dkim-signature|reply-to|x-[\w-]+):",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_LINE = re.compile(r"[\w-]+:\s?.*|[ \t]+\S.*")
_MARKDOWN = (
    re.compile(r"^#{1,6} \S", re.MULTILINE),
    re.compile(r"^(?:```|~~~)", re.MULTILINE),
    re.compile(r"\[[^\[\]\n]{1,500}\]\((?:https?:|\.{0,2}/|#)[^)\s]+\)"),
    re.compile(r"^\|.+\|\s*\n\|\s*:?-{2,}", re.MULTILINE),
    re.compile(r"\*\*[^\s*][^*\n]*\*\*"),
    re.compile(r"^(?:[-*+] ).+\n(?:[-*+] )", re.MULTILINE),
)


def text_format(
    path: Path, head: bytes, suffix: str, declared: str | None
) -> tuple[Format, str] | None:
    """The format and the encoding of a text; None when the file is no text at all."""
    encoding = encoding_of(path)
    if encoding is None:
        return None
    sample = head[:SAMPLE].decode(encoding, "replace").removeprefix("\ufeff")
    return _kind(sample, suffix, declared, cut=len(head) > SAMPLE or len(head) == SAMPLE), encoding


def _kind(sample: str, suffix: str, declared: str | None, *, cut: bool) -> Format:
    if _WORD_XML.match(sample):
        return "doc"
    if _HTML.match(sample) or (suffix in HTML_SUFFIXES and _TAG.search(sample)):
        return "html"
    if (markup := xml_format(sample, suffix)) is not None:
        return markup
    if _is_mail(sample, suffix):
        return "eml"
    if (records := _records(sample, suffix, declared, cut=cut)) is not None:
        return records
    if suffix not in PLAIN_SUFFIXES | MARKDOWN_SUFFIXES | CSV_SUFFIXES and (
        marked := marked_format(sample, suffix, cut=cut)
    ):
        return marked
    if suffix in MARKDOWN_SUFFIXES:
        return "md"
    if suffix in PLAIN_SUFFIXES:
        return "txt"
    if _is_table(sample, suffix, cut=cut):
        return "csv"
    if sum(bool(mark.search(sample)) for mark in _MARKDOWN) >= 2 or declared == "text/markdown":
        return "md"
    return "txt"


def _is_mail(sample: str, suffix: str) -> bool:
    """A head of header lines only, up to the first blank line, with some that mails have."""
    head = re.split(r"\r?\n\r?\n", sample, maxsplit=1)[0]
    lines = head.splitlines()
    if not lines or not all(_HEADER_LINE.fullmatch(line) for line in lines):
        return False
    known = {found.group().lower() for found in _HEADER.finditer(head)}
    if suffix == "eml":
        return bool(known)
    return len(known) >= 3 and bool(known & {"from:", "received:", "message-id:"})


def _records(sample: str, suffix: str, declared: str | None, *, cut: bool) -> Format | None:
    """JSON objects, one a line; `fragments` when each has a type and a content."""
    lines = sample.splitlines()
    if cut:
        lines = lines[:-1] or lines
    lines = [line for line in lines if line.strip()][:20]
    if not lines or not lines[0].lstrip().startswith("{"):
        return None
    first: dict[str, object] | None = None
    for line in lines:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return "jsonl" if suffix in JSONL_SUFFIXES else None
        if not isinstance(record, dict):
            return None
        first = first or record
    if first is not None and (declared == FRAGMENTS_TYPE or _is_fragment(first)):
        return "fragments"
    if len(lines) > 1 or suffix in JSONL_SUFFIXES:
        return "jsonl"
    return None


def _is_fragment(record: dict[str, object]) -> bool:
    return (
        record.get("type") in ("text", "image", "table")
        and "content" in record
        and bool(record.keys() & {"path", "page"})
    )


def _is_table(sample: str, suffix: str, *, cut: bool) -> bool:
    """Every line cuts into the same number of short fields; by its name, nearly every line."""
    lines = sample.splitlines()
    lines = [line for line in (lines[:-1] if cut else lines) if line.strip()][:50]
    if suffix in CSV_SUFFIXES:
        return bool(lines)
    if len(lines) < 3:
        return False
    for delimiter in ("\t", ",", ";", "|"):
        try:
            rows = list(csv.reader(lines, delimiter=delimiter))
        except csv.Error:
            continue
        widths = {len(row) for row in rows}
        fields = [field for row in rows for field in row]
        if len(widths) == 1 and widths.pop() >= 2:
            return sum(len(field) for field in fields) < 40 * len(fields)
    return False
