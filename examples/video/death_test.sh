#!/bin/sh
# A worker that is killed in mid-stream loses nothing: every frame is in the output once, in order.
# Usage: death_test.sh VIDEO TERRANE TIMES
set -u
video=$1
terrane=$2
times=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
input=synthetic:640x480:600
options="--repeat 8 --kernel scalar"
failures=0
killed=0

# shellcheck disable=SC2086
"$video" --with sequential $options --repeat 1 --output "$folder/right.gray" $input >/dev/null || exit 1
time=0
while [ $time -lt "$times" ]; do
  # shellcheck disable=SC2086
  timeout 250 "$terrane" run -n 4 --on-death survive sh -c 'echo $$ >"$0/pid.$TERRANE_NODE"; exec "$@"' "$folder" \
    "$video" $options --output "$folder/out.gray" $input >"$folder/log" 2>&1 &
  job=$!
  # A moment that differs from run to run, after the first frame has been written.
  tries=0
  until [ -s "$folder/out.gray" ] || [ $tries -ge 600 ]; do
    tries=$((tries + 1))
    sleep 0.02
  done
  sleep "$(awk -v time=$time 'BEGIN { printf "%.3f", (time * 37 % 50) * 0.01 }')"
  kill -9 "$(cat "$folder/pid.2")" 2>/dev/null && killed=$((killed + 1))
  wait $job
  if ! cmp -s "$folder/right.gray" "$folder/out.gray"; then
    echo "run $time: the output differs from the sequential one"
    cat "$folder/log"
    failures=$((failures + 1))
  fi
  rm -f "$folder"/pid.* "$folder/out.gray"
  time=$((time + 1))
done
echo "$times runs, $killed with a worker killed in it, $failures with another output"
[ $killed -gt 0 ] && [ $failures -eq 0 ]
