import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.parser.formats.sheets_format import plain, shown


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (1234.5, "General", "1234.5"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1234.5, "#,##0.00", "1,234.50"),
        (1234567, "#,##0", "1,234,567"),
        (1234567, "#,##0,", "1,235"),
        (-5, "#,##0", "-5"),
        (-1599.99, "$#,##0.00;[Red]($#,##0.00)", "($1,599.99)"),
        (0, '#,##0;-#,##0;"-"', "-"),
        (0.1234, "0.0%", "12.3%"),
        (0.025, "0%", "3%"),
        (198356388, "0.00E+00", "1.98E+08"),
        (0.00012, "0.0E-0", "1.2E-4"),
        (2.5, "# ?/?", "2 1/2"),
        (0.75, "?/?", "3/4"),
        (5, "000", "005"),
        (5551234, "###-####", "555-1234"),
        (12.3, "0.##", "12.3"),
        (12.0, "0.##", "12"),
        (1234.5, "[$₩-412]#,##0", "₩1,235"),
        (99, '[>=100]"big" 0;[<100]"small" 0', "small 99"),
        (19.99, '"Cost: "0.0" won"', "Cost: 20.0 won"),
        (-1234.5, '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)', "(1,234.50)"),
        (7, "@", "7"),
    ],
)
def test_numbers(value, code, expected):
    assert shown(value, code) == expected


@pytest.mark.parametrize(
    ("value", "code", "expected"),
    [
        (45352, "yyyy-mm-dd", "2024-03-01"),
        (45352, "m/d/yy", "3/1/24"),
        (45352, "d-mmm-yy", "1-Mar-24"),
        (45352, "dddd, mmmm dd, yyyy", "Friday, March 01, 2024"),
        (45352.5, 'yyyy"년" m"월" d"일" aaaa', "2024년 3월 1일 금요일"),
        (45352.26, "h:mm AM/PM", "6:14 AM"),
        (45352.75, "h:mm", "18:00"),
        (45352.5, "mm/dd hh:mm:ss", "03/01 12:00:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (1, "yyyy-mm-dd", "1900-01-01"),
        (61, "yyyy-mm-dd", "1900-03-01"),
    ],
)
def test_dates_and_times(value, code, expected):
    assert shown(value, code) == expected


def test_dates_of_the_other_epoch():
    assert shown(43890, "yyyy-mm-dd", epoch_1904=True) == "2024-03-01"


def test_a_date_outside_the_calendar_is_shown_plainly():
    assert shown(1e9, "yyyy-mm-dd") == plain(1e9)
    assert shown(-3.5, "yyyy-mm-dd") == "-3.5"


@given(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**18), 10**18),
    st.text(alphabet='#0?.,%E+-;"[]$_*\\@ymdhs/:()AMPGenral< 한', max_size=24),
)
def test_no_code_can_break_the_renderer(value, code):
    assert isinstance(shown(value, code), str)
