#!/bin/sh
# What a person can do wrong: one sentence that names it, a non-zero exit, no hang. With good input: a verified result.
# Usage: bad_input_test.sh PHOTOGRAPH COMMAND... (COMMAND starts restore, on as many nodes as it likes)
set -u
photograph=$1
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0

# refused WORDS ARGUMENTS...: restore must fail, with one line on stderr of its own, which has WORDS in it.
refused() {
  words=$1
  shift
  # shellcheck disable=SC2086
  timeout 60 $command "$@" >out 2>err
  status=$?
  lines=$(grep -c '^restore: ' err)
  if [ $status -eq 0 ] || [ $status -ge 124 ] || [ "$lines" -ne 1 ] || ! grep -q "^restore: .*$words" err; then
    echo "restore $*: status $status, $lines lines, expected '$words':"
    cat err
    failures=$((failures + 1))
  fi
}

command="$*"
head -c 300000 "$photograph" >truncated.png
printf 'P6\n4 4\n255\nabc' >truncated.ppm
printf 'P5\n0 4\n255\n' >empty.pgm
printf 'P5\n4 4\n65535\n%032d' 0 >deep.pgm
printf 'P5\n99999 99999\n255\n' >huge.pgm
printf 'P5\n8 8\n255\n%064d' 0 >small.pgm
printf 'To whom it may concern\n' >letter.png

refused 'No such file' nowhere.png
refused 'truncated' truncated.png
refused 'truncated' truncated.ppm
refused '0 x 4 pixels' empty.pgm
refused '16 bits' deep.pgm
refused 'scale the picture down' huge.pgm
refused 'no PNG' letter.png
refused 'is not a file' .
refused 'the mask is 8 x 8' --mask small.pgm "$photograph"
refused 'no pixel is damaged' --mask small.pgm small.pgm
refused 'nowhere.png' --mask nowhere.png small.pgm
refused 'could not be written' --output letter.png small.pgm
refused 'could not be made' --output no/such/folder small.pgm
refused "unknown option '--brighten'" --brighten small.pgm
refused 'no value for --threads' --threads 0 small.pgm
refused 'no photograph' --threads 2

# shellcheck disable=SC2086
if ! timeout 100 $command --iterations 150 --threads 2 --output good "$photograph" >out 2>err ||
  ! grep -q 'verified: identical' out || [ ! -s good/restored.png ] || [ ! -s good/damaged.png ]; then
  echo "good input failed:"
  cat out err
  failures=$((failures + 1))
fi
exit $((failures > 0))
