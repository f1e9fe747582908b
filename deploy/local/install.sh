#!/usr/bin/env bash
# Makes .venv with the pinned packages: uv where it can be had, pip otherwise.
set -euo pipefail
cd "$(dirname "$0")/../.."

UV_VERSION=0.13.9
new_enough='import sys; sys.exit(sys.version_info < (3, 11))'
can_make_venv='import venv, ensurepip'

find_python() {
  local name too_old="" bare=""
  for name in python3.14 python3.13 python3.12 python3.11 python3; do
    command -v "$name" >/dev/null 2>&1 || continue
    if ! "$name" -c "$new_enough" 2>/dev/null; then too_old=$name; continue; fi
    if "$name" -c "$can_make_venv" 2>/dev/null; then echo "$name"; return; fi
    bare=${bare:-$name}
  done
  if [ -n "$bare" ]; then
    local version
    version=$("$bare" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    echo "$bare cannot make virtual environments: install Debian's package python$version-venv" \
      "(apt-get install python$version-venv), then run make again" >&2
  else
    echo "Python 3.11 or newer is needed${too_old:+, but $too_old is older}:" \
      "install it (Debian: apt-get install python3 python3-venv), then run make again" >&2
  fi
  return 1
}

if ! .venv/bin/python -c "$new_enough" 2>/dev/null; then
  python=$(find_python)
  echo "making .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
fi

export UV_PYTHON_DOWNLOADS=never
if [ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet "uv==$UV_VERSION"; then
  .venv/bin/uv pip install --quiet --python .venv/bin/python -c constraints.txt -e ".[dev]"
else
  echo "uv is not to be had here, using pip (slower)"
  .venv/bin/python -m pip install --quiet -c constraints.txt -e ".[dev]"
fi
