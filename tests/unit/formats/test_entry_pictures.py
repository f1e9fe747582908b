"""Pictures of records: in a column, anchored in a row, and such as are not taken."""

import base64
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import pytest
import xlsxwriter
from PIL import Image

from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.entries import RecordRules
from libs.contracts.faults import DocumentFault
from services.parser.formats.base import AssetSink, ParseInput, ShardResult
from services.parser.formats.record_pictures import MAX_BYTES, PictureRefused, checked, from_url
from services.parser.formats.records import parse
from tests.unit.formats.test_likeness import BARS, chart, encoded


def picture(kind: str = "PNG", colour: str = "red", size: tuple[int, int] = (8, 8)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def url(data: bytes, media_type: str = "image/png") -> str:
    return f"data:{media_type};base64,{base64.b64encode(data).decode()}"


def huge(width: int, height: int) -> bytes:
    """The head of a PNG of so many pixels, with hardly any bytes of them."""

    def part(name: bytes, data: bytes) -> bytes:
        sum_ = struct.pack(">I", zlib.crc32(name + data))
        return struct.pack(">I", len(data)) + name + data + sum_

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = part(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + body + part(b"IEND", b"")


def read(folder: Path, data: str | bytes, name: str, **rules: object) -> ShardResult:
    path = folder / "source"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    profile = Profile(
        format=name, media_type="text/csv", file_name="m", size=1, sha256="0" * 64,
        encoding=None if name == "xlsx" else "utf-8", records=RecordRules.model_validate(rules),
    )  # fmt: skip
    sink = AssetSink(folder / "out")
    return parse(ParseInput(path, profile, PageRange(first=0, last=0), sink, folder))


def entries(result: ShardResult) -> dict[str, str]:
    return {row.entry.id: row.entry.image for row in result.rows if row.entry}


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_picture_in_a_column_is_an_asset_that_the_entry_names(tmp_path: Path, kind: str) -> None:
    data = picture(kind)
    line = {"id": 1, "name": "a", "image": url(data, f"image/{kind.lower()}"), "team": "x"}
    result = read(tmp_path, json.dumps(line), "jsonl")
    (row,) = result.rows
    assert row.entry is not None
    assert row.entry.image == row.asset
    assert row.entry.fields == {"team": "x"}
    assert (tmp_path / "out" / row.entry.image).read_bytes() == data
    assert result.findings == []


def test_the_column_may_be_mapped_and_large_fields_do_not_hide_the_delimiter(
    tmp_path: Path,
) -> None:
    large = picture() + bytes(200_000)
    lines = ["id;name;icon", f'1;a;"{url(large)}"', "2;b;"]
    result = read(tmp_path, "\n".join(lines), "csv", columns={"image": "Icon"})
    found = entries(result)
    assert (found["2"], result.findings) == ("", [])
    assert (tmp_path / "out" / found["1"]).read_bytes() == large


SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
BAD = {
    "is an address": "https://example.com/a.png",
    "is an address, and nothing is fetched": "//example.com/a.png",
    "no base64 data: URL": "/etc/passwd",
    "no base64 data: URL of": "file:/etc/passwd",
    "no base64 data: URL of a PNG": url(SVG, "image/svg+xml"),
    "no PNG, JPEG or WebP": url(SVG),
    "no valid base64": "data:image/png;base64,@@@@",
    "no valid": "data:image/png;base64,iVBORw0KGg",
    "not of the type that its": url(picture("JPEG")),
    "no PNG": url(b""),
    "damaged": url(b"\x89PNG\r\n\x1a\n" + bytes(40)),
    "over 50 million pixels": url(huge(10_000, 10_000)),
    "over 50 million": url(huge(60_000, 60_000)),
    "over 1 MB": url(picture() + bytes(MAX_BYTES)),
}


@pytest.mark.parametrize("reason", BAD)
def test_a_bad_picture_is_named_by_its_row_and_the_row_is_kept(tmp_path: Path, reason: str) -> None:
    good = {"id": 1, "name": "a", "image": url(picture())}
    bad = {"id": 2, "name": "b", "image": BAD[reason]}
    result = read(tmp_path, f"{json.dumps(good)}\n{json.dumps(bad)}", "jsonl")
    found = entries(result)
    assert found.keys() == {"1", "2"}
    assert found["1"]
    assert found["2"] == ""
    (finding,) = result.findings
    assert (finding.code, finding.severity) == ("row_picture", "warning")
    assert finding.detail.startswith("row 2: its picture")
    assert reason in finding.detail
    with pytest.raises(DocumentFault, match="row 2: its picture"):
        read(tmp_path, f"{json.dumps(good)}\n{json.dumps(bad)}", "jsonl", on_error="refuse")


def test_a_picture_of_just_the_size_is_taken() -> None:
    data = picture() + bytes(MAX_BYTES)
    assert from_url(url(data[:MAX_BYTES]))[0] == data[:MAX_BYTES]
    with pytest.raises(PictureRefused, match="over 1 MB"):
        from_url(url(data[: MAX_BYTES + 1]))
    with pytest.raises(PictureRefused, match="no PNG"):
        checked(picture("GIF"))


def test_one_of_two_rows_of_an_id_gives_the_picture(tmp_path: Path) -> None:
    first, second = (url(picture(colour=colour)) for colour in ("red", "blue"))
    rows = [("a", first), ("b", second), ("c", "")]
    text = "\n".join(json.dumps({"id": 1, "name": n, "image": image}) for n, image in rows)
    merged = entries(read(tmp_path, text, "jsonl"))["1"]
    assert merged == entries(read(tmp_path, text.split("\n")[1], "jsonl"))["1"]
    kept = read(tmp_path, text, "jsonl", duplicates="first")
    assert entries(kept)["1"] == entries(read(tmp_path, text.split("\n")[0], "jsonl"))["1"]
    assert entries(read(tmp_path, text, "jsonl", duplicates="last")) == {"1": ""}


def test_a_picture_anchored_in_a_row_of_a_workbook_is_that_of_its_entry(tmp_path: Path) -> None:
    red, blue, own = (picture(colour=colour) for colour in ("red", "blue", "green"))
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        lines = [["id", "name", "image"], [1, "a"], [2, "b"], [3, "c", url(own)], [4, "d"]]
        for row, line in enumerate(lines):
            sheet.write_row(row, 0, line)
        gif = picture("GIF")
        placed = [(1, 5, blue), (1, 3, red), (3, 3, red), (4, 3, gif), (9, 3, blue)]
        for number, (row, column, data) in enumerate(placed):
            sheet.insert_image(row, column, f"{number}.img", {"image_data": io.BytesIO(data)})
    result = read(tmp_path, out.getvalue(), "xlsx")
    found = entries(result)
    shown = {
        key: (tmp_path / "out" / name).read_bytes() if name else b"" for key, name in found.items()
    }
    assert shown == {"1": red, "2": b"", "3": own, "4": b""}
    assert [f.detail for f in result.findings] == [
        "row 5: its picture is no PNG, JPEG or WebP file"
    ]


def test_screens_that_differ_by_a_few_pixels_are_two_pictures(tmp_path: Path) -> None:
    screens = []
    for x in (60, 90):
        screen = chart(BARS)
        screen.paste("grey", (x, 20, x + 2, 22))
        screens.append(encoded(screen, "PNG"))
    lines = [{"id": n, "name": "a", "image": url(data)} for n, data in enumerate(screens)]
    found = entries(read(tmp_path, "\n".join(map(json.dumps, lines)), "jsonl"))
    assert [(tmp_path / "out" / name).read_bytes() for name in found.values()] == screens
    sink = AssetSink(tmp_path / "looks")
    assert len({sink.add(data, "image/png") for data in screens}) == 1, "by their looks one"


def test_a_drawing_with_odd_anchors_costs_only_their_pictures(tmp_path: Path) -> None:
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for row, line in enumerate([["id", "name"], [1, "a"], [2, "b"]]):
            sheet.write_row(row, 0, line)
        for row, colour in ((1, "red"), (2, "blue")):
            sheet.insert_image(row, 3, "i", {"image_data": io.BytesIO(picture(colour=colour))})
    odd = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(out.getvalue())) as old, zipfile.ZipFile(odd, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "xl/drawings/drawing1.xml":
                assert b"<xdr:row>1</xdr:row>" in part
                far = b"<xdr:row>" + b"9" * 6_000 + b"</xdr:row>"
                part = part.replace(b"<xdr:row>1</xdr:row>", far)
            new.writestr(name, part)
    found = entries(read(tmp_path, odd.getvalue(), "xlsx"))
    assert {key: bool(image) for key, image in found.items()} == {"1": False, "2": True}


def test_sample_questions_and_records_that_are_taken_away_have_no_pictures(tmp_path: Path) -> None:
    line = {"id": 1, "name": "a", "image": url(picture()), "deleted": "y"}
    assert entries(read(tmp_path, json.dumps(line), "jsonl")) == {"1": ""}
    line = {"id": 1, "question": "a?", "image": "http://example.com/a.png"}
    result = read(tmp_path, json.dumps(line), "jsonl", kind="questions")
    assert (entries(result), result.findings) == ({"1": ""}, [])
