"""Strings that do not come out, and why a user would accept that.

By file (set and path), then by string; `*` stands for all strings of the file.
"""

_FURIGANA = "the reading of the characters, which Excel keeps beside the text for sorting"
_CHART = "the months of a chart in one line; here each is a row of the chart's table"
_LETTERING = (
    "lettering inside a picture on a page of text, which Tika reads with OCR; here OCR reads pages "
    "without text, and the picture is kept as it is"
)
_CAPITALS = "the words stand in the file, and come out, in small letters"
_COUNTRY = "a date whose style follows the reader's country; written year first here"

EXPLAINED: dict[str, dict[str, str]] = {
    "tika-asserted/testAttachedTemplate.docx": {
        "*": "the address of an external template: no reader sees it, and it is never fetched"
    },
    "tika-asserted/testBinControlWord.rtf": {
        "*": "it holds no word, and one picture of ten bytes that is none"
    },
    "tika-asserted/testDdeLink.xlsx": {
        "*": "a DDE command: no reader sees it, and it is never run"
    },
    "tika-asserted/testEXCEL-formats.xlsx": {
        "03/10/2009": _COUNTRY,
        "19/01/2008 04:35": _COUNTRY,
        "2%": "the other of two roundings of 2.5 % that the test allows",
    },
    "tika-asserted/testEXCEL-formats.xls": {
        "10/3/09": _COUNTRY,
        "1/19/08 4:35": _COUNTRY,
        "2%": "the other of two roundings of 2.5 % that the test allows",
    },
    "tika-asserted/testEXCEL_dateFormats.xls": {
        "*": "how a setting of Tika's writes all dates; here M/D/YYYY, as the cells' format says"
    },
    "tika-asserted/testEXCEL_phonetic.xls": {"*": _FURIGANA},
    "tika-asserted/testEXCEL_phonetic.xlsx": {"*": _FURIGANA},
    "tika-asserted/testPDFPackage.pdf": {
        "app.viewerVersion": "a script of the form: no reader sees it, and it is never run",
    },
    "tika-asserted/testPDFTwoTextBoxes.pdf": {
        "Left column line 1 Right column line 1 Left colu mn line 2 Right column line 2": (
            "what a setting of Tika reads that goes across columns and breaks a word"
        )
    },
    "tika-asserted/testPDFVarious.pdf": {
        "ABCDEE+Calibri": "the name of a font",
        "Row 1 column 1 Row 2 column 1 Row 1 column 2 Row 2 column 2": (
            "a table read down its columns; it is read across here"
        ),
    },
    "tika-asserted/testPDF_JBIG2.pdf": {"Norconex": _LETTERING},
    "tika-asserted/testPDF_XFA_govdocs1_258578.pdf": {
        "NATIONAL": _LETTERING,
        "PARK": _LETTERING,
    },
    "tika-asserted/testPPT_EmbeddedPDF.pptx": {
        "APACHE TIKA": _CAPITALS,
        "HELLO WORLD": _CAPITALS,
        "<h1>image3.jpg</h1>": "the name of an image inside the file",
    },
    "tika-asserted/testPPT_charts.pptx": {"March\tApril": _CHART},
    "tika-asserted/testPhoneNumberExtractor.odt": {
        "*": "telephone numbers as Tika's extractor spells them; the text stands as written"
    },
    "tika-asserted/testRTFControls.rtf": {
        "Thiswordhasanon‑breakinghyphen": "a hyphen that keeps words together is a plain hyphen"
    },
    "tika-asserted/testRTFInvalidUnicode.rtf": {
        "*": "half a character, which stands for nothing: a question mark here, U+FFFD there"
    },
    "tika-asserted/testRTF_annotation_spacing.rtf": {
        "*": "a comment put between the halves of a word; it is a note of its own here"
    },
    "tika-asserted/testWORD_charts.docx": {"March\tApril": _CHART},
    "tika-asserted/testWORD_numbered_list.doc": {
        ">comment list 1": "the end of a tag of Tika's before the text, which is there"
    },
    "markitdown/markitdown/tests/test_files/test.docx": {
        "data:image/png;base64...": "markitdown's stand-in for an image; images are assets here"
    },
    "markitdown/markitdown/tests/test_files/test_serp.html": {
        "](https://en.wikipedia.org/wiki/Microsoft": (
            "the address that a link points to; rows keep the words that a reader sees"
        )
    },
    "markitdown/markitdown/tests/test_files/test.epub": {
        "**Authors:** Test Author": "who wrote the book stands there as `author: Test Author`"
    },
}


def explanation(file: str, text: str) -> str | None:
    """Why this string does not come out of the file, where that is settled."""
    known = EXPLAINED.get(file, {})
    return known.get(text) or known.get("*")
