#!/bin/sh
# A program outside of the project, built against the staged tree as the README tells, runs alone and on two nodes.
# Usage: consumer_test.sh cmake|pkg_config_c|pkg_config_cpp STAGE SOURCE_FOLDER
set -eu
way=$1
stage=$2
source=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

export PKG_CONFIG_PATH="$stage/lib/pkgconfig"
case $way in
  cmake)
    cmake -S "$source/examples/hello_cmake" -B . -DCMAKE_PREFIX_PATH="$stage" >log || { cat log && exit 1; }
    cmake --build . >log || { cat log && exit 1; }
    ;;
  pkg_config_c)
    # shellcheck disable=SC2046
    cc "$source/examples/hello_cmake/hello.c" $(pkg-config --cflags --libs terrane) -o hello
    export LD_LIBRARY_PATH="$stage/lib"
    ;;
  pkg_config_cpp)
    # shellcheck disable=SC2046
    c++ -std=c++20 "$source/tests/packaging/hello.cpp" $(pkg-config --cflags --libs terrane) -o hello
    export LD_LIBRARY_PATH="$stage/lib"
    ;;
esac

expect() { # NODES COMMAND...
  nodes=$1
  shift
  for node in $(seq 0 $((nodes - 1))); do echo "hello from node $node of $nodes"; done >expected
  "$@" >said
  diff expected said
}
expect 1 ./hello
expect 2 "$stage/bin/terrane" run -n 2 ./hello
