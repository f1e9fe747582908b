"""A command of an operator inside the cluster: `check`, `backup`, `rebuild`, `doctor`.

    python -m deploy.k8s.job OVERLAY [--claim NAME] [--schedule CRON] -- groundwire check

prints a Job, or with a schedule a CronJob, for `kubectl create -f -`. It is the overlay's own
bootstrap Job with another command and the memory of an indexer, so that it has the stores, the
secrets, the user of the bus and the network policies of that, and nothing is written down twice.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from deploy.k8s.tools import Lacking, objects, rendered

TEMPLATE, LARGE = ("Job", "bootstrap"), ("Deployment", "indexer")
CLAIM_FOLDER = "/backup"
KEPT_SECONDS = 7 * 86_400

Object = dict[str, Any]


def job(
    found: Sequence[Mapping[str, Any]],
    command: Sequence[str],
    *,
    claim: str | None = None,
    schedule: str | None = None,
) -> Object:
    """The Job that runs `command` once, or the CronJob that does at the times of `schedule`.

    `found` are the objects of an overlay. The volume `claim` is mounted at `/backup`. Raises
    `ValueError` where the overlay has no bootstrap Job or no indexer.
    """
    made = deepcopy(_one(found, *TEMPLATE))
    spec, pod = made["spec"], made["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    (indexer,) = _one(found, *LARGE)["spec"]["template"]["spec"]["containers"]
    container |= {"command": list(command), "resources": indexer["resources"]}
    if claim is not None:
        pod["volumes"].append({"name": "kept", "persistentVolumeClaim": {"claimName": claim}})
        container["volumeMounts"].append({"name": "kept", "mountPath": CLAIM_FOLDER})
    pod["restartPolicy"] = "Never"
    del spec["activeDeadlineSeconds"]
    spec |= {"backoffLimit": 0, "ttlSecondsAfterFinished": KEPT_SECONDS}
    verb = command[1] if len(command) > 1 else command[0]
    about = {"namespace": made["metadata"]["namespace"], "labels": made["metadata"]["labels"]}
    if schedule is None:
        return made | {"metadata": about | {"generateName": f"{verb}-"}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": about | {"name": verb},
        "spec": {
            "schedule": schedule,
            "concurrencyPolicy": "Forbid",
            "startingDeadlineSeconds": 3600,
            "jobTemplate": {"metadata": {"labels": about["labels"]}, "spec": spec},
        },
    }


def _one(found: Sequence[Mapping[str, Any]], kind: str, name: str) -> Object:
    for each in found:
        if (each["kind"], each["metadata"]["name"]) == (kind, name):
            return dict(each)
    raise ValueError(f"the overlay has no {kind} {name}")


def main(words: Sequence[str]) -> int:
    """Print the object; the number to exit with."""
    parser = argparse.ArgumentParser(prog="python -m deploy.k8s.job")
    parser.add_argument("overlay", type=Path, help="a folder that kustomize renders")
    parser.add_argument("--claim", help=f"a volume claim, mounted at {CLAIM_FOLDER}")
    parser.add_argument("--schedule", help="when to run it again and again, as cron writes it")
    parser.add_argument("command", nargs="+", help="after --, such as: groundwire check")
    given = parser.parse_args(words)
    try:
        made = job(
            objects(rendered(given.overlay)),
            given.command,
            claim=given.claim,
            schedule=given.schedule,
        )
    except (Lacking, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(yaml.safe_dump(made, sort_keys=False), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
