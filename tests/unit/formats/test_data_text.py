"""XML, JSON, notebooks, subtitles and office documents in one XML text."""

import base64
import json

import pytest

from libs.contracts.faults import Code, DocumentFault
from tests.support import documents
from tests.support.fences import cpu_fence
from tests.support.parsing import parse_bytes

ODF = "urn:oasis:names:tc:opendocument:xmlns:"
FLAT = f"""<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="{ODF}office:1.0" xmlns:text="{ODF}text:1.0"
 xmlns:table="{ODF}table:1.0" office:version="1.2" office:mimetype="%s"><office:body>%s
</office:body></office:document>"""
TABLE = """<table:table table:name="Bars"><table:table-row><table:table-cell><text:p>Name</text:p>
</table:table-cell><table:table-cell><text:p>Bar</text:p></table:table-cell></table:table-row>
<table:table-row><table:table-cell><text:p>V1</text:p></table:table-cell><table:table-cell>
<text:p>3</text:p></table:table-cell></table:table-row></table:table>"""
TEXT = """<office:text><text:h text:outline-level="1">Pumps</text:h><text:p>A pump.</text:p>
</office:text>"""
EXCEL = """<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?>
<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"
 xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Styles>
<Style ss:ID="p"><NumberFormat ss:Format="Percent"/></Style>
<Style ss:ID="d"><NumberFormat ss:Format="Short Date"/></Style></Styles>
<Worksheet ss:Name="Valves"><Table><Column/><Column ss:Index="3" ss:Hidden="1"/>
<Row><Cell><Data ss:Type="String">Name</Data></Cell><Cell><Data ss:Type="String">Share</Data></Cell>
</Row><Row><Cell ss:MergeDown="1"><Data ss:Type="String">V1</Data></Cell>
<Cell ss:StyleID="p"><Data ss:Type="Number">0.5</Data></Cell>
<Cell><Data ss:Type="String">secret</Data></Cell></Row>
<Row><Cell ss:Index="2" ss:StyleID="d"><Data ss:Type="DateTime">2024-03-01T00:00:00.000</Data>
<Comment><Data>checked</Data></Comment></Cell></Row></Table></Worksheet></Workbook>"""
HWPML = """<?xml version="1.0" encoding="UTF-8"?><HWPML Version="2.8"><HEAD><MAPPINGTABLE>
<BINDATALIST/></MAPPINGTABLE></HEAD><BODY><SECTION Id="0">
<P><TEXT CharShape="0"><CHAR>제1장 총칙</CHAR></TEXT></P>
<P><TEXT CharShape="0"><CHAR>펌프는<LINEBREAK/>물을 옮긴다.</CHAR>
<FOOTNOTE><PARALIST><P><TEXT><CHAR>늘 그렇지는 않다</CHAR></TEXT></P></PARALIST></FOOTNOTE>
</TEXT></P><P><TEXT><TABLE RepeatHeader="true"><ROW>
<CELL ColSpan="2" RowSpan="1"><PARALIST><P><TEXT>
<CHAR>머리</CHAR></TEXT></P></PARALIST></CELL></ROW><ROW><CELL ColSpan="1" RowSpan="1"><PARALIST>
<P><TEXT><CHAR>가</CHAR></TEXT></P></PARALIST></CELL><CELL><PARALIST><P><TEXT><CHAR>나</CHAR></TEXT>
</P></PARALIST></CELL></ROW></TABLE></TEXT></P></SECTION></BODY><TAIL><BINDATASTORAGE/></TAIL></HWPML>
"""


def test_a_flat_text_document():
    data = FLAT % ("application/vnd.oasis.opendocument.text", TEXT)
    parsed = parse_bytes(data.encode(), "odt", encoding="utf-8")
    assert parsed.outline() == [(1, "Pumps")]
    assert parsed.texts("paragraph") == ["A pump."]


def test_a_flat_spreadsheet():
    body = f"<office:spreadsheet>{TABLE}</office:spreadsheet>"
    data = FLAT % ("application/vnd.oasis.opendocument.spreadsheet", body)
    parsed = parse_bytes(data.encode(), "ods", encoding="utf-8")
    assert parsed.outline() == [(1, "Bars")]
    assert parsed.only("table").text == "Name: V1; Bar: 3"


def test_a_word_document_saved_as_one_xml_text():
    import io
    import zipfile

    parts = []
    with zipfile.ZipFile(io.BytesIO(documents.docx())) as archive:
        types = archive.read("[Content_Types].xml").decode()
        for name in archive.namelist():
            if name.startswith("[") or name.endswith("/"):
                continue
            kind = types.partition(f'PartName="/{name}"')[2].partition('ContentType="')[2]
            kind = kind.partition('"')[0] or "application/xml"
            packed = base64.b64encode(archive.read(name)).decode()
            parts.append(
                f'<pkg:part pkg:name="/{name}" pkg:contentType="{kind}">'
                f"<pkg:binaryData>{packed}</pkg:binaryData></pkg:part>"
            )
    data = (
        '<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage">'
        + "".join(parts)
        + "</pkg:package>"
    )
    flat = parse_bytes(data.encode(), "docx", encoding="utf-8")
    assert [r.text for r in flat.rows] == [
        r.text for r in parse_bytes(documents.docx(), "docx").rows
    ]


@pytest.mark.parametrize("name", ["odt", "ods", "docx", "xls", "hwp"])
def test_broken_xml_is_unreadable_and_a_bomb_hostile(name):
    bomb = '<!DOCTYPE a [<!ENTITY b "cccccccc"><!ENTITY d "&b;&b;&b;&b;">]><a>&d;</a>'
    for data, code in (("<a><b></a>", Code.UNREADABLE), (bomb, Code.HOSTILE)):
        with pytest.raises(DocumentFault) as caught:
            parse_bytes(data.encode(), name, encoding="utf-8")
        assert caught.value.code == code


def test_an_excel_workbook_in_xml():
    parsed = parse_bytes(EXCEL.encode(), "xls", encoding="utf-8")
    assert parsed.outline() == [(1, "Valves")]
    shown = [r for r in parsed.rows if r.kind == "table" and not r.hidden]
    assert [r.text for r in shown] == ["Name: V1; Share: 50.00%\nName: V1; Share: 2024-03-01"]
    assert 'rowspan="2">V1' in (shown[0].html or "")
    assert [r.hidden for r in parsed.rows if "secret" in r.text] == [True]
    assert parsed.texts("note") == ["B3: checked"]


def test_hwpml():
    parsed = parse_bytes(HWPML.encode(), "hwp", encoding="utf-8")
    assert parsed.outline() == [(1, "제1장 총칙")]
    assert parsed.texts("paragraph") == ["펌프는\n물을 옮긴다."]
    assert parsed.texts("footnote") == ["늘 그렇지는 않다"]
    assert parsed.only("table").text == "머리: 가; 나" or "가" in parsed.only("table").text
    assert '<th colspan="2">머리</th>' in (parsed.only("table").html or "")


def test_xml_of_documents():
    parsed = parse_bytes(
        b'<!DOCTYPE book SYSTEM "file:///etc/passwd"><book xmlns="http://docbook.org/ns/docbook">'
        b"<title>Pumps</title><chapter><title>Valves</title><para>A <emphasis>valve</emphasis> is"
        b" small.</para><itemizedlist><listitem><para>one</para></listitem></itemizedlist>"
        b"<informaltable><tgroup cols='2'><thead><row><entry>Name</entry><entry>Bar</entry></row>"
        b"</thead><tbody><row><entry morerows='1'>V1</entry><entry>3</entry></row>"
        b"<row><entry>4</entry></row></tbody></tgroup></informaltable>"
        b"<programlisting>a\n  b</programlisting></chapter></book>",
        "xml",
    )
    assert parsed.outline() == [(1, "Pumps"), (2, "Valves")]
    assert parsed.texts("paragraph")[0] == "A valve is small."
    assert "one" in [r.text for r in parsed.rows]
    assert parsed.only("table").text == "Name: V1; Bar: 3\nName: V1; Bar: 4"
    assert parsed.texts("code") == ["a\n  b"]


def test_xml_of_data_is_a_table_of_its_fields():
    parsed = parse_bytes(
        b"<catalog version='2'><book id='1'><name>Pumps</name><listPrice>3</listPrice></book>"
        b"<book id='2'><name>Valves &amp; more</name></book></catalog>",
        "xml",
    )
    assert parsed.only("table").text == (
        "id: 1; name: Pumps; listPrice: 3\nid: 2; name: Valves & more"
    )


def test_a_feed_has_a_section_an_item_and_its_markup_is_read():
    parsed = parse_bytes(
        b"<rss><channel><title>News</title><item><title>Pumps</title><link>http://x.example</link>"
        b"<description>&lt;p&gt;A &lt;b&gt;pump&lt;/b&gt;&lt;/p&gt;</description></item>"
        b"</channel></rss>",
        "xml",
    )
    assert parsed.outline() == [(1, "News"), (2, "Pumps")]
    assert parsed.texts("paragraph") == ["link: http://x.example", "A pump"]


def test_xml_that_is_broken_or_declares_entities_is_a_fault():
    with pytest.raises(DocumentFault) as broken:
        parse_bytes(b"<a><b></a>", "xml")
    assert broken.value.code == Code.UNREADABLE
    with pytest.raises(DocumentFault) as bomb:
        parse_bytes(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "xml")
    assert bomb.value.code == Code.HOSTILE


def test_xml_in_the_encoding_of_the_country_and_xml_that_is_not_closed():
    korean = '<?xml version="1.0" encoding="euc-kr"?><a><b>펌프</b><c>밸브</c></a>'
    parsed = parse_bytes(korean.encode("cp949"), "xml", encoding="cp949")
    assert parsed.texts("paragraph") == ["b: 펌프", "c: 밸브"]
    broken = parse_bytes(b"<a><b>Pumps&nbsp;and</b><c>valves</a>", "xml")
    assert "Pumps and" in " ".join(r.text for r in broken.rows)
    assert "xml_damaged" in broken.findings


def test_json_has_sections_tables_and_values_by_their_names():
    parsed = parse_bytes(
        json.dumps(
            {
                "title": "Pumps",
                "valves": [{"name": "V1", "bar": 3}, {"name": "V2", "bar": None, "on": True}],
                "tags": ["red", "blue"],
                "makers": {"first": {"city": "Seoul"}},
            }
        ).encode(),
        "json",
    )
    assert parsed.outline() == [(1, "valves"), (1, "makers"), (2, "first")]
    assert parsed.only("table").text == "name: V1; bar: 3\nname: V2; on: true"
    assert parsed.texts("paragraph") == ["title: Pumps", "tags: red, blue", "city: Seoul"]


def test_json_that_is_none_or_too_deep_stays_as_written():
    parsed = parse_bytes(b'{"a": 1,', "json")
    assert parsed.texts("code") == ['{"a": 1,']
    assert "invalid_json" in parsed.findings
    deep = parse_bytes(b'{"a":' * 60 + b"1" + b"}" * 60, "json")
    assert deep.texts("code")[0].endswith("}")


def test_a_notebook():
    picture = base64.b64encode(documents.png()).decode()
    parsed = parse_bytes(
        json.dumps(
            {
                "nbformat": 4,
                "cells": [
                    {"cell_type": "markdown", "source": ["# Pumps\n", "\n", "A pump."]},
                    {
                        "cell_type": "code",
                        "source": "print(42)",
                        "outputs": [
                            {"output_type": "stream", "text": ["42\n"]},
                            {"data": {"image/png": picture, "text/plain": "<Figure>"}},
                            {"data": {"text/html": "<table><tr><td>1</td><td>2</td></tr></table>"}},
                            {"output_type": "error", "ename": "KeyError", "evalue": "'x'"},
                        ],
                    },
                ],
            }
        ).encode(),
        "ipynb",
    )
    assert parsed.kinds() == ["heading", "paragraph", "code", "code", "image", "table", "code"]
    assert parsed.texts("code") == ["print(42)", "42", "KeyError: 'x'"]


def test_a_damaged_notebook_is_unreadable():
    with pytest.raises(DocumentFault) as caught:
        parse_bytes(b'{"nbformat": 4', "ipynb")
    assert caught.value.code == Code.UNREADABLE


def test_subtitles_are_paragraphs_with_the_times_at_which_they_begin():
    parsed = parse_bytes(
        b"WEBVTT - Pumps\n\nNOTE unseen\n\n1\n00:01.000 --> 00:02.000 align:start\n<v Anna>Hello\n"
        b"<i>there</i>.\n\n00:02.500 --> 00:03.000\n<v Anna>Again.\n\n"
        b"00:03.000 --> 00:04.000\n<v Ben>Yes &amp; no.\n\n01:00:09.000 --> 01:00:10.000\nLater.\n",
        "vtt",
    )
    assert parsed.outline() == [(1, "Pumps")]
    assert [(r.marker, r.text) for r in parsed.rows[1:]] == [
        ("00:00:01", "Anna: Hello there. Again."),
        ("00:00:03", "Ben: Yes & no."),
        ("01:00:09", "Later."),
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"<a>" * 50_000 + b"x" + b"</a>" * 50_000, "xml"),
        (b"<a>" + b"<b c='1'/>" * 50_000 + b"</a>", "xml"),
        (b"[" * 100_000, "json"),
        (b'{"a":[' + b"1," * 200_000 + b"2]}", "json"),
        (b"00:01.000 --> " * 20_000, "vtt"),
        (b"\n00:01.000 --> 00:02.000\nx\n" * 8_000, "vtt"),
    ],
)
def test_absurd_texts_are_read_in_linear_time(data, name):
    with cpu_fence():
        assert parse_bytes(data, name).rows
