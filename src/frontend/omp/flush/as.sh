#!/bin/sh
# The assembler of terrane-gcc: puts a call of Terrane's flush in the place of each fence, which is all
# that gcc makes of `#pragma omp flush`. The call lies below the 128 bytes that a function may use
# without moving the stack pointer.
assembler=${TERRANE_AS:-as}
fence='^[[:space:]]*(mfence|lock or[lq]?[[:space:]]+[$]0, *(-[0-9]+)?[(]%rsp[)]'
fence="$fence"'|lock or[[:space:]]+[DQ]WORD PTR (-[0-9]+)?\[rsp\], 0)[[:space:]]*$'
changed=
remove() { [ -z "$changed" ] || rm -f "$changed"; }
trap remove EXIT

to_calls() { # FILE
  if grep -q '^[[:space:]]*[.]intel_syntax' "$1"; then
    down='lea	rsp, [rsp-128]' up='lea	rsp, [rsp+128]'
  else
    down='leaq	-128(%rsp), %rsp' up='leaq	128(%rsp), %rsp'
  fi
  sed -E -i "s/$fence/	.hidden	terrane_omp_flush\n	$down\n	call	terrane_omp_flush\n	$up/" "$1"
}

has_input=no
count=$#
while [ "$count" -gt 0 ]; do
  word=$1
  shift
  count=$((count - 1))
  case $word in
    --version) exec "$assembler" --version ;;
    *.s)
      has_input=yes
      if [ -f "$word" ] && grep -Eq "$fence" "$word"; then
        changed=$(mktemp) && cat "$word" > "$changed" && to_calls "$changed" || exit 1
        word=$changed
      fi
      ;;
  esac
  set -- "$@" "$word"
done
if [ $has_input = no ]; then # the text comes by a pipe (-pipe)
  changed=$(mktemp) && cat > "$changed" && to_calls "$changed" || exit 1
  for word; do
    shift
    [ "$word" = - ] || set -- "$@" "$word"
  done
  set -- "$@" "$changed"
fi
"$assembler" "$@"
