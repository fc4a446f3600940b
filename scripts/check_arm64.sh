#!/usr/bin/env bash
# A client for arm64 under qemu-user beside nodes of this machine's own architecture, in one job of chunks. By hand: what it
# builds takes minutes. Usage: scripts/check_arm64.sh [BUILD_FOLDER]; wants g++-aarch64-linux-gnu and qemu-user (77: they are missing).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly build=${1:-build/release}
readonly out=$build/arm64
readonly compiler=aarch64-linux-gnu-g++

for tool in "$compiler" qemu-aarch64; do
  command -v "$tool" >/dev/null || {
    echo "$tool is missing: install g++-aarch64-linux-gnu and qemu-user"
    exit 77
  }
done

# Headers that know no architecture, without those of this machine's C library.
mkdir -p "$out/include" "$out/objects"
for header in fmt ucp ucs uct ucm; do
  ln -sfn "/usr/include/$header" "$out/include/$header"
done

compile() { # SOURCE
  local object=$out/objects/${1//\//_}.o
  if [ "$object" -nt "$1" ]; then return; fi
  "$compiler" -std=c++20 -O1 -D_GNU_SOURCE -DFMT_HEADER_ONLY -DTERRANE_VERSION="\"$version\"" -Isrc -Iinclude \
    -isystem "$out/include" -c "$1" -o "$object"
}
version=$(sed -n 's/^project(terrane VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
export -f compile
export out compiler version

find src/base src/wire src/protocol src/platform src/transport src/bootstrap src/runtime src/frontend/chunks \
  tests/chunks/node_program.cpp -name '*.cpp' ! -name '*_test.cpp' ! -path 'src/runtime/shmem/*' -print0 |
  xargs -0 -n 1 -P "$(nproc)" bash -c 'compile "$0"'
"$compiler" -static -Wl,--gc-sections -o "$out/node_program" "$out"/objects/*.o -lpthread -ldl

# Node 2 is the foreign one: a client of servers that are not.
for mode in scopes whole subscriptions late handlers meetings; do
  "$build/bin/terrane" run -n 3 --servers 0,1 --timeout 300 --heartbeat 0 sh -c \
    'if [ "$TERRANE_NODE" = 2 ]; then exec qemu-aarch64 "$1/node_program" "$2"; fi; exec "$3" "$2"' \
    sh "$out" "$mode" "$build/tests/chunks/chunks_node_program" | sort | uniq -c | grep -q ' 3 good'
  echo "$mode: good"
done
