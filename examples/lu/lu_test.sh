#!/bin/sh
# The program as a person meets it: wrong input is refused in one sentence that names it; one node and several, one thread
# and several find the same solution, bit for bit.
# Usage: lu_test.sh LU TERRANE MATRIX
set -u
lu=$1
terrane=$2
matrix=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

fail() {
  echo "$1:"
  cat out err
  failures=$((failures + 1))
}

# refused WORDS ARGUMENTS...: lu must fail, with one line on stderr of its own, which has WORDS in it.
refused() {
  words=$1
  shift
  for start in "" "$terrane run -n 3"; do
    # shellcheck disable=SC2086
    timeout 60 $start "$lu" "$@" >out 2>err
    status=$?
    lines=$(grep -c '^lu: ' err)
    if [ $status -eq 0 ] || [ $status -ge 124 ] || [ "$lines" -ne 1 ] || ! grep -q "^lu: .*$words" err; then
      fail "$start lu $*: status $status, $lines lines, expected '$words'"
    fi
  done
}

# solved NODES ARGUMENTS...: must end well, and leave the solution in x.NODES.
solved() {
  nodes=$1
  shift
  timeout 100 "$terrane" run -n "$nodes" "$lu" --output "x.$nodes" "$@" >out 2>err ||
    fail "lu $* on $nodes nodes: status $?"
  grep -q 'verified: the residual is within its bound' out || fail "lu $* on $nodes nodes: not verified"
}

printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n' >outside.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n' >singular.mtx
printf '%%%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n' >three.mtx
refused 'nowhere.mtx: could not be opened' nowhere.mtx
refused "outside.mtx:3: row '3'" outside.mtx
refused 'singular: column 2' singular.mtx
refused 'three.mtx:2: the right-hand side' --rhs three.mtx "$matrix"
refused 'could not be written' --output . --generate 8
refused "unknown option '--fast'" --fast "$matrix"

for input in "$matrix" "--generate 300 --seed 2 --compare" "--generate 7"; do
  for threads in 1 2; do
    for nodes in 1 2 4; do
      # shellcheck disable=SC2086
      solved $nodes --threads $threads $input
      cmp -s x.1 "x.$nodes" || fail "$input: the solution of $nodes nodes differs"
      [ $threads -eq 1 ] && cp "x.$nodes" "one.$nodes"
      cmp -s one.1 "x.$nodes" || fail "$input: the solution of $threads threads differs"
    done
  done
done
exit $((failures > 0))
