"""CSV and TSV: the delimiter found by trying, cells as they stand."""

import csv
from collections.abc import Iterator
from itertools import islice

from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput
from services.parser.formats.rows import Rows, clean, read_text
from services.parser.formats.sheets_tables import MAX_CELLS, Sheet

DELIMITERS = ",\t;|"
SAMPLE_LINES = 100
MAX_FIELD = 4 << 20
PROGRESS_ROWS = 10_000


def read_csv(given: ParseInput, rows: Rows) -> Sheet:
    """The table of a CSV file; rows past `MAX_CELLS` cells are left out with a finding."""
    text = read_text(given).replace("\0", "")
    csv.field_size_limit(MAX_FIELD)
    delimiter = sniff(text)
    sheet = Sheet(given.profile.file_name)
    row = 0
    try:
        for count, record in enumerate(csv.reader(_lines(text), delimiter=delimiter)):
            if count % PROGRESS_ROWS == 0:
                given.progress(0)
            values = [clean(value) for value in record]
            if not any(values):
                continue
            if len(sheet.cells) + len(values) > MAX_CELLS:
                rows.note("rows_left_out", "rows past the limit were left out", severity="warning")
                break
            sheet.cells.update({(row, c): value for c, value in enumerate(values)})
            row += 1
    except csv.Error as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the CSV file has a field that is never closed or far too long"
        ) from problem
    return sheet


def _lines(text: str) -> Iterator[str]:
    """The lines with their ends; a file object over a text would hold four bytes a character."""
    start = 0
    while end := text.find("\n", start) + 1:
        yield text[start:end]
        start = end
    yield text[start:]


def sniff(text: str) -> str:
    """The delimiter that cuts the first lines into equal counts, most columns first."""
    sample = list(islice(_lines(text), SAMPLE_LINES))
    best, best_score = ",", 0.0
    for delimiter in DELIMITERS:
        try:
            widths = [len(r) for r in csv.reader(sample, delimiter=delimiter) if any(r)]
        except csv.Error:
            continue
        if not widths or max(widths) < 2:
            continue
        usual = max(set(widths), key=widths.count)
        share = widths.count(usual) / len(widths)
        score = share**2 * min(usual, 20) if usual > 1 else 0.0
        if score > best_score:
            best, best_score = delimiter, score
    return best
