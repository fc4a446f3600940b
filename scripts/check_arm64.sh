#!/usr/bin/env bash
# Nodes for arm64 under qemu-user beside nodes of this x86-64 machine, in jobs of chunks: as client, as server, as one that dies,
# as a guest, by the network, of its own `terrane join`, and as a cluster behind gateways. Builds build/arm64, which takes minutes
# at first.
# Usage: scripts/check_arm64.sh [--built] [--clusters] [BUILD_FOLDER]. --clusters: these alone. 77: what it needs is missing, or with
# --built nothing was built before.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

readonly arm=$PWD/build/arm64
clusters=no
if [ "${1:-}" = --built ]; then
  shift
  [ -d "$arm" ] || {
    echo "build/arm64 is missing; scripts/check_arm64.sh makes it"
    exit 77
  }
fi
if [ "${1:-}" = --clusters ]; then
  shift
  clusters=only
fi
build=$(realpath "${1:-build/release}")
readonly build
readonly terrane=$build/bin/terrane native=$build/tests/chunks/chunks_node_program foreign=$arm/chunks_node_program

readonly root=$PWD/build/arm64-root qemu=$arm/qemu own=$arm/src/frontend
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || echo qemu-aarch64-static)
readonly emulator
for needed in aarch64-linux-gnu-g++ "$emulator"; do
  command -v "$needed" >/dev/null || {
    echo "$needed is missing. Install it: apt-get install g++-aarch64-linux-gnu qemu-user-static"
    exit 77
  }
done

# The libraries for arm64 are installed, or come into a folder.
libraries=/usr/lib/aarch64-linux-gnu
if [ ! -e "$libraries/libucp.so.0" ]; then
  libraries=$root$libraries:$root/lib/aarch64-linux-gnu
  export TERRANE_ARM64_ROOT=$root
  [ -d "$root" ] || scripts/get_arm64_libraries.sh "$root" || {
    rm -rf "$root"
    echo "no libraries for arm64. Install them: dpkg --add-architecture arm64 && apt-get update && apt-get install" \
      "libfmt-dev:arm64 libssl-dev:arm64 libtomlplusplus-dev:arm64 libucx-dev:arm64"
    exit 77
  }
fi
readonly libraries

# The emulator with the folders of the libraries. The cross compiler's own folder has the loader.
write_qemu() {
  mkdir -p "$arm"
  printf '#!/bin/sh\nexec %s -L /usr/aarch64-linux-gnu -E LD_LIBRARY_PATH=%s "$@"\n' \
    "$emulator" "$own/chunks:$own/runtime:$libraries" >"$qemu"
  chmod +x "$qemu"
}

build_foreign() {
  cmake -G Ninja -S . -B "$arm" -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DTERRANE_TESTS=OFF -DTERRANE_UNITY=ON -DCMAKE_SKIP_BUILD_RPATH=ON -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache || return
  cmake --build "$arm" --parallel "$(nproc)" --target libterrane_chunks terrane || return
  build_program chunks_node_program \
    {node_program,subscriptions,parts_and_chains,coherences,comings_and_goings,misuse,long_waits,placed}.cpp &&
    build_program chunks_cpp_program cpp_program.cpp
}

build_program() { # NAME SOURCES of tests/chunks...
  local name=$1
  shift
  aarch64-linux-gnu-g++ -std=c++20 -O1 -D_GNU_SOURCE -Iinclude -o "$arm/$name" "${@/#/tests/chunks/}" \
    -L"$own/chunks" -lterrane_chunks -Wl,-rpath-link,"$own/runtime:$libraries" -lpthread
}

# Three nodes, one of them foreign; so many must be good.
check() { # GOOD FOREIGN_NODE MODE OPTIONS...
  local good=$1 node=$2 mode=$3 said
  said=$("$terrane" run -n 3 --timeout 300 --heartbeat 0 "${@:4}" sh -c \
    'if [ "$TERRANE_NODE" = "$1" ]; then exec "$2" "$3" "$5"; fi; exec "$4" "$5"' \
    sh "$node" "$qemu" "$foreign" "$native" "$mode" 2>&1) || [ "$good" -lt 3 ] || said="failed: $said"
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
  "$terrane" join "$job" "$qemu" "$foreign" guest
  echo "a guest for arm64: good"
  "$terrane" invite "$job" | "$qemu" "$arm/bin/terrane" join --invitation - /usr/bin/env "$qemu" "$foreign" guest
  echo "a guest of an arm64 terrane join: good"
  "$terrane" join "$job" "$native" stop
  wait $! && [ "$(grep -c '^good$' "$output")" -eq 2 ]
}

# A cluster for arm64 beside one of native hosts, joined by native gateways: two nodes each. ENGINE: of the host: arm64 or native.
# MODE: of the program; empty: it has none.
run_clusters() { # ENGINE QEMU PROGRAM MODE OPTIONS...
  # shellcheck disable=SC2016
  ENGINE=$1 TERRANE_RSH=$arm/rsh "$terrane" hosts --clusters 2x1 --isolate 1 -- \
    "$terrane" run -H h0:2,h1:2 --clusters x86:h0/arm:h1 --gateways x86:h0/arm:h1 --timeout 300 --heartbeat 0 "${@:5}" sh -c \
    'if [ "$TERRANE_NODE" -ge 2 ]; then exec $1 "$2" $4; fi; exec "$3" $4' \
    sh "$2" "$arm/$3" "$build/tests/chunks/$3" "$4" 2>&1
}

check_clusters() { # GOOD ENGINE PROGRAM MODE OPTIONS...
  local good=$1 engine=$2 said
  said=$(run_clusters "$engine" "$qemu" "${@:3}") || [ "$good" -lt 4 ] || said="failed: $said"
  [ "$(grep -c '^good$' <<<"$said")" -eq "$good" ] || {
    echo "$3 $4, a cluster for arm64, engine $engine: $said"
    exit 1
  }
  echo "$3 $4, a cluster for arm64, engine $engine: good"
}

# Nodes with pages of another size are refused, with the reason.
check_refusal() {
  local said
  said=$(run_clusters native "$qemu -p 65536" chunks_node_program scopes --servers 0,2) && said="not refused: $said"
  grep -q 'the page size is 4096 .* but 65536 ' <<<"$said" || {
    echo "nodes with pages of 64 KiB: $said"
    exit 1
  }
  echo "nodes with pages of 64 KiB: refused"
}

# Used like ssh: HOST, the words of a command.
write_rsh() {
  cat >"$arm/rsh" <<END
#!/bin/sh
host=\$1
shift
if [ "\$host:\$ENGINE:\$2" = h1:arm64:host-engine ]; then
  shift
  set -- "$qemu" "$arm/bin/terrane" "\$@"
fi
exec enter_host "\$host" "\$@"
END
  chmod +x "$arm/rsh"
}

# Hosts of namespaces need rights that not every machine gives.
check_all_clusters() {
  "$terrane" hosts --clusters 2x1 -- true 2>"$output" || {
    echo "without clusters: $(cat "$output")"
    return
  }
  write_rsh
  for mode in scopes whole subscriptions late handlers parts chains hints once meetings misuse; do
    check_clusters 4 native chunks_node_program "$mode" --servers 0,2
  done
  check_clusters 4 arm64 chunks_node_program subscriptions --servers 2,
  for engine in native arm64; do check_clusters 4 "$engine" chunks_cpp_program "" --servers 0,2; done
  check_clusters 3 native chunks_node_program death --servers 0,1 --on-death survive
  check_refusal
}

output=$(mktemp)
readonly output
trap 'rm -f "$output"' EXIT
write_qemu
build_foreign >"$output" 2>&1 || {
  cat "$output"
  exit 1
}
if [ "$clusters" = only ]; then
  check_all_clusters
  exit
fi
for node in 0 2; do # a server and a client
  for mode in scopes whole subscriptions late handlers parts chains hints once meetings stalled misuse; do
    check 3 "$node" "$mode" --servers 0,1
  done
  check 3 "$node" goers --servers 0,
  check 2 "$node" death --servers 0,1 --on-death survive
  check 2 "$node" server-death --servers 0,1 --on-death survive
done
check_guests
check_all_clusters
