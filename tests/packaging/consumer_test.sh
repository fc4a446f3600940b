#!/bin/sh
# A program outside of the project, built against the staged tree as the README tells, runs alone, on two nodes, and on
# two hosts, as root and as another user. No variable says where the libraries are.
# Usage: consumer_test.sh WAY STAGE SOURCE_FOLDER TEST_HOSTS
# WAY: cmake, cmake_installed, pkg_config_c, pkg_config_cpp, terranecc, terranec++, or no_path (the program does not
# know where the libraries are; terrane run does)
set -eu
way=$1
stage=$2
source=$3
test_hosts=$4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
chmod 755 .
unset LD_LIBRARY_PATH || true

export PKG_CONFIG_PATH="$stage/lib/pkgconfig"
hello_c=$source/examples/hello_cmake/hello.c
hello_cpp=$source/tests/packaging/hello.cpp
program=./hello
case $way in
  cmake | cmake_installed)
    cmake -S "$source/examples/hello_cmake" -B . -DCMAKE_PREFIX_PATH="$stage" >log || { cat log && exit 1; }
    cmake --build . >log || { cat log && exit 1; }
    if [ "$way" = cmake_installed ]; then
      cmake --install . --prefix there >log
      rm hello
      program=./there/bin/hello
    fi
    ;;
  # shellcheck disable=SC2046
  pkg_config_c) cc "$hello_c" $(pkg-config --cflags --libs terrane) -o hello ;;
  # shellcheck disable=SC2046
  pkg_config_cpp) c++ -std=c++20 "$hello_cpp" $(pkg-config --cflags --libs terrane) -o hello ;;
  terranecc) "$stage/bin/terranecc" "$hello_c" -o hello ;;
  terranec++) "$stage/bin/terranec++" -std=c++20 "$hello_cpp" -o hello ;;
  no_path) cc -I "$stage/include" "$hello_c" -L "$stage/lib" -Wl,-rpath-link,"$stage/lib" -lterrane -o hello ;;
esac

expect() { # NODES COMMAND...
  nodes=$1
  shift
  for node in $(seq 0 $((nodes - 1))); do echo "hello from node $node of $nodes"; done >expected
  "$@" >said 2>err || { status=$? && cat err >&2 && return $status; }
  diff expected said
}
[ "$way" = no_path ] || expect 1 $program
expect 2 "$stage/bin/terrane" run -n 2 $program
expect 2 "$stage/bin/terrane" run -n 2 sh -c "exec $program" # a script that starts it

on_hosts() { # COMMAND...: before test_hosts
  status=0
  expect 2 "$@" "$test_hosts" -n 2 "$stage/bin/terrane" run -H h0,h1 $program || status=$?
  if [ $status -ne 0 ] && { [ $status -ne 77 ] || [ -n "${CI:-}" ]; }; then exit 1; fi
}
on_hosts
if [ "$(id -u)" -eq 0 ]; then
  chown -R 65534 .
  on_hosts setpriv --reuid=65534 --regid=65534 --clear-groups
fi
