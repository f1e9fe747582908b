from pathlib import Path

import pytest

from libs.contracts.artefacts.rows import Row
from libs.runtime.artefacts import decode_rows
from services.parser.rowfile import FEW, read_rows, write_rows


@pytest.mark.parametrize("count", [0, 1, FEW - 1, FEW, FEW + 1])
def test_few_rows_and_many_are_read_back_alike(tmp_path: Path, count: int) -> None:
    rows = [Row(order=n, kind="paragraph", text=f"row {n}") for n in range(count)]
    path = tmp_path / "rows"
    assert write_rows(path, iter(rows)) == count
    assert list(read_rows([path])) == rows
    assert decode_rows(path.read_bytes()) == rows


@pytest.mark.parametrize("count", [3, FEW + 2])
def test_rows_of_several_shards_are_counted_anew(tmp_path: Path, count: int) -> None:
    path = tmp_path / "rows"
    write_rows(path, (Row(order=n % 2, kind="paragraph", text="x") for n in range(count)))
    assert [row.order for row in read_rows([path])] == list(range(count))
