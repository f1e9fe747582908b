"""`deploy/nats/users.conf`: the permissions as a nats-server reads them.

Passwords are environment variables of the server, `NATS_<USER>_PASSWORD`. The pattern for
tenants is filled in for the namespace `default`; copy it for others.
"""

import json
from pathlib import Path

from deploy.local.generated.permissions import permissions

TARGET = Path("deploy/nats/users.conf")
NAMESPACE = "default"

_HEAD = """\
# Who may say and hear what. Written from the catalogue of the bus by `make fix`; change it there.
"""


def password_name(user: str) -> str:
    """The environment variable that holds a user's password."""
    return f"NATS_{user.upper()}_PASSWORD"


def render(_root: Path) -> dict[Path, str]:
    """The file."""
    users = "".join(
        f"    {{\n      user: {user}\n      password: ${password_name(user)}\n"
        f"      permissions: {json.dumps(allowed).replace('{namespace}', NAMESPACE)}\n    }}\n"
        for user, allowed in permissions().items()
    )
    return {TARGET: f"{_HEAD}authorization {{\n  users: [\n{users}  ]\n}}\n"}
