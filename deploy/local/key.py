"""The local key: given by `GROUNDWIRE_API_KEY`, or made once and kept in the data folder."""

import hashlib
import secrets
from datetime import UTC, datetime

from deploy.local.folder import DataFolder, write_private
from libs.runtime.catalog.keys import KeyRecord
from libs.runtime.settings import Settings

PREFIX = "gw_"


def local_key(settings: Settings, folder: DataFolder) -> str:
    """The secret of the local key; made and stored for this user alone when there is none."""
    if settings.api_key:
        return settings.api_key
    try:
        if kept := folder.key_file.read_text(encoding="utf-8").strip():
            return kept
    except FileNotFoundError:
        pass
    secret = PREFIX + secrets.token_hex(16)
    write_private(folder.key_file, secret + "\n")
    return secret


def key_record(secret: str, namespace: str) -> KeyRecord:
    """How the local key is stored: hashed, admin, at home in the local namespace.

    Its id follows from the secret, so that storing it again changes nothing.
    """
    digest = hashlib.sha256(secret.encode()).hexdigest()
    return KeyRecord(
        key_id=f"key-local-{digest[:16]}",
        namespace=namespace,
        role="admin",
        label="local key",
        secret_hash=digest,
        created_at=datetime.now(UTC),
    )
