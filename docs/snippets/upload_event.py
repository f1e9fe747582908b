import asyncio
import json
import os
from pathlib import Path

import nats

data = Path(os.environ.get("GROUNDWIRE_DATA_DIR", ".groundwire"))
inbox = data / "inbox" / "default"


async def main() -> None:
    inbox.mkdir(parents=True, exist_ok=True)
    (inbox / "notice.md").write_text("# Notice\n\nThe harbour opens at six.\n")

    url = (data / "run" / "nats.url").read_text().strip()
    bus = await nats.connect(url, inbox_prefix="_INBOX_upstream_default")
    outcomes = await bus.subscribe("groundwire.document.*.default.*")
    request = {
        "document_id": "notice",
        "file_name": "notice.md",
        "source": {"bucket": "inbox", "key": "notice.md"},
        "idempotency_key": "notice-2026-01-02",
    }
    await bus.jetstream().publish(
        "groundwire.ingest.requested.default", json.dumps(request).encode()
    )

    outcome = await outcomes.next_msg(timeout=30)
    print(json.loads(outcome.data)["outcome"])
    await bus.close()


asyncio.run(main())
