#!/bin/sh
# CMake's components, what is said to a compiler of an older C++, and the compilers terranecc and terranec++.
# Usage: mistakes_test.sh STAGE
set -eu
stage=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset LD_LIBRARY_PATH || true

fail() {
  echo "$*" >&2
  exit 1
}
says() { # TEXT COMMAND...: whatever its exit code is
  text=$1
  shift
  "$@" >said 2>&1 || true
  tr -s '\n ' ' ' <said | grep -qF -e "$text" || fail "$* said: $(cat said); not: $text"
}

components() { # NAMES...
  mkdir -p project
  cat >project/CMakeLists.txt <<TEXT
cmake_minimum_required(VERSION 3.25)
project(components LANGUAGES CXX)
find_package(Terrane CONFIG REQUIRED COMPONENTS $*)
if(TARGET Terrane::chunks AND TARGET Terrane::shmem AND TARGET Terrane::terrane)
  message(STATUS "all targets")
endif()
TEXT
  cmake -S project -B build -DCMAKE_PREFIX_PATH="$stage"
}
says "all targets" components chunks shmem
says "all targets" components pages
says "no component 'python': there are pages, shmem and chunks" components chunks python

cat >chunks.cpp <<'TEXT'
#include <terrane/chunks.hpp>
int main() {
  terrane::chunks::Job job;
  return job.nodes() - 2;
}
TEXT
says "needs C++20: compile with -std=c++20" "$stage/bin/terranec++" -std=c++17 chunks.cpp
grep 'error:' said | head -n 1 | grep -qF "needs C++20" || fail "another error comes first: $(cat said)"

"$stage/bin/terranec++" -std=c++20 chunks.cpp -o chunks
"$stage/bin/terrane" run -n 2 ./chunks
needed=$(readelf -d chunks | sed -n 's/.*NEEDED.*\[\(libterrane.*\)\]/\1/p')
[ "$needed" = libterrane_chunks.so.0 ] || fail "a program of chunks is linked with: $needed"
says "-lterrane_chunks" "$stage/bin/terranecc" --showme:link
says "Terrane programs in C++" "$stage/bin/terranec++" --help

# In a folder with blanks in its name.
mkdir -p "a folder with blanks/bin"
cp "$stage/bin/terranec++" "$stage/bin/terrane" "a folder with blanks/bin"
cp -r "$stage/include" "$stage/lib" "a folder with blanks"
"a folder with blanks/bin/terranec++" -std=c++20 chunks.cpp -o "chunks of blanks"
"a folder with blanks/bin/terrane" run -n 2 "./chunks of blanks"
says "which has a blank or a colon in its name" "a folder with blanks/bin/terrane" run --preload cat /dev/null
says "which has a blank or a colon in its name" "a folder with blanks/bin/terrane" threads "$(command -v cat)" /dev/null
TEXT=$(readelf -d "chunks of blanks" | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p')
[ "$TEXT" = "$(pwd)/a folder with blanks/lib" ] || fail "its path is $TEXT"
