"""What routes share: dependencies, path tokens, paging, answers."""

import re
from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Path, Query, Request
from pydantic import AfterValidator, BaseModel
from starlette.responses import Response

from libs.contracts.tokens import TOKEN_PATTERN
from services.gateway.deps import Deps
from services.gateway.http.errors import not_found

MAX_PAGE = 200
_TOKEN = re.compile(TOKEN_PATTERN)


async def _deps_of(request: Request) -> Deps:
    deps: Deps = request.app.state.deps
    return deps


def _known_shape(value: str) -> str:
    """An id that no id can look like is unknown, not invalid: nothing may be learned."""
    if not _TOKEN.match(value):
        raise not_found("the id")
    return value


def shaped(pattern: str, what: str) -> Callable[[str], str]:
    """A check that lets pass what `pattern` matches: anything else is unknown, 404."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.match(value):
            raise not_found(what)
        return value

    return check


DepsDep = Annotated[Deps, Depends(_deps_of)]
Namespaced = Annotated[str, Path(description="the namespace of the key")]
Id = Annotated[str, Path(), AfterValidator(_known_shape)]
RevisionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]
Limit = Annotated[int, Query(ge=1, le=MAX_PAGE, description="items a page")]
Cursor = Annotated[
    str | None, Query(max_length=128, pattern=TOKEN_PATTERN, description="`next_cursor` of a page")
]


def reply(model: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """The model as JSON, validated once by its type and not again."""
    return Response(
        model.model_dump_json(by_alias=True), status, headers=headers, media_type="application/json"
    )
