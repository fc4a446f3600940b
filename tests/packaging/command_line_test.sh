#!/bin/bash
# The installed command: help, mistakes, completion, info for programs, and that the manual pages name every option.
# Usage: command_line_test.sh STAGE
set -eu
stage=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PATH=$stage/bin:$PATH
unset LD_LIBRARY_PATH COLUMNS || true

fail() {
  echo "$*" >&2
  exit 1
}
expect() { # STATUS TEXT COMMAND...
  local wanted=$1 text=$2 status=0
  shift 2
  "$@" >said 2>&1 || status=$?
  [ $status -eq "$wanted" ] || fail "$* ended with status $status: $(cat said)"
  grep -qF -e "$text" said || fail "$* said: $(cat said); not: $text"
}
expect_not() { # TEXT: in what was said last
  ! grep -qF -e "$1" said || fail "it said: $(cat said)"
}

expect 0 "Start a program as the nodes of a job" terrane help
expect 0 "Usage: terrane run [OPTIONS] PROGRAM" terrane help run
expect 0 "--json" terrane help info
expect 2 "there is no command runn; did you mean run?; see: terrane --help" terrane runn -n 2 true
expect 2 "did you mean doctor?" terrane help docter
expect 2 "there is no command zebra; see:" terrane zebra
expect 2 "terrane run has no option --taag-output; did you mean --tag-output?" terrane run --taag-output true
expect 2 "terrane info has no option --jsno; did you mean --json?" terrane info --jsno
expect 2 "oshrun has no option --hostfiel; did you mean --hostfile?" oshrun --hostfiel x true

expect 0 '"processors": ' terrane info --json
python3 - said <<'TEXT' || fail "terrane info --json is no JSON: $(cat said)"
import json, sys
info = json.load(open(sys.argv[1]))
assert info["version"] and info["node_limit"] > 0 and "shm" in info["transports"] and info["fault_sources"], info
TEXT

# Completion, as bash calls it.
# shellcheck disable=SC1091
. "$stage/share/bash-completion/completions/terrane"
compopt() { echo "compopt $*" >>said; }
completes() { # WORDS...: the last one is completed
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  : >said
  _terrane
  printf '%s\n' "${COMPREPLY[@]+"${COMPREPLY[@]}"}" >>said
}
completes terrane do
grep -qx doctor said || fail "terrane do: $(cat said)"
completes terrane run --on-d
grep -qx -- --on-death said || fail "terrane run --on-d: $(cat said)"
completes terrane run --on-death ''
[ "$(sort said | tr '\n' ' ')" = "end survive " ] || fail "terrane run --on-death: $(cat said)"
completes oshrun --bind
grep -qx -- --bind-to said || fail "oshrun --bind: $(cat said)"
completes terrane run --hostfile ''
grep -q "compopt -o default" said || fail "terrane run --hostfile: $(cat said)"
for shell in zsh:zsh/site-functions/_terrane fish:fish/vendor_completions.d/terrane.fish; do
  file=$stage/share/${shell#*:}
  grep -q -e "on-death" "$file" || fail "$file has no --on-death"
  if command -v "${shell%%:*}" >/dev/null; then "${shell%%:*}" -n "$file" || fail "$file has errors"; fi
done
expect 2 "SHELL" terrane completion tcsh

# Every option of --help is in the manual page of its command; threads and omp refer to terrane-run.
man=$stage/share/man/man1
for command in run threads omp hosts join invite gateway doctor info report sim check-binary; do
  [ -e "$man/terrane-run.1" ] || { echo "scdoc is missing: the manual pages are not checked" && break; }
  case $command in
    threads | omp) pages="$man/terrane-$command.1 $man/terrane-run.1" ;;
    invite) pages=$man/terrane-join.1 ;;
    info) pages=$man/terrane.1 ;;
    *) pages=$man/terrane-$command.1 ;;
  esac
  # shellcheck disable=SC2086
  sed 's/\\-/-/g' $pages >page
  terrane "$command" --help | sed -nE 's/^ +(-[A-Za-z],)?(--[a-z-]+).*/\2/p' | grep -v -x -e --help >options || true
  while read -r option; do
    grep -q -e "$option\>" page || fail "terrane $command $option is not in the manual page"
  done <options
done
for name in terrane_alloc_all terrane_chunk_publish terrane_pages; do
  [ -s "$stage/share/man/man3/$name.3" ] || fail "there is no manual page $name(3)"
done

# Hosts on this machine.
expect 2 "" terrane hosts -n 65 true
status=0
(cd / && terrane hosts -n 2 terrane run -H h0,h1 --tag-output hostname) >said 2>&1 || status=$?
if [ $status -eq 77 ] && [ -z "${CI:-}" ]; then exit; fi
[ "$(sort said | tr '\n' ' ')" = "[0] h0 [1] h1 " ] || fail "terrane hosts: $status: $(cat said)"
expect 7 "h1" terrane hosts -n 2 sh -c 'enter_host h1 hostname; exit 7'
expect_not "test_hosts"
