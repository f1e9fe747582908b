from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from libs.runtime.objects.file import FileObjectStore
from tests.contract.suites.objects import ObjectStoreSuite


class TestFileObjectStore(ObjectStoreSuite):
    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[FileObjectStore]:
        store = FileObjectStore(tmp_path / "objects")
        yield store
        await store.close()

    @pytest.fixture
    def open_store_source(self, tmp_path: Path) -> str:
        return (
            "from pathlib import Path\n"
            "from libs.runtime.objects.file import FileObjectStore\n"
            f"def open_store(): return FileObjectStore(Path({str(tmp_path / 'objects')!r}))\n"
        )
