#!/usr/bin/env bash
# Runs a command in the root of another release of Debian or Ubuntu, with this checkout at its own place.
# Usage: in_root.sh [--mirror URL] [--fresh] [--throwaway] SUITE COMMAND [ARGUMENTS...]     (as root)
#
# SUITE is a name that debootstrap knows: bookworm, trixie, sid, noble. The root is made at the first use, in
# build/roots/SUITE (TERRANE_ROOTS names another folder), and is used again; --fresh makes it anew. --throwaway: what the
# command changes in the root is in memory, and is gone when it ends. --mirror: where debootstrap takes packages from, in
# place of the distribution's own. The command runs in mount and process namespaces
# of its own: mounts and processes are gone when it ends. build/ of the checkout is build/everywhere/SUITE there, so that
# compilers do not meet each other's objects. Of the environment CI, TERM, the proxies and TERRANE_* are passed on.
set -euo pipefail

checkout=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
roots=${TERRANE_ROOTS:-$checkout/build/roots}

die() {
  echo "in_root: $*" >&2
  exit 2
}

# Debian's debootstrap does not know the newest releases of Ubuntu: neither their mirror nor their script.
readonly ubuntu_mirror=http://archive.ubuntu.com/ubuntu
is_ubuntu() { [[ " jammy noble oracular plucky questing resolute " == *" $1 "* ]]; }

# A root that is being made has another name: one whose making was interrupted is not used.
make_root() { # SUITE MIRROR
  local suite=$1 mirror=$2 script='' options=()
  command -v debootstrap >/dev/null || die "debootstrap is missing: apt-get install debootstrap"
  if is_ubuntu "$suite"; then
    mirror=${mirror:-$ubuntu_mirror}
    options=(--components=main,universe)
    [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=gutsy
    [ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] ||
      echo "in_root: Ubuntu's keyring is not here (package ubuntu-keyring): its packages are taken without a check" >&2
  fi
  rm -rf --one-file-system "$roots/$suite.new"
  mkdir -p "$roots"
  echo "in_root: making the root of $suite in $roots/$suite"
  debootstrap --variant=minbase --include=ca-certificates "${options[@]}" "$suite" "$roots/$suite.new" \
    ${mirror:+"$mirror"} ${script:+"$script"} >"$roots/$suite.log" 2>&1 ||
    die "debootstrap could not make the root of $suite (its words: $roots/$suite.log): $(tail -n 1 "$roots/$suite.log")"
  # A mirror may be a snapshot, whose lists have expired. Their signatures are checked all the same.
  echo 'Acquire::Check-Valid-Until "false";' >"$roots/$suite.new/etc/apt/apt.conf.d/90snapshot"
  mv "$roots/$suite.new" "$roots/$suite"
}

# The environment of the command, for env -i.
kept_environment() {
  local name
  printf '%s\0' HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
  for name in CI TERM http_proxy https_proxy no_proxy $(compgen -e TERRANE_ || true); do
    [ -z "${!name+set}" ] || printf '%s=%s\0' "$name" "${!name}"
  done
}

# The first process of the namespaces: it sets them up, starts the command and takes its orphans.
# Usage there: bash -c "$enter" in_root ROOT CHECKOUT SUITE FOLDER THROWAWAY [VARIABLE=VALUE...] -- COMMAND...
# shellcheck disable=SC2016
readonly enter='
set -euo pipefail
root=$1 checkout=$2 suite=$3 folder=$4 throwaway=$5 && shift 5
mount --make-rprivate /
if [ "$throwaway" = yes ]; then
  mount -t tmpfs tmpfs "$root.scratch"
  mkdir "$root.scratch"/{changes,work,root}
  mount -t overlay -o "lowerdir=$root,upperdir=$root.scratch/changes,workdir=$root.scratch/work" overlay \
    "$root.scratch/root"
  root=$root.scratch/root
else
  mount --bind "$root" "$root"
fi
mkdir -p "$root$checkout"
mount --rbind "$checkout" "$root$checkout"
mount --bind "$checkout/build/everywhere/$suite" "$root$checkout/build"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/lock"
mount -t proc proc "$root/proc"
[ ! -e /etc/resolv.conf ] || cat /etc/resolv.conf >"$root/etc/resolv.conf"
mkdir -p "$root/.outside"
cd "$root"
pivot_root . .outside
umount -l /.outside
cd "$folder"
status=0
env -i "$@" || status=$?
exit $status
'

main() {
  local mirror='' fresh=no throwaway=no suite folder environment
  while [ $# -gt 0 ]; do
    case $1 in
      --mirror) [ $# -ge 2 ] || die "--mirror needs a URL" && mirror=$2 && shift ;;
      --mirror=*) mirror=${1#*=} ;;
      --fresh) fresh=yes ;;
      --throwaway) throwaway=yes ;;
      -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$checkout/scripts/in_root.sh" && exit ;;
      -*) die "no option '$1'; --help lists them" ;;
      *) break ;;
    esac
    shift
  done
  [ $# -ge 2 ] || die "usage: in_root.sh [--mirror URL] [--fresh] [--throwaway] SUITE COMMAND [ARGUMENTS...]"
  suite=$1 && shift
  [[ $suite =~ ^[a-z][a-z0-9.-]*$ ]] || die "'$suite' is no name of a suite (bookworm, trixie, sid, noble)"
  [ "$(id -u)" -eq 0 ] || die "mounts need root: sudo $0 $suite $*"
  mkdir -p "$roots/$suite.scratch" "$checkout/build/everywhere/$suite"
  exec 9>"$roots/$suite.lock"
  flock 9
  [ $fresh = no ] || rm -rf --one-file-system "${roots:?}/$suite"
  [ -d "$roots/$suite" ] || make_root "$suite" "$mirror"
  exec 9>&-
  folder=$PWD
  [[ $folder/ == "$checkout"/* ]] || folder=$checkout
  mapfile -d '' environment < <(kept_environment)
  # The first process of the namespaces is a child that ends with its parent, which a signal ends as any other program.
  # `unshare --fork` would ignore SIGTERM.
  exec unshare --mount --pid bash -c 'setpriv --pdeathsig KILL bash -c "$@"; exit $?' bash "$enter" in_root \
    "$roots/$suite" "$checkout" "$suite" "$folder" $throwaway "${environment[@]}" "$@"
}

main "$@"
