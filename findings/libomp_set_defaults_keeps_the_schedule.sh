#!/bin/sh
# kmp_set_defaults of LLVM's libomp takes OMP_NUM_THREADS and OMP_DYNAMIC, but not OMP_SCHEDULE.
#
# Version: libomp5-16 1:16.0.6-15~deb12u1 and gcc 12 of Debian 12, x86-64; 14.0.6 of Debian 12 does so, too.
# Input: kmp_set_defaults("OMP_NUM_THREADS=3|OMP_DYNAMIC=true|OMP_SCHEDULE=guided,5") as the first call of a program,
# then what omp_get_max_threads, omp_get_dynamic and omp_get_schedule say; and the same three by the environment.
# What one would guess: three threads, dynamic, guided with chunks of 5, both times: the function sets variables of
# OpenMP's environment, as Intel's guide says, without an exception.
# Seen: by the function 3, 1 and static, by the environment 3, 1 and guided with chunks of 5. The order of the settings
# does not matter, nor does OMP_SCHEDULE alone help.
# For our users: set_defaults of src/frontend/omp/settings.cpp takes all three, so a program that asks for a schedule
# by this function has it with Terrane, and has another one with its own library.
#
# Exit code: 0 if this is still so; 1 if it has changed; 77 if the packages cannot be had.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=1:16.0.6-15~deb12u1
apt-get -qq download libomp5-16=$version 2>/dev/null || exit 77
for package in ./*.deb; do dpkg-deb -x "$package" root; done
command -v gcc >/dev/null || exit 77

cat >defaults.c <<'C'
#include <omp.h>
#include <stdio.h>
void kmp_set_defaults(const char *);
int main(int count, char **words) {
  omp_sched_t kind;
  int chunk;
  if (count > 1) kmp_set_defaults(words[1]);
  omp_get_schedule(&kind, &chunk);
  printf("%d %d %d %d\n", omp_get_max_threads(), omp_get_dynamic() != 0, (int)kind, chunk);
  return 0;
}
C
gcc defaults.c -o defaults root/usr/lib/llvm-16/lib/libomp.so.5
library=$folder/root/usr/lib/llvm-16/lib
by_call=$(LD_LIBRARY_PATH=$library ./defaults 'OMP_NUM_THREADS=3|OMP_DYNAMIC=true|OMP_SCHEDULE=guided,5')
by_environment=$(LD_LIBRARY_PATH=$library OMP_NUM_THREADS=3 OMP_DYNAMIC=true OMP_SCHEDULE=guided,5 ./defaults)
echo "threads, dynamic, schedule, chunk: by the function $by_call, by the environment $by_environment"
[ "$by_call" = "3 1 1 0" ] && [ "$by_environment" = "3 1 3 5" ]
