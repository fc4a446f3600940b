#!/usr/bin/env bash
# Builds the wheel pyterrane of a staged installation. Usage: wheel.sh STAGE FOLDER [PYTHON...]
# 3.11 has a wheel of its own, and one of a later version serves all of them; without a PYTHON those in the path count.
# The tools (scikit-build-core, nanobind) come by pip into a folder that is removed again.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

die() {
  echo "wheel: $*" >&2
  exit 1
}

has_headers() {
  "$1" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null
}

pythons() {
  local version
  for version in 3.11 3.12 3.13 3.14 3.15; do
    has_headers "python$version" || continue
    echo "python$version"
    [ "$version" = 3.11 ] || return 0
  done
}

# The staged files that a wheel holds, stripped, with the libraries of others that a system may not have. pip keeps no
# links: a library has the one name by which others need it, and a linker script where compilers look.
make_tree() { # TREE
  local file name libraries
  libraries=$(dirname "$(find "$stage" -name libterrane.so.0)")
  mkdir -p "$1/lib" "$1/bin"
  cp -r "$stage/include" "$stage/share" "$1"
  rm -rf "$1/share/doc" "$1/share/terrane/modulefiles" "$1"/include/terrane/fortran/gfortran-*
  cp "$stage/bin/terrane" "$1/bin"
  cp -r "$libraries/terrane" "$libraries/pkgconfig" "$1/lib"
  rm -rf "$1/lib/terrane/examples"
  for file in "$libraries"/libterrane*.so.0; do
    cp -L "$file" "$1/lib"
    name=$(basename "$file")
    [ ! -e "$libraries/${name%.0}" ] || echo "INPUT ( $name )" >"$1/lib/${name%.0}"
  done
  for file in $(ldd "$1/bin/terrane" | sed -nE 's/.* => (.*Zy(dis|core).*) \(.*/\1/p'); do cp -L "$file" "$1/lib"; done
  programs "$1" | xargs strip --strip-unneeded
}

# The programs and libraries of a tree.
programs() { # TREE
  find "$1" -type f \( -name '*.so.*' -o -perm -u+x \) -exec sh -c 'head -c 4 "$1" | grep -q ELF' _ {} \; -print
}

# The newest version of glibc that a file of the tree needs: pip refuses the wheel on an older system.
glibc_of() { # TREE
  programs "$1" | xargs objdump -T | grep -oE '\(GLIBC_[0-9.]+' | sed 's/.*GLIBC_//' | sort -Vu | tail -n 1
}

build_with() { # PYTHON
  local venv more=()
  venv=$tools/venv-$(basename "$1")
  command -v ninja >/dev/null || more=(ninja)
  # One wheel for several versions of Python needs CMake 3.26.
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 12))' && more+=(cmake)
  "$1" -m venv "$venv" || die "$1 has no venv (Debian: python3-venv)"
  "$venv/bin/pip" install -q --disable-pip-version-check scikit-build-core nanobind wheel "${more[@]}" ||
    die "pip could not install scikit-build-core and nanobind"
  PATH=$venv/bin:$PATH "$venv/bin/pip" wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$tools" \
    -Cbuild-dir="$venv/build" -Ccmake.define.TERRANE_STAGE="$tools/tree" ./python
  "$venv/bin/python" -m wheel tags --remove --platform-tag "manylinux_${glibc/./_}_$(uname -m)" \
    "$tools"/*-linux_"$(uname -m)".whl >/dev/null
  mv "$tools"/*.whl "$folder"
}

[ $# -ge 2 ] || die "usage: wheel.sh STAGE FOLDER [PYTHON...]"
stage=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- $(pythons)
[ $# -gt 0 ] || die "no Python 3.11 or newer with its headers (Debian: python3-dev)"
mkdir -p "$folder"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
make_tree "$tools/tree"
glibc=$(glibc_of "$tools/tree")
for python in "$@"; do
  has_headers "$python" || die "$python is not there, or its headers are not (Debian: python3-dev)"
  build_with "$python"
done
echo "Built: $(cd "$folder" && echo *.whl) in $folder"
