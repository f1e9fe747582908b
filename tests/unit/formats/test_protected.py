import base64
import hashlib
import io
import os
import struct

import pytest
import xlsxwriter
from Crypto.Cipher import AES

from libs.contracts.faults import Code, DocumentFault
from libs.runtime import unlock
from services.parser.formats.hwp_distribution import readable
from services.parser.formats.ole_write import write_ole
from services.profiler.profile import profile_file
from tests.support.parsing import parse_bytes


def _book() -> bytes:
    out = io.BytesIO()
    book = xlsxwriter.Workbook(out)
    book.add_worksheet("Plan").write(0, 0, "열린 문서")
    book.close()
    return out.getvalue()


def _standard(package: bytes, password: str) -> bytes:
    """The package encrypted as Office 2007 does ([MS-OFFCRYPTO] 2.3.4.5)."""
    salt, secret = bytes(range(16)), bytes(range(16, 32))
    digest = hashlib.sha1(salt + password.encode("utf-16-le")).digest()
    for i in range(50_000):
        digest = hashlib.sha1(struct.pack("<I", i) + digest).digest()
    last = hashlib.sha1(digest + bytes(4)).digest()
    key = hashlib.sha1(bytes(b ^ 0x36 for b in last.ljust(64, b"\0"))).digest()[:16]
    cipher = AES.new(key, AES.MODE_ECB)
    header = struct.pack("<IIIIIIII", 0x24, 0, 0x660E, 0x8004, 128, 0x18, 0, 0) + b"A\0\0\0"
    verifier = struct.pack("<I", 16) + salt + cipher.encrypt(secret) + struct.pack("<I", 20)
    verifier += cipher.encrypt(hashlib.sha1(secret).digest().ljust(32, b"\0"))
    info = struct.pack("<HHII", 3, 2, 0x24, len(header)) + header + verifier
    body = struct.pack("<Q", len(package)) + cipher.encrypt(
        package.ljust(-(-len(package) // 16) * 16)
    )
    return write_ole({("EncryptionInfo",): info, ("EncryptedPackage",): body})


def _agile(package: bytes, password: str) -> bytes:
    """The package encrypted as later versions do ([MS-OFFCRYPTO] 2.3.4.10)."""
    salt, data_salt, key = bytes(16), bytes(range(16)), bytes(range(32))
    digest = hashlib.sha512(salt + password.encode("utf-16-le")).digest()
    for i in range(1000):
        digest = hashlib.sha512(struct.pack("<I", i) + digest).digest()

    def locked(value: bytes, purpose: str) -> str:
        own = hashlib.sha512(digest + bytes.fromhex(purpose)).digest()[:32]
        return base64.b64encode(AES.new(own, AES.MODE_CBC, salt).encrypt(value)).decode()

    def text(value: bytes) -> str:
        return base64.b64encode(value).decode()

    secret = bytes(range(50, 66))
    known = hashlib.sha512(secret).digest()
    about = 'saltSize="16" blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" '
    about += 'cipherChaining="ChainingModeCBC" hashAlgorithm="SHA512"'
    xml = (
        '<encryption xmlns="http://schemas.microsoft.com/office/2006/encryption" '
        'xmlns:p="http://schemas.microsoft.com/office/2006/keyEncryptor/password">'
        f'<keyData {about} saltValue="{text(data_salt)}"/><keyEncryptors><keyEncryptor>'
        f'<p:encryptedKey spinCount="1000" {about} saltValue="{text(salt)}" '
        f'encryptedVerifierHashInput="{locked(secret, "fea7d2763b4b9e79")}" '
        f'encryptedVerifierHashValue="{locked(known, "d7aa0f6d3061344e")}" '
        f'encryptedKeyValue="{locked(key, "146e0be7abacd0d6")}"/></keyEncryptor></keyEncryptors>'
        "</encryption>"
    )
    body = struct.pack("<Q", len(package))
    padded = package.ljust(-(-len(package) // 16) * 16, b"\0")
    for number, at in enumerate(range(0, len(padded), 4096)):
        vector = hashlib.sha512(data_salt + struct.pack("<I", number)).digest()[:16]
        body += AES.new(key, AES.MODE_CBC, vector).encrypt(padded[at : at + 4096])
    info = struct.pack("<HHI", 4, 4, 0x40) + xml.encode()
    return write_ole({("EncryptionInfo",): info, ("EncryptedPackage",): body})


@pytest.mark.parametrize("lock", [_standard, _agile])
def test_the_password_that_excel_gives_by_itself_is_no_hindrance(lock, tmp_path):
    locked = lock(_book(), unlock.PASSWORD)
    path = tmp_path / "plan.xlsx"
    path.write_bytes(locked)
    profile = profile_file(path, file_name="plan.xlsx", size=len(locked), sha256="0" * 64)
    assert (profile.format, profile.size) == ("xlsx", len(locked))
    assert parse_bytes(locked, "xlsx").texts("paragraph") == ["열린 문서"]


@pytest.mark.parametrize("lock", [_standard, _agile])
def test_any_other_password_stays_a_fault(lock, tmp_path):
    locked = lock(_book(), "another")
    path = tmp_path / "plan.xlsx"
    path.write_bytes(locked)
    with pytest.raises(DocumentFault) as problem:
        profile_file(path, file_name="plan.xlsx", size=len(locked), sha256="0" * 64)
    assert problem.value.code is Code.ENCRYPTED
    with pytest.raises(DocumentFault) as problem:
        parse_bytes(locked, "xlsx")
    assert problem.value.code is Code.ENCRYPTED


@pytest.mark.parametrize("info", [b"", b"\4\0\4\0", b"\4\0\4\0" + b"\0" * 4 + b"<a/>", b"\3\0\2\0"])
def test_encryption_that_cannot_be_read_opens_nothing(info, tmp_path):
    path = tmp_path / "x"
    path.write_bytes(write_ole({("EncryptionInfo",): info, ("EncryptedPackage",): b"x" * 99}))
    assert unlock.unlocked_package(path) is None


def _scrambled(seed: int, plain: bytes) -> bytes:
    """256 bytes that unscramble to `plain` behind the seed."""
    out, state, run, value = bytearray(struct.pack("<I", seed) + plain), seed, 0, 0
    for i in range(256):
        if run == 0:
            state = (state * 214013 + 2531011) & 0xFFFFFFFF
            value = state >> 16 & 0xFF
            state = (state * 214013 + 2531011) & 0xFFFFFFFF
            run = (state >> 16 & 0x0F) + 1
        if i >= 4:
            out[i] ^= value
        run -= 1
    return bytes(out)


def test_a_distribution_copy_of_hwp_gets_its_text_back():
    seed, text = 0x1234567B, os.urandom(8_000)
    plain = os.urandom(252)
    offset = seed & 0x0F
    cipher = AES.new(plain[offset : offset + 16], AES.MODE_ECB)
    view = struct.pack("<I", 256 << 20 | 0x1C) + _scrambled(seed, plain) + cipher.encrypt(text)
    header = b"HWP Document File".ljust(36, b"\0") + b"\5" + bytes(219)
    copy = write_ole(
        {
            ("FileHeader",): header,
            ("DocInfo",): b"info",
            ("BodyText", "Section0"): b"a notice",
            ("ViewText", "Section0"): view,
        }
    )
    import olefile

    with olefile.OleFileIO(io.BytesIO(readable(copy))) as ole:
        assert ole.openstream("FileHeader").read()[36] == 1
        assert ole.openstream("BodyText/Section0").read() == text
        assert ole.openstream("DocInfo").read() == b"info"
        assert not ole.exists("ViewText")


def test_a_damaged_distribution_copy_is_a_document_fault():
    header = b"HWP Document File".ljust(36, b"\0") + b"\5" + bytes(219)
    copy = write_ole({("FileHeader",): header, ("ViewText", "Section0"): b"short"})
    with pytest.raises(DocumentFault) as problem:
        readable(copy)
    assert problem.value.code is Code.UNREADABLE
    assert readable(b"no compound file") == b"no compound file"
