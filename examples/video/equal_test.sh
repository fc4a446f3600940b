#!/bin/sh
# All implementations give the same bytes as the sequential one, whatever the size and the kernel.
# Usage: equal_test.sh VIDEO TERRANE [VIDEO_MPI] [VIDEO_ZMQ] (programs that were not built: missing)
set -u
video=$1
terrane=$2
mpi=${3:-missing}
zmq=${4:-missing}
failures=0
cases=0

printed=$(mktemp) || exit 1
trap 'rm -f "$printed"' EXIT

# The checksum of a run.
sum_of() {
  timeout 100 "$@" >"$printed" 2>&1
  code=$?
  sed -n 's/^row=result .*frames=\([0-9]*\) sum=\([0-9a-f]*\) .*/\1 \2/p' "$printed"
  return $code
}

# equal RIGHT COMMAND...: the command's number of frames and checksum are these.
equal() {
  right=$1
  shift
  cases=$((cases + 1))
  found=$(sum_of "$@")
  code=$?
  if [ "$found" != "$right" ] || [ -z "$right" ]; then
    echo "$*: '$found', expected '$right'; exit code $code, and printed:"
    tail -n 20 "$printed"
    failures=$((failures + 1))
  fi
}


for input in synthetic:1920x1080:9 synthetic:721x481:14 synthetic:3x2:5 synthetic:64x48:1 fake-camera:321x43:7; do
  right=$(sum_of "$video" --with sequential --kernel scalar $input)
  equal "$right" "$video" --with sequential $input
  equal "$right" "$video" --with threads --workers 3 $input
  equal "$right" "$terrane" run -n 1 "$video" $input
  equal "$right" "$terrane" run -n 3 "$video" $input
  equal "$right" "$terrane" run -n 3 "$video" --weighted $input
  equal "$right" "$terrane" run -n 3 "$video" --strips 3 $input
  equal "$right" "$terrane" run -n 5 --servers 0,1,2,3 "$video" $input
  # Starting many processes takes a busy machine seconds: the small sizes are for the others alone.
  case $input in *:9 | *:14) ;; *) continue ;; esac
  if [ "$mpi" != missing ]; then
    for with in sync async multiple; do
      equal "$right" mpirun --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 \
        -np 4 "$mpi" --with $with $input
    done
  fi
  if [ "$zmq" != missing ]; then
    for with in reqrep dealer; do
      for endpoint in ipc tcp; do equal "$right" "$zmq" --with $with --endpoint $endpoint --workers 3 $input; done
    done
  fi
done
echo "$cases runs, $failures with other bytes"
exit $((failures > 0))
