#!/bin/sh
# GNU sort with several threads has a data race, and its result relies on the order of the processor's stores.
#
# Versions: coreutils 9.1-1 and valgrind 1:3.19.0-1 of Debian 12, x86-64, on Linux, with the symbols of the C library
# that runs (libc6-dbg), which valgrind needs.
# Input: 200,000 numbered lines, with `sort --parallel=2 -S 64M`.
# What one would guess: the threads of a merge hand over their lines under the mutexes of the merge tree's nodes, so
# a thread sees the lines of another one on any machine and in any memory that follows the rules of pthreads.
# Seen: a thread that merges two runs into the input of its parent moves the end of that input (a pointer in the
# parent) while it holds its own mutex alone. The thread that merges the parent reads this pointer in its loop under
# the parent's mutex. No mutex is common to both. The reader may go on to lines that it has never acquired. A
# processor that keeps the order of stores shows the lines first and the pointer after them, so the output is right
# there. Memory that makes stores visible at unlocks may show the pointer first: then lines are lost in silence.
# valgrind's drd reports conflicting loads and stores of the same words; the output of sort is right all the same.
# For our users: terrane threads --consistency sequential (tests/threads/races_program.cpp does what sort does).
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
apt-get -qq download coreutils=9.1-1 valgrind=1:3.19.0-1 libc6-dbg 2>/dev/null || exit 77
for package in ./*.deb; do dpkg-deb -x "$package" root; done

seq 200000 | awk '{ print ($1 * 7919) % 200003 }' >lines
LC_ALL=C root/usr/bin/sort lines >one
VALGRIND_LIB=$folder/root/usr/libexec/valgrind LC_ALL=C root/usr/bin/valgrind --tool=drd \
  --extra-debuginfo-path="$folder/root/usr/lib/debug" --log-file=report \
  root/usr/bin/sort --parallel=2 -S 64M lines >two
cmp one two

words() { sed -n "s/.*Conflicting $1 by thread [12] at \(0x[0-9a-f]*\) size 8.*/\1/p" report | sort -u; }
words load >loads
words store >stores
both=$(comm -12 loads stores | wc -l)
root/usr/bin/sort --version | head -n 1
echo "the output is right; words that one thread stores and another loads without a common mutex: $both"
[ "$both" -ge 1 ]
