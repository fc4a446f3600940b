#!/bin/sh
# oshfort of the staged tree builds programs that oshrun starts, by gfortran and by a compiler whose module is to be made.
# Usage: oshfort_test.sh STAGE SOURCE_FOLDER
set -eu
stage=$1
source=$2
programs=$source/tests/packaging/fortran
wrap=$stage/bin/oshfort
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset LD_LIBRARY_PATH OSHFORT_FC XDG_CACHE_HOME || true

fail() {
  echo "$*" >&2
  exit 1
}
expect() { # STATUS TEXT COMMAND...: so it ends, and its output has the text
  wanted=$1 text=$2 status=0
  shift 2
  "$@" >said 2>&1 || status=$?
  [ $status -eq "$wanted" ] || fail "$* ended with status $status: $(cat said)"
  grep -qF -e "$text" said || fail "$* said: $(cat said); not: $text"
}

# Without any compiler there is one sentence, and questions that need none are answered.
expect 2 "apt install gfortran" env OSHFORT_FC=./nothing "$wrap" heat.f90
expect 0 "-lterrane_shmem" env OSHFORT_FC=./nothing "$wrap" --showme:link
expect 0 "OSHFORT_FC" "$wrap" --help
expect 0 "OpenSHMEM 1.6" "$wrap" --showme:version
if ! command -v gfortran >/dev/null; then
  echo "skipped: there is no gfortran (Debian: apt install gfortran)"
  exit 77
fi

"$wrap" -std=f2008 -Wall -Wextra -Werror -O2 "$source/examples/shmem/heat.f90" -o heat
for pes in 1 3; do expect 0 "verified" "$stage/bin/oshrun" -np $pes ./heat 150 61; done
for level in 0 3; do
  "$wrap" -std=f2008 -Wall -Werror -O$level "$programs/statics.f90" -o statics
  expect 0 "2 PEs have what others stored" "$stage/bin/oshrun" -np 2 ./statics
done
"$wrap" -c -std=f2008 -Wall -Werror -O2 "$programs/calls.f90" && "$wrap" calls.o -o calls
expect 0 "every call did its work" "$stage/bin/oshrun" -np 3 ./calls
expect 0 "every call did its work" ./calls

# Wrong calls end the job with a sentence.
"$wrap" "$programs/wrong.f90" -o wrong
wrong() { expect "$1" "$2" "$stage/bin/oshrun" -np 2 --timeout 60 ./wrong "$3"; }
wrong 1 "shmem_barrier_all before shmem_init" before
wrong 1 "shmem_barrier_all after shmem_finalize" after
for what in stack allocated section; do wrong 1 "shmem_int32_put: dest at 0x" $what; done
wrong 1 "shmem_int32_p: pe 2 does not exist" pe
wrong 1 "bytes reach beyond the symmetric memory there" huge
wrong 1 "its 400000000 bytes reach beyond the symmetric memory there" scalar
wrong 1 "the comparison 77 is none of SHMEM_CMP_EQ" compare
wrong 3 "node 1 (process" stop
wrong 1 "ERROR STOP a wrong number" error
wrong 0 "so much there is not" memory

# What is printed is the command; the flags alone do, too.
expect 0 "gfortran -I$stage/include -I$stage/include/terrane/fortran/" "$wrap" --showme "$programs/calls.f90" -o shown
"$wrap" --showme "$programs/calls.f90" -o shown >command && sh ./command && expect 0 "every call" "$stage/bin/oshrun" -np 2 ./shown
# shellcheck disable=SC2046
gfortran "$programs/calls.f90" $("$wrap" --showme:compile) $("$wrap" --showme:link) -o by_flags
expect 0 "every call" ./by_flags
expect 0 "$(gfortran --version | head -n 1)" "$wrap" --version

# Another compiler: its module is made once, in the user's cache.
cat >other <<'TEXT'
#!/bin/sh
case $1 in --version) echo "Other Fortran 1.0" && exit ;; esac
echo "$@" >>"$CALLS"
exec gfortran "$@"
TEXT
chmod +x other
export XDG_CACHE_HOME="$folder/the cache" CALLS="$folder/calls_made"
for round in 1 2; do
  OSHFORT_FC=$folder/other "$wrap" "$programs/calls.f90" -o "by_other_$round"
  expect 0 "every call" "./by_other_$round"
done
[ "$(grep -c 'terrane/fortran/shmem.f90' "$CALLS")" -eq 1 ] || fail "the module was not compiled once: $(cat "$CALLS")"
XDG_CACHE_HOME=/dev/null expect 2 "XDG_CACHE_HOME=FOLDER" env OSHFORT_FC="$folder/other" "$wrap" -c "$programs/calls.f90"
printf '#!/bin/sh\necho out of paper; exit 1\n' >broken && chmod +x broken
expect 2 "does not compile the module $stage/include/terrane/fortran/shmem.f90: out of paper" \
  env OSHFORT_FC="$folder/broken" "$wrap" -c "$programs/calls.f90"
