#!/bin/sh
# The kernels of arm64 under qemu-user give the bytes of this machine's. 77: the cross compiler or qemu-user is missing.
# Usage: neon_test.sh SOURCE_FOLDER
set -u
compiler=aarch64-linux-gnu-g++
qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static) || exit 77
command -v $compiler >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$1" || exit 1
native=kernel_other.cpp
[ "$(uname -m)" != x86_64 ] || native=kernel_x86.cpp
$compiler -std=c++20 -O2 -static -I. -I.. -o "$folder/arm64" kernel_sums.cpp kernel.cpp kernel_arm64.cpp || exit 1
c++ -std=c++20 -O2 -I. -I.. -o "$folder/native" kernel_sums.cpp kernel.cpp $native || exit 1
"$folder/native" >"$folder/sums"
"$qemu" "$folder/arm64" >>"$folder/sums" || exit 1
cat "$folder/sums"
grep -q '^neon ' "$folder/sums" && [ "$(sed 's/.* //' "$folder/sums" | sort -u | wc -l)" -eq 1 ]
