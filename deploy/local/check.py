"""`groundwire check`: do the stores agree, document by document?"""

import asyncio
import sys
from dataclasses import asdict

import orjson

from deploy.local.steps import Tell, shown_steps
from libs.contracts.faults import Fault
from libs.runtime.corpusfiles import Corpus
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.indexer.check import Drift, Report, check


def run(settings: Settings, *, as_json: bool) -> int:
    """Compare the stores and say where they disagree; the number to exit with."""
    try:
        with shown_steps() as tell:
            report = asyncio.run(compare(settings, tell))
    except Fault as fault:
        print(f"the stores cannot be compared: {fault.detail}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"a store's URL is wrong: {error}", file=sys.stderr)
        return 2
    if as_json:
        sys.stdout.write(orjson.dumps(asdict(report)).decode() + "\n")
    else:
        _print(report)
    return int(bool(report.drift))


async def compare(settings: Settings, tell: Tell) -> Report:
    """Compare the stores of these settings. Raises `WorldFault(STORE_AWAY)`."""
    stores = Stores(settings)
    corpus = Corpus(stores.catalog, stores.graph, stores.objects)
    try:
        return await check(corpus, stores.index, tell)
    finally:
        await stores.close()


def _print(report: Report) -> None:
    for one in report.drift:
        print(_line(one))
    compared = f"{report.documents} documents, {report.revisions} revisions compared"
    if report.drift:
        print(f"{compared}: the stores disagree in {len(report.drift)} places; see `rebuild`")
    else:
        print(f"{compared}: the stores agree")


def place_of(one: Drift) -> str:
    """Where it is: the namespace, and the document where it is of one."""
    return "/".join(filter(None, (one.namespace, one.document_id)))


def _line(one: Drift) -> str:
    where = place_of(one)
    if one.revision is not None:
        where += f" revision {one.revision}"
    how = f": {one.found} where {one.expected} belong" if one.expected or one.found else ""
    return f"{where}\t{one.store}\t{one.detail}{how}"
