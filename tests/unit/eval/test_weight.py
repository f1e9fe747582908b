"""Hiding the weight of fonts from the parser."""

from types import SimpleNamespace

import liteparse
import pytest

from eval.parsing.weight import REGULAR, hidden_weight, plain_name


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Helvetica-Bold", "Helvetica"),
        ("ABCDEF+Arial,BoldItalic", "ABCDEF+ArialItalic"),
        ("NotoSans-SemiBold", "NotoSans"),
        ("Roboto-Black", "Roboto"),
        ("Times-Roman", "Times-Roman"),
        (None, None),
    ],
)
def test_a_name_loses_its_weight(name: str | None, plain: str | None) -> None:
    assert plain_name(name) == plain


def test_the_reader_gives_regular_text_only_while_it_is_hidden(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def parse(self: object, path: str) -> SimpleNamespace:
        item = SimpleNamespace(font_weight=700, font_name="X-Bold")
        block = SimpleNamespace(bold=True)
        return SimpleNamespace(pages=[SimpleNamespace(text_items=[item], blocks=[block])])

    monkeypatch.setattr(liteparse.LiteParse, "parse", parse)
    with hidden_weight():
        page = liteparse.LiteParse.parse(None, "a.pdf").pages[0]  # type: ignore[arg-type]
        assert (page.text_items[0].font_weight, page.text_items[0].font_name) == (REGULAR, "X")
        assert not page.blocks[0].bold
    assert liteparse.LiteParse.parse is parse
