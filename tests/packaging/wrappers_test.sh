#!/bin/sh
# oshcc and oshc++ of the staged tree build programs that oshrun starts, in each way in which compilers are called.
# Usage: wrappers_test.sh oshcc|oshc++ STAGE
set -eu
wrapper=$1
stage=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset LD_LIBRARY_PATH PKG_CONFIG_PATH OSHCC_CC OSHCXX_CXX OSHFORT_FC || true
wrap=$stage/bin/$wrapper

fail() {
  echo "$*" >&2
  exit 1
}
expect() { # TEXT COMMAND...: its output has the text
  text=$1
  shift
  "$@" >said 2>&1 || true
  grep -qF -e "$text" said || fail "$* said: $(cat said); not: $text"
}
expect_failure() { # TEXT COMMAND...
  text=$1
  shift
  if "$@" >said 2>&1; then fail "$* succeeded"; fi
  grep -qF -e "$text" said || fail "$* said: $(cat said); not: $text"
}

case $wrapper in
  oshcc) suffix=c variable=OSHCC_CC compiler=cc ;;
  oshc++) suffix=cpp variable=OSHCXX_CXX compiler=c++ ;;
esac
cat >"ring.$suffix" <<'TEXT'
#include <shmem.h>
#include <stdio.h>
int whole(void);
static int from = -1;
int main(void) {
  shmem_init();
  shmem_int_p(&from, shmem_my_pe(), (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_barrier_all();
  int sum = whole();
  if (shmem_my_pe() == 0) printf("%d PEs, 0 has %d, together %d\n", shmem_n_pes(), from, sum);
  shmem_finalize();
  return 0;
}
TEXT
cat >"whole.$suffix" <<'TEXT'
#include <shmem.h>
static int one = 1, sum;
int whole(void);
int whole(void) {
  shmem_int_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
  return sum;
}
TEXT
right='3 PEs, 0 has 2, together 3'
runs() { # PROGRAM
  expect "$right" "$stage/bin/oshrun" -np 3 "$1"
}

"$wrap" -O2 -o at_once "ring.$suffix" "whole.$suffix" && runs ./at_once
"$wrap" -c -Wall -Wextra -Werror "ring.$suffix" "whole.$suffix" && "$wrap" ring.o whole.o -o in_steps && runs ./in_steps
ar rcs libwhole.a whole.o && "$wrap" ring.o -L. -lwhole -o of_archive && runs ./of_archive
"$wrap" -fPIC -shared "whole.$suffix" -o libshared.so
"$wrap" ring.o ./libshared.so -o of_library && runs ./of_library
"$wrap" -fno-pie -no-pie "ring.$suffix" -L. -lwhole -o fixed && runs ./fixed
"$wrap" -pie ring.o whole.o -o moving && runs ./moving
"$wrap" -x "$(printf '%s' "$suffix" | sed 's/cpp/c++/')" - -o of_pipe <<TEXT && runs ./of_pipe
#include "ring.$suffix"
#include "whole.$suffix"
TEXT
"$wrap" -E "ring.$suffix" | grep -q 'shmem_init' || fail "-E does not show the header"
"$wrap" -MM "ring.$suffix" | grep -q '^ring.o:' || fail "-MM does not show what is needed"
"$wrap" -fsyntax-only "ring.$suffix"
mkdir other_shmem && echo '#error "another shmem.h"' >other_shmem/shmem.h && "$wrap" -Iother_shmem -fsyntax-only "ring.$suffix"
"$wrap" "-DTEXT=\"two  words; \$HOME 'and' *\"" -o "two words" -x "$(printf '%s' "$suffix" | sed 's/cpp/c++/')" - <<'TEXT'
#include <stdio.h>
int main(void) { return puts(TEXT) < 0; }
TEXT
expect "two  words; \$HOME 'and' *" "./two words"

# What is printed is the command, for a shell.
expect "$compiler -I$stage/include ring.$suffix -o ring " "$wrap" --showme "ring.$suffix" -o ring
"$wrap" -show ring.o "whole.$suffix" "-DTEXT=\"a b'c\"" -o shown >command && sh ./command && runs ./shown
# shellcheck disable=SC2046
$compiler "ring.$suffix" whole.o $("$wrap" --showme:compile) $("$wrap" --showme:link) -o by_flags && runs ./by_flags
[ "$("$wrap" -showme:incdirs)" = "$stage/include" ] || fail "--showme:incdirs is not $stage/include"
expect "there are command, compile, link" "$wrap" --showme:colour
expect "OpenSHMEM 1.6" "$wrap" --version
expect "$($compiler --version | head -n 1)" "$wrap" --version
expect "$variable" "$wrap" --help
[ "$("$wrap" -dumpmachine)" = "$($compiler -dumpmachine)" ] || fail "-dumpmachine is not the compiler's"

# Another compiler, also one of two words, and none.
printf '#!/bin/sh\necho called by its words: "$@"\n' >other && chmod +x other
expect "called by its words: more -I$stage/include -c ring.$suffix" env "$variable=./other more" "$wrap" -c "ring.$suffix"
expect_failure "or name another: $variable=COMPILER" env "$variable=./nothing" "$wrap" -c "ring.$suffix"
expect_failure "which is this command" env "$variable=$wrap" "$wrap" -c "ring.$suffix"
expect_failure "leave -static out" "$wrap" -static "ring.$suffix" "whole.$suffix"
if "$wrap" "absent.$suffix" 2>/dev/null; then fail "an absent file is no failure"; fi

# By a link from elsewhere, and from a folder with a space in its name.
ln -s "$wrap" "here" && ./here ring.o whole.o -o by_link && runs ./by_link
mkdir -p "in between/bin" && cp "$wrap" "in between/bin" && ln -s "$stage/include" "$stage/lib" "in between"
"in between/bin/$wrapper" "ring.$suffix" whole.o -o spaced && runs ./spaced
