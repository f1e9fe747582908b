"""The corpus of the search benchmark is one that the retriever answers from."""

from pathlib import Path

from bench.corpus import NAMESPACE, fill, queries, texts
from bench.search import retriever_over
from libs.contracts.api.search import RetrieveQuery
from libs.runtime.catalog.sql.upgrade import upgrade
from libs.runtime.settings import Settings


async def test_what_was_filled_in_steps_is_found_by_every_channel(tmp_path: Path) -> None:
    await upgrade(Settings(data_dir=tmp_path, _env_file=None).resolved_catalog_url())
    await fill(tmp_path, 0, 30)
    await fill(tmp_path, 30, 45)
    wanted = [*texts(0, 30), *texts(30, 15)]
    async with retriever_over(tmp_path) as retriever:
        for number in (3, 29, 30, 44):
            query = RetrieveQuery(namespace=NAMESPACE, query=wanted[number], top_k=2)
            first = (await retriever.retrieve(query)).chunks[0]
            assert first.content == wanted[number]
            assert {"content", "dense"} <= first.channels.keys()
            phrase = query.model_copy(update={"query": f'"Item {number}:"', "top_k": 40})
            found = (await retriever.retrieve(phrase)).chunks
            assert [c.content for c in found if "term" in c.channels] == [wanted[number]]
        assert len((await retriever.retrieve(query.model_copy(update={"top_k": 50}))).chunks) == 45


def test_queries_are_distinct_and_the_same_in_every_run() -> None:
    asked = queries(200)
    assert len(set(asked)) == 200
    assert asked == queries(200)
