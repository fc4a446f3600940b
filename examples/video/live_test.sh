#!/bin/sh
# The live page: its state moves, the stream has pictures, a second program on the port is refused, and a viewer that stops
# reading delays nothing. With curl; 77: curl is missing, or the program has no page.
# Usage: live_test.sh VIDEO TERRANE
set -u
video=$1
terrane=$2
command -v curl >/dev/null || exit 77
folder=$(mktemp -d)
viewers=
trap 'rm -rf "$folder"; [ -z "$viewers" ] || kill $viewers 2>/dev/null' EXIT
port=$((20000 + $$ % 20000))
failures=0

fail() {
  echo "$1"
  failures=$((failures + 1))
}

written() {
  curl -s --max-time 5 "http://127.0.0.1:$port/state" | sed -n 's/.*"written":\([0-9]*\).*/\1/p'
}

timeout 250 "$terrane" run -n 3 "$video" --repeat 160 --live $port synthetic:1920x1080:1000 >"$folder/log" 2>&1 &
job=$!
tries=0
until [ -n "$(written)" ]; do
  tries=$((tries + 1))
  grep -q 'built without' "$folder/log" && exit 77
  [ $tries -lt 200 ] || { cat "$folder/log"; exit 1; }
  sleep 0.1
done

# A viewer that opens the stream and reads nothing.
curl -s --limit-rate 1 "http://127.0.0.1:$port/stream" >/dev/null &
viewers=$!
curl -s --max-time 2 "http://127.0.0.1:$port/stream" >"$folder/stream"
grep -aq 'Content-Type: image/jpeg' "$folder/stream" || fail "the stream has no picture"
before=$(written)
sleep 1
after=$(written)
[ "${after:-0}" -gt "${before:-0}" ] || fail "the frame counter stands still: $before, $after"
curl -s "http://127.0.0.1:$port/" | grep -q '<title>Terrane video</title>' || fail "no page"
"$video" --with chunks --live $port synthetic:64x48:3 >"$folder/second" 2>&1 && fail "the port was given twice"
grep -q "^video: port $port is in use" "$folder/second" || { cat "$folder/second"; fail "the port is not named"; }
wait $job || { cat "$folder/log"; fail "the run failed"; }
grep -q '^row=result.*frames=1000 ' "$folder/log" || fail "not all frames were written"
# The viewer that reads nothing is there at the end, whose connection the program has closed then.
timeout 100 "$terrane" run -n 2 "$video" --repeat 40 --live $port synthetic:1280x720:1000 >"$folder/log" 2>&1 &
job=$!
# The program disconnects such a viewer after three seconds, so one comes every second.
while kill -0 $job 2>/dev/null; do
  curl -s --limit-rate 1 --max-time 100 "http://127.0.0.1:$port/stream" >/dev/null &
  viewers="$viewers $!"
  sleep 1
done
wait $job || { cat "$folder/log"; fail "the run with a viewer that reads nothing failed"; }
grep -q '^row=live viewers_at_end=[1-9]' "$folder/log" || fail "no viewer was left at the end"
exit $((failures > 0))
