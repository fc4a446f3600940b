#!/usr/bin/env bash
# Builds Debian's source package once more, in another folder: the packages must be equal byte for byte.
# Usage: try_equal.sh [FOLDER]     (after ./run package deb, on the same system; FOLDER must not be there)
# FOLDER is for the sources; packages go beside it. Ends with 1 if one differs; diffoscope says in what.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
first=$PWD/build/packages/deb
sources=${1:-$PWD/build/packages/again/in-another-folder}

fail() {
  echo "try_equal: $*" >&2
  exit 1
}

set -- "$first"/*.dsc
[ -e "$1" ] || fail "no source package in $first: ./run package deb makes one"
[ ! -e "$sources" ] || fail "$sources is there already: remove it, or name another folder"
mkdir -p "$(dirname "$sources")"
dpkg-source -x "$1" "$sources" >/dev/null 2>&1 || fail "dpkg-source could not unpack $1"
(cd "$sources" && dpkg-buildpackage --no-sign -b) >"$sources.log" 2>&1 || fail "the second build failed: $sources.log"
differ=0
for package in "$first"/*.deb; do
  again=$(dirname "$sources")/$(basename "$package")
  cmp "$package" "$again" && echo "equal: $(basename "$package")" || differ=1
done
[ $differ -eq 0 ] || fail "packages differ; diffoscope FIRST SECOND says in what"
rm -rf "$sources"
