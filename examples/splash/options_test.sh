#!/bin/sh
# Wrong options end a kernel with one sentence that names them. Usage: options_test.sh FOLDER
set -u
folder=$1
failures=0

# refused WORDS KERNEL ARGUMENTS...
refused() {
  words=$1
  kernel=$2
  shift 2
  said=$("$folder/$kernel" "$@" 2>&1 >/dev/null)
  status=$?
  lines=$(printf '%s\n' "$said" | wc -l)
  if [ $status -ne 1 ] || [ "$lines" -ne 1 ] || ! printf '%s' "$said" | grep -q "^$kernel: .*$words"; then
    echo "$kernel $*: status $status, expected '$words', but: $said"
    failures=$((failures + 1))
  fi
}

refused 'unknown option -x' fft -x
refused '-n needs a number' fft -n
refused '-n 2x' fft -n 2x
refused '-p 0: processors is a number from 1' fft -p 0
refused "unknown argument '5'" fft 5
refused 'no power of 4' fft -n 2048
refused 'no multiple of -b 16' lu -n 100
refused '-r 100: this is no power of 2' radix -r 100
refused 'no power of 2 and 2' ocean -n 256
refused 'at most one processor a row' ocean -n 18 -p 17
refused 'molecules is a number from 216' water_spatial -n 100
refused 'at most one processor a cell' water_spatial -p 100
refused 'bodies is a number from 128' barnes -n 5
exit $((failures > 0))
