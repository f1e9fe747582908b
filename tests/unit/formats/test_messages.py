"""Mailboxes, and messages of Outlook."""

from services.parser.formats.msg_rtf import rtf_of
from services.parser.formats.ole_write import write_ole
from tests.support.parsing import parse_bytes

MAILBOX = b"""From a@example.org Mon Jan  1 00:00:00 2024
From: A <a@example.org>
Subject: First

Hello there.

>From the pump comes water.

From b@example.org Tue Jan  2 00:00:00 2024
From: B <b@example.org>
Subject: Second
Content-Type: text/html; charset=utf-8

<h1>Answer</h1><p>From here
From there
</p>
"""


def message(**texts: str) -> dict[tuple[str, ...], bytes]:
    tags = {"subject": "0037", "sender": "0C1A", "address": "5D01", "to": "0E04", "body": "1000",
            "headers": "007D"}  # fmt: skip
    return {
        (f"__substg1.0_{tags[name]}001F",): text.encode("utf-16-le") for name, text in texts.items()
    } | {("__properties_version1.0",): bytes(32)}


def test_each_message_of_a_mailbox_has_a_section():
    parsed = parse_bytes(MAILBOX, "mbox")
    assert parsed.outline() == [(1, "First"), (1, "Second"), (1, "Answer")]
    assert parsed.texts("paragraph")[:2] == ["Hello there.", "From the pump comes water."]
    assert "From there" in parsed.texts("paragraph")[2]


def test_a_message_of_outlook_with_what_is_attached():
    streams = message(
        subject="펌프 점검", sender="Anna", address="anna@example.org", to="Ben",
        body="One.\r\n\r\nTwo.", headers="Received: x\r\nDate: Mon, 1 Jan 2024 10:00:00 +0900\r\n",
    )  # fmt: skip
    streams |= {
        ("__attach_version1.0_#00000000", "__substg1.0_3707001F"): "a.md".encode("utf-16-le"),
        ("__attach_version1.0_#00000000", "__substg1.0_37010102"): b"# Valves\n\nA valve.\n",
        ("__attach_version1.0_#00000001", "__substg1.0_3701000D", "__properties_version1.0"): b"x",
        ("__attach_version1.0_#00000001", "__substg1.0_3701000D", "__substg1.0_0037001F"):
            "Inner".encode("utf-16-le"),
    }  # fmt: skip
    parsed = parse_bytes(write_ole(streams), "msg")
    assert parsed.outline() == [(1, "펌프 점검"), (2, "Inner"), (2, "a.md"), (3, "Valves")]
    assert parsed.texts("table")[0] == (
        "From | Anna <anna@example.org>\nTo | Ben\nDate | Mon, 1 Jan 2024 10:00:00 +0900"
    )
    assert parsed.texts("paragraph") == ["One.", "Two.", "A valve."]


def test_a_message_that_only_has_rtf():
    streams = message(subject="Pumps") | {
        ("__substg1.0_10090102",): b"\0" * 8 + b"MELA" + b"\0" * 4 + rb"{\rtf1\ansi A pump.\par}"
    }
    assert parse_bytes(write_ole(streams), "msg").texts("paragraph") == ["A pump."]


def test_packed_rtf_is_unpacked():
    # the example of [MS-OXRTFCP], 3.1.1.1
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232"
        "0af32068656c090020627705b06c647d0a800fa0"
    )
    assert rtf_of(b"no packed RTF at all") == b""
    assert rtf_of(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
