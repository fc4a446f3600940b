#!/bin/sh
# The staged tree is whole, exports the C interface alone, and needs neither the sources nor the build folder.
# Usage: contents_test.sh STAGE SOURCE_FOLDER BUILD_FOLDER
set -u
stage=$1
source=$2
build=$3
failures=0

fail() {
  echo "$*"
  failures=$((failures + 1))
}

for file in bin/terrane bin/oshrun bin/oshcc bin/oshc++ bin/oshfort bin/terranecc bin/terranec++ lib/terrane/test_hosts \
  lib/terrane/enter_host lib/libterrane.so include/terrane/pages.h lib/cmake/terrane/TerraneConfig.cmake \
  lib/pkgconfig/terrane.pc lib/libterrane_chunks.so include/terrane/chunks.h include/terrane/chunks.hpp include/terrane/work.h include/terrane/recordings.h include/terrane/work.hpp include/terrane/status.h include/terrane/omp.h \
  lib/pkgconfig/terrane-chunks.pc lib/libterrane_shmem.so include/shmem.h lib/pkgconfig/shmem.pc \
  include/terrane/fortran/shmem.f90 \
  lib/terrane/examples/counter lib/terrane/examples/restore lib/terrane/examples/lu lib/terrane/examples/hybrid lib/libterrane_runtime.so.0; do
  [ -e "$stage/$file" ] || fail "missing: $file"
done
if command -v scdoc >/dev/null; then
  for page in "$source"/docs/man/*.scd oshc++.1 terranec++.1 terrane-invite.1 terrane-info.1 terrane-completion.1; do
    page=$(basename "$page" .scd)
    [ -s "$stage/share/man/man${page##*.}/$page" ] || fail "there is no manual page $page"
  done
fi
for program in bin/terrane lib/libterrane.so lib/libterrane_shmem.so lib/libterrane_chunks.so lib/libterrane_runtime.so lib/terrane/examples/counter lib/terrane/examples/restore \
  lib/terrane/examples/lu; do
  missing=$(ldd "$stage/$program" | grep 'not found')
  [ -z "$missing" ] || fail "$program: $missing"
  path=$(readelf -d "$stage/$program" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
  case $path in '' | '$ORIGIN'*) ;; *) fail "$program: looks for libraries in $path" ;; esac
done
names=$(grep -rlF -e "$source/src/" -e "$source/include" -e "$build/" "$stage")
[ -z "$names" ] || fail "names the folder of the sources or of the build: $names"
# What is not Terrane's own stands in front of a function of the C library or of libatomic (__atomic_*).
exported=$(nm -D --defined-only "$stage/lib/libterrane.so" | awk '{ print $3 }' | grep -v -e '^terrane_' -e '^TERRANE_0' -e '^__atomic_')
libc=$(ldd "$stage/lib/libterrane.so" | sed -n 's/.*libc\.so\.6 => \([^ ]*\).*/\1/p')
of_libc=$(nm -D --defined-only "$libc" | awk '{ print $3 }' | sed 's/@.*//')
for name in $exported; do
  printf '%s\n' "$of_libc" | grep -qxF "$name" || fail "exported, and neither terrane_* nor the C library's: $name"
done
others=$(nm -D --defined-only "$stage/lib/libterrane_chunks.so" | awk '{ print $3 }' | grep -v -i -e '^terrane_chunk' -e '^terrane_chain' -e '^terrane_work' \
  -e '^close$' -e '^close_range$' -e '^closefrom$' -e '^dup[23]$')
[ -z "$others" ] || fail "libterrane_chunks exports what is not its own: $others"
printf '%s\n' "$exported" | grep -qxF read || fail "read() on shared memory is not served"
"$stage/bin/terrane" --version >/dev/null || fail "terrane --version fails"
exit $((failures > 0))
