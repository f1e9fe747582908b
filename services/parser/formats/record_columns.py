"""How the columns of files of records are called."""

from libs.contracts.entries import RecordRules
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.rows import one_line

COLUMNS: dict[str, tuple[str, ...]] = {
    "id": (
        "id",
        "_id",
        "entry_id",
        "menu_id",
        "code",
        "아이디",
        "코드",
        "메뉴id",
        "식별자",
        "service_id",
        "서비스id",
        "서비스아이디",
        "번호",
        "서비스번호",
    ),
    "name": (
        "name",
        "title",
        "menu_name",
        "이름",
        "명칭",
        "메뉴명",
        "메뉴",
        "제목",
        "서비스명",
        "service_name",
    ),
    "path": ("path", "menu_path", "경로", "메뉴경로", "위치"),
    "category": ("category", "group", "카테고리", "분류", "구분"),
    "keywords": ("keywords", "keyword", "tags", "키워드", "태그", "검색어"),
    "search_count": ("search_count", "searches", "count", "popularity", "검색수", "조회수"),
    "text": (
        "text",
        "description",
        "embedding_text",
        "desc",
        "summary",
        "body",
        "content",
        "contents",
        "설명",
        "내용",
        "서비스설명",
        "서비스내용",
        "상세설명",
        "개요",
        "요약",
    ),
    "image": ("image", "이미지"),
    "visible": ("visible", "display", "use_yn", "노출", "노출여부", "표시"),
    "deleted": ("deleted", "delete", "삭제"),
}
"""Our fields, and how their columns are commonly called."""
QUESTION = ("question", "query", "sample_query", "질문", "질의", "예문")


def stated_columns(rules: RecordRules) -> dict[str, str]:
    """Our field by the folded name of the file's column that the rules state.
    Raises `DocumentFault(UNREADABLE)` for a field that there is not."""
    unknown = sorted(set(rules.columns) - set(COLUMNS) - {"question"})
    if unknown:
        raise DocumentFault(
            Code.UNREADABLE, f"columns: no field is called {unknown[0][:40]}; known are "
            f"{', '.join(COLUMNS)}, question",
        )  # fmt: skip
    return {field: folded(column) for field, column in rules.columns.items()}


def folded(column: str) -> str:
    """The name of a column as it is compared."""
    return one_line(column).casefold().replace(" ", "_")
