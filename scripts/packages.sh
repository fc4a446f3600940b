# shellcheck shell=bash
# need_packages PURPOSE: the packages of packages.txt for this purpose are installed afterwards, or the script has
# ended with the command that installs them.

packages_for() { # PURPOSE
  sed 's/#.*//' scripts/packages.txt | awk -v purpose="$1" '$2 == purpose { print $1 }'
}

# Of this machine's architecture: those of another one may be there, too.
missing_packages() { # PURPOSE
  local package here
  here=$(dpkg --print-architecture)
  for package in $(packages_for "$1"); do
    dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
      grep -Eqx "($here|all) installed" || echo "$package"
  done
}

# Mirrors fail now and then: three attempts.
apt_get() {
  local attempt
  for attempt in 1 2 3; do
    if DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -q -y "$@" </dev/null; then return 0; fi
    echo "run: apt-get $1 failed (attempt $attempt of 3)" >&2
    sleep $((attempt * 5))
  done
  return 1
}

need_packages() { # PURPOSE
  local missing
  if ! command -v dpkg >/dev/null; then return 0; fi # another system: CMake names what it does not find
  missing=$(missing_packages "$1" | tr '\n' ' ')
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    echo "run: Debian packages are missing; install them with: sudo apt-get install --no-install-recommends $missing" >&2
    exit 1
  fi
  echo "run: installing $missing"
  # shellcheck disable=SC2086
  if ! { apt_get update && apt_get install --no-install-recommends $missing; }; then
    echo "run: apt-get could not install: $missing" >&2
    exit 1
  fi
}
