"""The figures of one file, by what is known about it."""

from eval.parsing.adjacency import compare
from eval.parsing.limits import explanation
from eval.parsing.mhs import mhs
from eval.parsing.model import Case, FoundTable, Parsed, Score
from eval.parsing.nid import nid, tables_as_html
from eval.parsing.outlines import compare_outline
from eval.parsing.strings import compare_strings
from eval.parsing.tables import html_tables, teds

FOUND = 0.5
"""A table counts as found when this share of its relations is."""
SHOWN = 12


def score(case: Case, parsed: Parsed) -> Score:
    """All figures that the case's truth allows; a file that was not read scores 0 in each."""
    result = Score(case.set_name, case.name)
    result.counts |= {"files": 1, "failed": int(parsed.problem is not None)}
    if parsed.problem is not None:
        result.notes.append(f"not read: {parsed.problem}")
    else:
        result.metrics["seconds_per_page"] = parsed.seconds / max(parsed.pages, 1)
        result.counts |= {"pages": parsed.pages, "seconds": parsed.seconds}
    truth = case.truth
    if truth.markdown is not None:
        _markdown(result, truth.markdown, parsed)
    if truth.tables is not None:
        _tables(result, truth.tables, truth.ruled, parsed)
    if truth.strings is not None:
        _strings(result, case, parsed)
    if truth.outline is not None:
        _outline(result, case, parsed)
    if case.set_name == "docling-tests":
        _structure(result, case, parsed)
    return result


def _markdown(result: Score, truth: str, parsed: Parsed) -> None:
    figures = {"nid": nid(truth, parsed.markdown), "mhs": mhs(truth, parsed.markdown)}
    expected = html_tables(tables_as_html(truth))
    if expected:
        found = html_tables(tables_as_html(parsed.markdown))
        figures["teds"] = teds(expected[0], found[0]) if found else 0.0
        if len(found) != len(expected):
            result.notes.append(f"{len(found)} tables instead of {len(expected)}")
    result.metrics |= {name: value for name, value in figures.items() if value is not None}


def _tables(
    result: Score, truth: tuple[FoundTable, ...], ruled: tuple[bool, ...], parsed: Parsed
) -> None:
    seen = compare(truth, parsed.tables)
    result.metrics |= {"cell_precision": seen.precision, "cell_recall": seen.recall}
    counts: dict[str, float] = {
        "shared": seen.shared, "predicted": seen.predicted, "expected": seen.expected,
        "tables": len(truth), "predicted_tables": len(parsed.tables),
    }  # fmt: skip
    for match, is_ruled in zip(seen.matches, ruled, strict=True):
        kind = "ruled" if is_ruled else "other"
        similarity = (
            0.0
            if match.found is None
            else teds(truth[match.truth].html, parsed.tables[match.found].html)
        )
        for name, value in (
            (f"{kind}_tables", 1), (f"{kind}_recall", match.recall),
            (f"{kind}_found", int(match.recall >= FOUND)), ("teds", similarity),
        ):  # fmt: skip
            counts[name] = counts.get(name, 0) + value
        if match.recall < 0.9:
            page = min(truth[match.truth].pages)
            result.notes.append(f"page {page}: {kind} table with recall {match.recall:.2f}")
    false = len(parsed.tables) - sum(m.found is not None for m in seen.matches)
    if false:
        result.notes.append(f"{false} false tables")
    result.counts |= counts


def _strings(result: Score, case: Case, parsed: Parsed) -> None:
    assert case.truth.strings is not None
    seen = compare_strings(case.truth.strings, parsed)
    if seen.present_of:
        result.metrics["strings_found"] = seen.present / seen.present_of
    if seen.absent_of:
        result.metrics["strings_kept_out"] = seen.absent / seen.absent_of
    explained = [t for t in seen.missing if explanation(f"{case.set_name}/{case.name}", t)]
    result.counts |= {
        "explained": len(explained),
        "present": seen.present, "present_of": seen.present_of,
        "absent": seen.absent, "absent_of": seen.absent_of,
    }  # fmt: skip
    result.notes += [f"missing: {text}" for text in seen.missing]
    result.notes += [f"must not be there: {text}" for text in seen.intruding]


def _outline(result: Score, case: Case, parsed: Parsed) -> None:
    seen = compare_outline(case.truth.outline or (), parsed.headings)
    result.metrics |= {
        "heading_recall": seen.recall,
        "heading_precision": seen.precision,
        "heading_precision_strict": seen.strict_precision,
        "heading_levels": seen.levels,
    }
    result.notes.append(f"{seen.expected} entries, {seen.found} headings, shift {seen.shift}")
    result.notes += [f"missed: p{h.page} {h.text}" for h in seen.missed[:SHOWN]]
    result.notes += [f"extra: p{h.page} level {h.level} {h.text}" for h in seen.extra[:SHOWN]]


def _structure(result: Score, case: Case, parsed: Parsed) -> None:
    protected = case.name.startswith("pdf_password/")
    refused = parsed.problem is not None and parsed.problem.startswith("encrypted")
    read = parsed.problem is None and bool(parsed.markdown.strip())
    result.metrics["read"] = float(read or (protected and refused))
    shown = ", ".join(f"{kind} {count}" for kind, count in sorted(parsed.counts.items()))
    result.notes.append(shown or "no rows")
