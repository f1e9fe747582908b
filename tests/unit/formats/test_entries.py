import io
import json

import pytest
import xlsxwriter

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.contracts.entries import Entry, RecordRules
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import AssetSink, ParseInput
from services.parser.formats.records import parse


@pytest.fixture
def read(tmp_path):
    """Entries and findings of a file under these rules."""

    def reading(
        data: str | bytes, name, file_name="m", **rules
    ) -> tuple[list[Entry], list[Finding]]:
        path = tmp_path / "source"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        profile = Profile(
            format=name, media_type="text/csv", file_name=file_name, size=1, sha256="0" * 64,
            encoding=None if name == "xlsx" else "utf-8", records=RecordRules(**rules),
        )  # fmt: skip
        pages, sink = PageRange(first=0, last=0), AssetSink(tmp_path / "out")
        found = parse(ParseInput(path, profile, pages, sink, tmp_path))
        return [r.entry for r in found.rows if r.entry], found.findings

    return reading


CSV = (
    "메뉴ID,메뉴명,경로,분류,키워드,검색수,담당\n"
    'M1,자동이체 등록,이체 > 자동이체,이체,"정기 송금, 매달 보내기","1,204",수신팀\n'
    "M2,환율 조회,외환 > 환율,외환,달러;엔화,88,\n"
)


def test_a_korean_table_is_read_by_the_common_names_of_its_columns(read):
    (first, second), findings = read(CSV, "csv")
    assert first == Entry(
        id="M1", name="자동이체 등록", path="이체 > 자동이체", category="이체",
        keywords=["정기 송금", "매달 보내기"], search_count=1204, fields={"담당": "수신팀"},
    )  # fmt: skip
    assert (second.keywords, second.fields) == (["달러", "엔화"], {})
    assert findings == []


def test_stated_columns_win_over_common_names(read):
    (entry,), _ = read("id,name,label\n1,a,b\n", "csv", columns={"name": "Label"})
    assert (entry.name, entry.fields) == ("b", {"name": "a"})
    with pytest.raises(DocumentFault, match="no field is called colour"):
        read(CSV, "csv", columns={"colour": "x"})


def test_json_lines_keep_lists_and_nested_fields(read):
    lines = [{"id": 7, "name": "Fox", "keywords": ["red", "quick"], "home": {"kind": "den"}}]
    (entry,), _ = read("\n".join(map(json.dumps, lines)), "jsonl")
    assert (entry.id, entry.keywords, entry.fields) == (
        "7",
        ["red", "quick"],
        {"home.kind": "den"},
    )


def test_a_workbook_leaves_out_what_is_hidden_unless_asked(read):
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        for row, line in enumerate(
            [["id", "name", "노출"], [1, "a", "Y"], [2, "b", "N"], [3, "c"]]
        ):
            sheet.write_row(row, 0, line)
        sheet.set_row(3, None, None, {"hidden": True})
    seen, (finding,) = read(out.getvalue(), "xlsx")
    assert [e.id for e in seen] == ["1"]
    assert (finding.code, finding.count) == ("rows_not_visible", 2)
    every, findings = read(out.getvalue(), "xlsx", visible_only=False)
    assert ([e.id for e in every], findings) == (["1", "2", "3"], [])


@pytest.mark.parametrize("line", ["[1]", '"a"', "null", "no json", "{", '{"name": "x"}'])
@pytest.mark.parametrize("looks", ["jsonl", "txt", "fragments", "md"])
def test_a_line_that_is_no_record_is_named_and_the_others_are_read(read, looks, line):
    good = '{"id": 1, "name": "a", "type": "text", "content": "c", "path": "p"}'
    (entry,), (finding,) = read(f"{line}\n{good}\n", looks, "m.jsonl")
    assert (entry.id, entry.text) == ("1", "c")
    assert finding.detail.startswith("row 1: ")
    with pytest.raises(DocumentFault, match="1 rows are faulty and none was taken"):
        read(f"{good}\n{line}\n", looks, "m.jsonl", on_error="refuse")


def test_a_text_is_read_as_its_name_says(read):
    table = 'id,name,text\n1,a,"# one\n\n**two**, (three)"\n'
    (entry,), findings = read(table, "md", "services.csv")
    assert (entry.name, entry.text, findings) == ("a", "# one\n\n**two**, (three)", [])
    (entry,), _ = read('[\n{"id": 1,\n "name": "a"}]', "json", "services.json")
    assert entry.name == "a"
    with pytest.raises(DocumentFault) as caught:
        read("just prose", "txt", "notes.txt")
    assert caught.value.code is Code.UNSUPPORTED


def test_numbered_menus_need_no_mapping(read):
    (entry,), _ = read("번호,메뉴\n1,등대 예약\n", "csv")
    assert (entry.id, entry.name, entry.fields) == ("1", "등대 예약", {})


def test_a_file_without_a_column_for_ids_says_how_one_is_stated(read):
    with pytest.raises(DocumentFault, match="no column names its id: `id`, `code`, or one that"):
        read("number,name\n1,a\n", "csv")


FAULTY = "id,name,search_count\n1,a,3\n,b,4\n3,,5\n4,d,many\n"


def test_faulty_rows_are_named_and_the_good_ones_kept(read):
    (entry,), findings = read(FAULTY, "csv", mode="replace")
    assert entry.id == "1"
    assert [f.detail for f in findings] == [
        "row 3: it has no id",
        "row 4: it has no name",
        "row 5: its search_count is no whole number",
    ]


def test_or_the_file_is_refused_whole(read):
    with pytest.raises(DocumentFault, match=r"2 rows are faulty.*row 3: it has no id") as caught:
        read(FAULTY, "csv", on_error="refuse")
    assert caught.value.code == Code.UNREADABLE


TWICE = "id,name,keywords\n1,a,x\n1,b,y\n"


@pytest.mark.parametrize(
    ("rule", "name", "words"),
    [("merge", "b", ["x", "y"]), ("first", "a", ["x"]), ("last", "b", ["y"])],
)
def test_an_id_that_comes_twice_follows_the_rule(read, rule, name, words):
    (entry,), _ = read(TWICE, "csv", duplicates=rule)
    assert (entry.name, entry.keywords) == (name, words)


def test_an_id_that_comes_twice_may_be_a_fault(read):
    (entry,), (finding,) = read(TWICE, "csv", duplicates="refuse")
    assert (entry.name, finding.detail) == ("a", "row 3: the id is in the file twice")


def test_questions_are_known_by_id_and_text(read):
    asked = "entry_id,question\n1,어떻게 보내요\n1,매달 보내려면\n1,어떻게 보내요\n2,\n"
    found, (finding,) = read(asked, "csv", kind="questions")
    assert [(e.id, e.name) for e in found] == [("1", "어떻게 보내요"), ("1", "매달 보내려면")]
    assert finding.detail == "row 5: it has no question"


def test_only_tables_and_json_lines_hold_records(read):
    with pytest.raises(DocumentFault) as caught:
        read("# a heading\n", "md")
    assert caught.value.code == Code.UNSUPPORTED
