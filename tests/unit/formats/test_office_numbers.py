from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from services.parser.formats.office_numbers import Numbering

LEVELS = (
    ("decimal", "%1)"), ("lowerLetter", "%1.%2"), ("ganada", "%3."), ("decimal", "제%1조의%4"),
    ("bullet", "•"), ("custom", "<%6>"), ("none", ""),
)  # fmt: skip


def _numbering(overrides: str = "", extra: str = "") -> Numbering:
    levels = "".join(
        f'<w:lvl w:ilvl="{i}"><w:start w:val="1"/><w:numFmt w:val="{form}"/>'
        f'<w:lvlText w:val="{pattern.replace("<", "&lt;")}"/>{extra}</w:lvl>'
        for i, (form, pattern) in enumerate(LEVELS)
    )
    root = parse_xml(
        f'<w:numbering {nsdecls("w")}><w:abstractNum w:abstractNumId="7">{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
        f'<w:num w:numId="2"><w:abstractNumId w:val="7"/>{overrides}</w:num></w:numbering>'
    )
    found = {int(e.get(qn("w:ilvl"))): e for e in root.iter(qn("w:lvl"))}
    return Numbering(root, lambda _, level: found.get(level), lambda value, form: f"{value}")


def test_numbers_are_written_as_their_pattern_says_and_deeper_levels_begin_anew():
    numbers = _numbering()
    steps = [(0, "1)"), (1, "1.1"), (1, "1.2"), (2, "가."), (0, "2)"), (1, "2.1"), (3, "제2조의1")]
    assert [(level, numbers.advance(1, level)) for level, _ in steps] == steps


def test_a_level_that_was_skipped_counts_as_begun():
    numbers = _numbering()
    assert [numbers.advance(1, level) for level in (2, 1)] == ["가.", "1.2"]


def test_numberings_share_the_counters_of_their_pattern_unless_they_begin_anew():
    shared = _numbering()
    assert [shared.advance(n, 0) for n in (1, 2, 1)] == ["1)", "2)", "3)"]
    begun = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'
    own = _numbering(begun)
    assert [own.advance(n, 0) for n in (1, 2, 2)] == ["1)", "5)", "6)"]


def test_a_level_that_never_restarts():
    numbers = _numbering(extra='<w:lvlRestart w:val="0"/>')
    assert [numbers.advance(1, level) for level in (0, 1, 0, 1)] == ["1)", "1.1", "2)", "2.2"]


def test_signs_and_unknown_levels_show_no_number():
    numbers = _numbering()
    assert [numbers.shows(1, level) for level in range(8)] == [
        True, True, True, True, False, True, False, False,
    ]  # fmt: skip
    assert numbers.advance(9, 7) == ""
