"""Office files that Excel locks with its own well-known password and opens without asking.

A workbook with a protected structure is stored encrypted with the password of
[MS-OFFCRYPTO] 2.4.2.3, so that every reader can open it. Standard (ECMA-376, 2.3.4.7) and agile
encryption (2.3.4.10) with AES are followed; a file with any other password stays closed.
"""

import base64
import hashlib
import struct
from pathlib import Path
from typing import Any

PASSWORD = "VelvetSweatshop"  # noqa: S105  # not a secret: the standard prints it
MAX_PACKAGE = 512 << 20
MAX_SPIN = 1_000_000
STANDARD_SPIN = 50_000
SEGMENT = 4096
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_AGILE = "{http://schemas.microsoft.com/office/2006/encryption}"
_AGILE_LOCK = "{http://schemas.microsoft.com/office/2006/keyEncryptor/password}"
_VERIFIER_INPUT = bytes.fromhex("fea7d2763b4b9e79")
_VERIFIER_VALUE = bytes.fromhex("d7aa0f6d3061344e")
_KEY_VALUE = bytes.fromhex("146e0be7abacd0d6")
_HASHES = {"SHA1": "sha1", "SHA-1": "sha1", "SHA256": "sha256", "SHA384": "sha384",
           "SHA512": "sha512"}  # fmt: skip


def unlocked_package(path: Path) -> bytes | None:
    """The zip container inside a compound file that the well-known password opens, else None."""
    import olefile  # type: ignore[import-untyped]

    with path.open("rb") as file:
        if file.read(8) != _OLE:
            return None
    try:
        with olefile.OleFileIO(str(path)) as ole:
            if not (ole.exists("EncryptionInfo") and ole.exists("EncryptedPackage")):
                return None
            if ole.get_size("EncryptedPackage") > MAX_PACKAGE:
                return None
            info = ole.openstream("EncryptionInfo").read()
            return _opened(info, ole.openstream("EncryptedPackage"))
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error,
            SyntaxError):  # fmt: skip
        return None


def _opened(info: bytes, stream: Any) -> bytes | None:
    major, minor = struct.unpack_from("<HH", info)
    if (major, minor) == (4, 4):
        return _agile(info[8:], stream)
    if minor == 2 and major in {2, 3, 4}:
        return _standard(info, stream)
    return None


def _standard(info: bytes, stream: Any) -> bytes | None:
    from Crypto.Cipher import AES

    size = int.from_bytes(info[8:12], "little")
    bits = int.from_bytes(info[28:32], "little")
    verifier = info[12 + size :]
    salt, encrypted, encrypted_hash = verifier[4:20], verifier[20:36], verifier[40:72]
    digest = _spun("sha1", salt, STANDARD_SPIN)
    last = hashlib.sha1(digest + bytes(4)).digest()  # noqa: S324  # the format's own hash
    padded = [bytes(b ^ fill for b in last.ljust(64, b"\0")) for fill in (0x36, 0x5C)]
    key = b"".join(hashlib.sha1(block).digest() for block in padded)[: bits // 8]  # noqa: S324
    cipher = AES.new(key, AES.MODE_ECB)
    expected = hashlib.sha1(cipher.decrypt(encrypted)).digest()  # noqa: S324
    if cipher.decrypt(encrypted_hash)[:20] != expected:
        return None
    length = int.from_bytes(stream.read(8), "little")
    body = stream.read()
    return cipher.decrypt(body[: len(body) // 16 * 16])[:length]


def _agile(xml: bytes, stream: Any) -> bytes | None:
    from Crypto.Cipher import AES
    from defusedxml.ElementTree import fromstring

    root = fromstring(xml)
    about, lock = root.find(f"{_AGILE}keyData"), root.find(f".//{_AGILE_LOCK}encryptedKey")
    if about is None or lock is None:
        return None
    spin, name = int(lock.get("spinCount", "")), _HASHES[lock.get("hashAlgorithm", "")]
    salt = base64.b64decode(lock.get("saltValue", ""))
    if not 0 <= spin <= MAX_SPIN:
        return None
    digest = _spun(name, salt, spin)

    def value(field: str, purpose: bytes) -> bytes:
        key = _fitted(hashlib.new(name, digest + purpose).digest(), int(lock.get("keyBits")) // 8)
        cipher = AES.new(key, AES.MODE_CBC, _fitted(salt, 16))
        return cipher.decrypt(base64.b64decode(lock.get(field, "")))

    given = value("encryptedVerifierHashInput", _VERIFIER_INPUT)[: int(lock.get("saltSize", "16"))]
    expected = hashlib.new(name, given).digest()
    if value("encryptedVerifierHashValue", _VERIFIER_VALUE)[: len(expected)] != expected:
        return None
    key = value("encryptedKeyValue", _KEY_VALUE)[: int(about.get("keyBits", "")) // 8]
    data_salt = base64.b64decode(about.get("saltValue", ""))
    data_hash = _HASHES[about.get("hashAlgorithm", "")]
    length = int.from_bytes(stream.read(8), "little")
    out = bytearray()
    number = 0
    while segment := stream.read(SEGMENT):
        mark = hashlib.new(data_hash, data_salt + struct.pack("<I", number)).digest()
        cipher = AES.new(key, AES.MODE_CBC, _fitted(mark, 16))
        out += cipher.decrypt(segment[: len(segment) // 16 * 16])
        number += 1
    return bytes(out[:length])


def _spun(name: str, salt: bytes, count: int) -> bytes:
    """The password's hash, hashed `count` times with the number of the round before it."""
    digest = hashlib.new(name, salt + PASSWORD.encode("utf-16-le")).digest()
    for number in range(count):
        digest = hashlib.new(name, struct.pack("<I", number) + digest).digest()
    return digest


def _fitted(data: bytes, size: int) -> bytes:
    return data[:size].ljust(size, b"\x36")
