#!/bin/sh
# A kernel is built from the installed sources as its README says, and a SPLASH source by the installed macro file.
# Usage: anl_test.sh STAGE SOURCE_FOLDER
set -eu
stage=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
flags="-O2 -no-pie -fno-pie -I $stage/include -pthread"

kernels=$(find "$stage" -type d -path '*/examples/splash' -exec test -e '{}/fft.c' ';' -print)
# shellcheck disable=SC2086
cc $flags "$kernels/fft.c" "$kernels/kernel.c" -lm -o "$folder/fft"
"$folder/fft" -p 2 -n 1024 | grep '^verified: '

command -v m4 >/dev/null || exit 77
for convention in SPLASH2 SPLASH3; do
  m4 "-D$convention" "$stage/share/terrane/anl.m4" "$source/tests/anl/bare_macros.c.in" >"$folder/bare.c"
  # shellcheck disable=SC2086
  cc $flags "$folder/bare.c" -o "$folder/bare"
  "$folder/bare"
done
