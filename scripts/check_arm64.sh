#!/usr/bin/env bash
# Nodes for arm64 under qemu-user beside nodes of this x86-64 machine, in jobs of chunks: as client, as server, as one that dies,
# and as a guest, by the network, of its own `terrane join`. Builds build/arm64, which takes minutes at first.
# Usage: scripts/check_arm64.sh [--built] [BUILD_FOLDER]. 77: what it needs is missing, or with --built nothing was built before.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly arm=$PWD/build/arm64
if [ "${1:-}" = --built ]; then
  shift
  [ -d "$arm" ] || {
    echo "build/arm64 is missing; scripts/check_arm64.sh makes it"
    exit 77
  }
fi
build=$(realpath "${1:-build/release}")
readonly build
readonly terrane=$build/bin/terrane native=$build/tests/chunks/chunks_node_program foreign=$arm/chunks_node_program

for needed in aarch64-linux-gnu-g++ qemu-aarch64 /usr/lib/aarch64-linux-gnu/libucp.so.0; do
  command -v "$needed" >/dev/null || [ -e "$needed" ] || {
    echo "$needed is missing. Install it: dpkg --add-architecture arm64 && apt-get update && apt-get install" \
      "g++-aarch64-linux-gnu qemu-user libfmt-dev:arm64 libssl-dev:arm64 libtomlplusplus-dev:arm64 libucx-dev:arm64"
    exit 77
  }
done

build_foreign() {
  cmake -G Ninja -S . -B "$arm" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DTERRANE_TESTS=OFF -DCMAKE_SKIP_BUILD_RPATH=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache || return
  cmake --build "$arm" --parallel "$(nproc)" --target libterrane_chunks terrane || return
  local library=$arm/src/frontend/chunks runtime=$arm/src/membership
  aarch64-linux-gnu-g++ -std=c++20 -O1 -D_GNU_SOURCE -Iinclude -o "$foreign" \
    tests/chunks/{node_program,subscriptions,parts_and_chains,coherences,comings_and_goings,misuse}.cpp -L"$library" -lterrane_chunks \
    -Wl,-rpath,"$library:$runtime" -Wl,-rpath-link,"$runtime" -lpthread
}

# Three nodes, one of them foreign; so many must be good.
check() { # GOOD FOREIGN_NODE MODE OPTIONS...
  local good=$1 node=$2 mode=$3 said
  said=$("$terrane" run -n 3 --timeout 300 --heartbeat 0 "${@:4}" sh -c \
    'if [ "$TERRANE_NODE" = "$1" ]; then exec qemu-aarch64 "$2" "$4"; fi; exec "$3" "$4"' \
    sh "$node" "$foreign" "$native" "$mode" 2>&1) || [ "$good" -lt 3 ] || said="failed: $said"
  [ "$(grep -c '^good$' <<<"$said")" -eq "$good" ] || {
    echo "$mode, node $node for arm64: $said"
    exit 1
  }
  echo "$mode, node $node for arm64: good"
}

# Guests of a job of two native nodes, the last of which ends it.
check_guests() {
  local job=arm64-$$
  : >"$output"
  "$terrane" run -n 2 --guests 3 --name "$job" --timeout 300 "$native" hosts >"$output" 2>&1 &
  until grep -q ready "$output"; do
    kill -0 $! || exit 1
    sleep 0.1
  done
  "$terrane" join "$job" qemu-aarch64 "$foreign" guest
  echo "a guest for arm64: good"
  "$terrane" invite "$job" | qemu-aarch64 "$arm/bin/terrane" join --invitation - /usr/bin/env qemu-aarch64 "$foreign" guest
  echo "a guest of an arm64 terrane join: good"
  "$terrane" join "$job" "$native" stop
  wait $! && [ "$(grep -c '^good$' "$output")" -eq 2 ]
}

output=$(mktemp)
readonly output
trap 'rm -f "$output"' EXIT
build_foreign >"$output" 2>&1 || {
  cat "$output"
  exit 1
}
for node in 0 2; do # a server and a client
  for mode in scopes whole subscriptions late handlers parts chains hints once meetings stalled misuse; do
    check 3 "$node" "$mode" --servers 0,1
  done
  check 3 "$node" goers --servers 0,
  check 2 "$node" death --servers 0,1 --on-death survive
  check 2 "$node" server-death --servers 0,1 --on-death survive
done
check_guests
