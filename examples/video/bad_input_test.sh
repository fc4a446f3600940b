#!/bin/sh
# What a person can do wrong: one sentence that names it, a non-zero exit, no hang.
# Usage: bad_input_test.sh COMMAND... (COMMAND starts video, alone or on nodes)
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failures=0
command="$*"

# refused WORDS ARGUMENTS...: video must fail, with one line on stderr of its own, which has WORDS in it.
refused() {
  words=$1
  shift
  # shellcheck disable=SC2086
  timeout 60 $command "$@" >out 2>err
  status=$?
  lines=$(grep -c '^video: ' err)
  if [ $status -eq 0 ] || [ $status -ge 124 ] || [ "$lines" -ne 1 ] || ! grep -q "^video: .*$words" err; then
    echo "video $*: status $status, $lines lines, expected '$words':"
    cat err
    failures=$((failures + 1))
  fi
}

# good ARGUMENTS...: video must succeed.
good() {
  # shellcheck disable=SC2086
  if ! timeout 60 $command "$@" >out 2>err || ! grep -q '^row=result' out; then
    echo "video $* failed:"
    cat out err
    failures=$((failures + 1))
  fi
}

printf 'To whom it may concern\n' >letter.txt
printf 'To whom it may concern\n' >letter.y4m
printf 'YUV4MPEG2 W64 H48 F25:1 Cmono\nFRAME\nshort' >short.y4m
printf 'YUV4MPEG2 W64 H48 F25:1 C420p10\nFRAME\n' >deep.y4m

refused 'No such file' nowhere.y4m
refused 'no Y4M file' letter.y4m
refused 'truncated in picture 0' short.y4m
refused '420p10' deep.y4m
refused 'is no size' synthetic:64x:3
refused 'is no size' synthetic:64x48:0
refused '/dev/video99' /dev/video99
refused 'no camera' /dev/null
refused 'could not be made' --output no/such/folder/a.y4m synthetic:64x48:3
refused 'could not be made' --output no/such/folder/a.gray synthetic:64x48:3
ln -s /dev/full full.gray
refused 'could not be written' --output full.gray synthetic:1920x1080:3
refused 'no kernel' --kernel cuda synthetic:64x48:3
refused "no value for --with" --with magic synthetic:64x48:3
refused "unknown option '--brighten'" --brighten synthetic:64x48:3
refused 'no value for --repeat' --repeat 0 synthetic:64x48:3
refused 'one too many' synthetic:64x48:3 synthetic:64x48:3
refused 'no video named' --repeat 2
good synthetic:721x481:5
good --output out.y4m synthetic:721x481:5

if command -v ffmpeg >/dev/null && [ "${VIDEO_LIBAV:-yes}" = yes ]; then
  make="ffmpeg -v error -y -f lavfi -i testsrc=size=320x240:rate=25:duration=0.4"
  $make -c:v mjpeg -q:v 3 whole.avi
  $make -c:v ffv1 -pix_fmt yuv420p10le ten.mkv
  $make -c:v rawvideo -pix_fmt rgb24 rgb.avi
  $make -c:v mpeg4 whole.mp4
  $make -vf scale=721:481 -c:v ffv1 -pix_fmt yuv444p odd.mkv
  head -c 20000 whole.avi >truncated.avi
  head -c 9000 whole.mp4 >truncated.mp4
  refused 'No such file' nowhere.avi
  refused "letter.txt" letter.txt
  refused 'truncated' truncated.avi
  refused 'truncated.mp4' truncated.mp4
  refused 'no container has this ending' --output a.nothing whole.avi
  refused 'could not be made' --output no/such/folder/a.mkv whole.avi
  good whole.avi
  good odd.mkv
  good ten.mkv
  grep -q 'converted from yuv420p10le' out || { echo "ten.mkv: not told as converted"; failures=$((failures + 1)); }
  good rgb.avi
  grep -q 'converted from' out || { echo "rgb.avi: not told as converted"; failures=$((failures + 1)); }
  good --output edges.avi whole.mp4
  good --output edges.mkv odd.mkv
fi
exit $((failures > 0))
