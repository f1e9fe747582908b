"""Which pages count as garbled: by their characters, never by what they are about."""

import pytest

from services.parser.formats.pdf_encoding import is_garbled

PROSE = "The macros MISSING and SET_MISSING are used for pairlists of arguments. Four bits are left"
CODE = """static const R_CallMethodDef CallEntries[] = { {"lf_stk", (DL_FUNC) &lf_stk, 3}, {NULL} };
#ifndef HAVE_STRLCPY size_t strlcpy(char *dst, const char *src, size_t n); #endif mtx.dgetrf_(&n)"""
INDEX = "bzfile 26, dbConnect 21, fgetc 23, gzfile. 26, odbcQuery 22, read.fwf 9, xdr 25, XLS 32 "
READABLE = {
    "prose": PROSE * 5,
    "code": CODE * 4,
    "an index": INDEX * 8,
    "bullets of a symbol font": "\x88 splot marks all voxels above a level\n" * 20,
    "private-use bullets": "\uf0b7 Item of a list from Word\n" * 20,
    "leaders": "Chapter 1 .......................................... 12\n" * 20,
    "formulas": "x\u00b2 + y\u00b2 = r\u00b2 \u2211 \u222b f(x) dx \u2264 \u00b1\u00bd " * 10,
    "figures": "12.5 13.7 1,234 (45%) 0x1F2B A-12 " * 20,
    "assembly": "push rbp; mov rbp, rsp; sub rsp, 16; cmp edx, 3; jmp .L2; ldr x0, [sp] " * 10,
    "a protein": "MSKGEELFTGVVPILVELDGDVNGHKFSVSGEGEGDATYGKLTLKFICTTGKLPVPWPTLVTTF" * 5,
    "base64": "aGVsbG8gd29ybGQsIHRoaXMgaXMgYmFzZTY0IGVuY29kZWQgdGV4dA==" * 6,
    "hexadecimal": "deadbeef 0badcafe 00ff1234 c0ffee00 " * 20,
    "Korean": "제6장 총칙 이 법은 국민의 권리와 의무를 정한다. " * 10,
    "French": "Les élèves étaient très âgés, où çà et là naïfs à l'été. " * 10,
    "Vietnamese": "Tất cả mọi người sinh ra đều được tự do và bình đẳng. " * 10,
    "Russian": "Все люди рождаются свободными и равными. " * 10,
    "capitals": PROSE.upper() * 5,
    "assembly in capitals": "MOV LDR STR CMP JMP PUSH RBP XOR SHL ADD SUB CALL RET NOP LEA " * 10,
    "initials": "HTTP TCP NTP DNS SQL",
    "little": "\uf0fc",
}
GARBLED = {
    "private use": "".join(chr(0xF000 + i % 90 + 33) for i in range(300)),
    "controls": "\x01\x02 \x03\x0e\x0f\x10 " * 30,
    "replacement characters": "\ufffd\ufffd\ufffd a\ufffd \ufffd\ufffd " * 20,
    "half of the fonts unmapped": PROSE + "\ue123\ue124 \ue125\ue126\ue127 " * 40,
    "Hangul read as Latin-1": "제6장 총칙 이 법은 국민의 권리와".encode("cp949").decode("latin-1")
    * 5,
    "letters shifted by 29": "".join(
        chr(ord(c) - 29) if c.isalpha() else c for c in PROSE.lower() * 5
    ),
}


@pytest.mark.parametrize("name", READABLE)
def test_readable_pages_are_never_garbled(name: str) -> None:
    assert not is_garbled(READABLE[name])


@pytest.mark.parametrize("name", GARBLED)
def test_noise_is_garbled(name: str) -> None:
    assert is_garbled(GARBLED[name])
