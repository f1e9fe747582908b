"""The parsing engines that a caller can name."""

from typing import Annotated

from pydantic import AfterValidator, ValidationInfo

from libs.contracts.base import is_stored

ENGINES = ("docling", "liteparse", "native")
"""`native` is what each format has by itself, for PDFs `liteparse`; `docling` reads pages by
docling's models."""


def known_engine(name: str, info: ValidationInfo) -> str:
    """`name` itself; ValueError where no engine is called so.

    What was stored before (validation context `stored`) stays readable.
    """
    if name not in ENGINES and not is_stored(info):
        raise ValueError(f"unknown engine; known are {', '.join(ENGINES)}")
    return name


Engine = Annotated[str, AfterValidator(known_engine)]
