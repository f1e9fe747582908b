"""Endpoints in the settings, and which models they open."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from libs.runtime.models.factory import open_model
from libs.runtime.models.settings import KEYLESS, Endpoint
from libs.runtime.models.use import ModelUse
from services.chunker.settings import Settings as Chunker
from services.planner.settings import Settings as Planner


def planner(monkeypatch: pytest.MonkeyPatch, **variables: str) -> Planner:
    for name, value in variables.items():
        monkeypatch.setenv(f"GROUNDWIRE_{name}", value)
    return Planner(_env_file=None)  # type: ignore[call-arg]


def test_nothing_is_configured_by_default() -> None:
    assert open_model(ModelUse.ANALYZE, Planner(_env_file=None)) is None  # type: ignore[call-arg]


def test_a_use_is_read_from_four_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = planner(
        monkeypatch,
        MODEL_ANALYZE_URL="http://127.0.0.1:1/v1",
        MODEL_ANALYZE_NAME="small",
        MODEL_ANALYZE_KEYS="a, b",
        MODEL_ANALYZE_RPM="60,30",
    )
    endpoint = settings.model_analyze
    assert (endpoint.key_list, endpoint.rates) == (["a", "b"], [60.0, 30.0])
    model = open_model(ModelUse.ANALYZE, settings)
    assert model is not None
    assert model.name == "small"
    assert open_model(ModelUse.PLAN, settings) is None
    assert open_model(ModelUse.SUMMARY, settings) is None, "not one of the planner's uses"


def test_a_file_configures_it_as_well(tmp_path: Path) -> None:
    file = tmp_path / "env"
    file.write_text(
        "GROUNDWIRE_MODEL_SUMMARY_URL=https://example.org/v1\nGROUNDWIRE_MODEL_SUMMARY_NAME=m\n"
        "GROUNDWIRE_MODEL_HYDE_URL=https://example.org/v1\nGROUNDWIRE_MODEL_HYDE_NAME=m\n"
    )
    settings = Chunker(_env_file=file)  # type: ignore[call-arg]
    assert settings.model_summary.key_list == [KEYLESS]
    assert open_model(ModelUse.SUMMARY, settings) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"url": "http://h/v1"},
        {"keys": "canary"},
        {"keys": "canary", "name": "n"},
        {"url": "ftp://h", "name": "n"},
        {"url": "http://h", "name": "n", "keys": "a,b,c", "rpm": "1,2"},
        {"url": "http://h", "name": "n", "rpm": "-1"},
        {"url": "http://h", "name": "n", "rpm": "many"},
    ],
)
def test_half_an_endpoint_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        Endpoint(**wrong)
    assert "canary" not in str(refused.value)


def test_a_refusal_does_not_print_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValidationError) as refused:
        planner(monkeypatch, MODEL_PLAN_KEYS="canary-4711")
    assert "canary" not in str(refused.value)


def test_keys_are_not_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = planner(
        monkeypatch,
        MODEL_PLAN_URL="http://h/v1",
        MODEL_PLAN_NAME="m",
        MODEL_PLAN_KEYS="canary-4711",
    )
    assert "canary" not in repr(settings)
    assert "canary" not in settings.model_dump_json()


def test_opening_a_model_does_not_import_the_library() -> None:
    code = (
        "import sys\n"
        "from libs.runtime.models.client import EndpointModel\n"
        "from libs.runtime.models.factory import open_model\n"
        "from libs.runtime.models.use import ModelUse\n"
        "from services.planner.settings import Settings\n"
        "point = dict(url='http://127.0.0.1:1/v1', name='m')\n"
        "assert open_model(ModelUse.PLAN, Settings(_env_file=None, model_plan=point))\n"
        "sys.exit('openai' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
