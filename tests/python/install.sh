#!/usr/bin/env bash
# Builds the wheel of a build, and installs it into a fresh environment, which no compiler and no variable of this shell
# reaches. Usage: install.sh CMAKE BUILD_FOLDER ENVIRONMENT. Exit code 77: pip cannot install here.
set -euo pipefail
readonly here=$(dirname "$(readlink -f "$0")")
rm -rf "$3" "$3.wheels" "$3.stage"

python=
for version in 3.11 3.12 3.13 3.14 3.15; do
  "python$version" -c 'import os, sysconfig, venv; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || continue
  python=python$version
  break
done
[ -n "$python" ] || { echo "no Python 3.11 or newer with headers and venv" && exit 77; }
python=$("$python" -c 'import sys; print(sys.executable)')
"$python" -m venv "$3"
"$3/bin/pip" install -q --disable-pip-version-check --retries 1 numpy || { echo "pip cannot install NumPy" && exit 77; }

"$1" --install "$2" --prefix "$3.stage" >/dev/null
"$here/../../packaging/wheel.sh" "$3.stage" "$3.wheels" "$python"
rm -rf "$3.stage"
more() { "$3/bin/pip" install -q --disable-pip-version-check --retries 1 --no-compile "${@:4}"; }
others=(cloudpickle nbclient ipykernel mypy pytest joblib numba)
more "$@" "${others[@]}" || for package in "${others[@]}"; do more "$@" "$package" || echo "pip cannot install $package"; done
size=$(stat -c %s "$3.wheels"/*.whl)
[ "$size" -le 15000000 ] || { echo "the wheel has $size bytes" && exit 1; }
env -i HOME="$3" PATH=/nonexistent "$3/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$3.wheels"/*.whl
env -i PATH=/nonexistent "$3/bin/terrane" --version
env -i PATH=/nonexistent "$3/bin/terrane" doctor >/dev/null
env -i PATH=/nonexistent "$3/bin/python" -m pyterrane run -n 2 "$3/bin/python" -c "
import pyterrane as tr
a = tr.zeros(2)
a[tr.node()] = 21
tr.barrier()
assert a.sum() == 42"
