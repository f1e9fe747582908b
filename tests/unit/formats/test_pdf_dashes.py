"""Dashes put right by what PDFium reads on the same page."""

from services.parser.formats.pdf_dashes import respell, spellings


def test_a_word_gets_the_dash_that_the_page_prints() -> None:
    known = spellings("pages 10–12 and well-kept harbours — (1.0–1.3)")
    assert respell("pages 10-12 and well-kept - (1.0-1.3)", known) == (
        "pages 10–12 and well-kept — (1.0–1.3)"
    )


def test_a_word_that_the_page_spells_in_two_ways_stays() -> None:
    known = spellings("a – b — c 3-4 3–4")
    assert known == {}
    assert respell("a - b 3-4", known) == "a - b 3-4"
