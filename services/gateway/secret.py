"""The secret of this install that signs upload links."""

import contextlib
import os
import secrets
from pathlib import Path

FILE_NAME = "upload-secret"
BYTES = 32


def install_secret(data_dir: Path) -> bytes:
    """Read the secret, making it when it is absent; readable by its owner only.

    Several processes may make it at once: the first one's is everybody's.
    """
    path = data_dir / FILE_NAME
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    data_dir.mkdir(parents=True, exist_ok=True)
    temporary = data_dir / f".{FILE_NAME}.{os.getpid()}.{secrets.token_hex(4)}"
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(BYTES))
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()
    return path.read_bytes()
