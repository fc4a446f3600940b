# shellcheck shell=bash
# need_packages PURPOSE...: the packages of packages.txt for these purposes are installed afterwards, or the script has
# ended with the one command that installs them all.

packages_for() { # COLUMN PURPOSES...
  sed 's/#.*//' scripts/packages.txt | awk -v column="$1" -v purposes=" ${*:2} " \
    '$2 != "" && index(purposes, " " $2 " ") && $column != "-" { print $column }' | sort -u
}

# Of this machine's architecture: those of another one may be there, too.
has_debian() {
  dpkg-query -W -f '${Architecture} ${db:Status-Status}\n' "$1" 2>/dev/null |
    grep -Eqx "($(dpkg --print-architecture)|all) installed"
}
has_fedora() { rpm -q --quiet --whatprovides "$1" 2>/dev/null; }
has_arch() { pacman -Qq "$1" >/dev/null 2>&1; }

missing_packages() { # SYSTEM COLUMN PURPOSES...
  local package
  for package in $(packages_for "${@:2}"); do "has_$1" "$package" || echo "$package"; done
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

# On a system that none of the package managers below rules: the commands that are missing; CMake names libraries.
need_commands() {
  local missing=() command
  for command in c++ cmake ninja pkg-config; do command -v "$command" >/dev/null || missing+=("$command"); done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "run: these commands are missing: ${missing[*]}; docs/building.md lists what Terrane needs" >&2
  exit 1
}

# shellcheck disable=SC2086
need_packages() { # PURPOSES...
  local missing options system install
  if command -v dpkg-query >/dev/null; then
    system=Debian
    install="apt-get install --no-install-recommends"
    missing=$(missing_packages debian 1 "$@" | tr '\n' ' ')
    options=$(missing_packages debian 1 option | tr '\n' ' ')
  elif command -v rpm >/dev/null && command -v dnf >/dev/null; then
    system=Fedora
    install="dnf install"
    missing=$(missing_packages fedora 3 "$@" | tr '\n' ' ')
    options=$(missing_packages fedora 3 option | tr '\n' ' ')
  elif command -v pacman >/dev/null; then
    system=Arch
    install="pacman -S --needed"
    missing=$(missing_packages arch 4 "$@" | tr '\n' ' ')
    options=$(missing_packages arch 4 option | tr '\n' ' ')
  else
    need_commands
    return 0
  fi
  [ -n "$missing$options" ] || return 0
  if [ "$(id -u)" -ne 0 ] || [ $system != Debian ]; then
    install="sudo $install $(printf '%s\n' $missing $options | sort -u | tr '\n' ' ')"
    if [ -n "$missing" ]; then
      echo "run: $system packages are missing; install them with: $install" >&2
      exit 1
    fi
  else
    echo "run: installing $missing$options"
    if apt_get update && apt_get install --no-install-recommends $missing $options; then return 0; fi
    if [ -n "$missing" ]; then
      echo "run: apt-get could not install: $missing$options" >&2
      exit 1
    fi
    install="$install $options"
  fi
  echo "run: optional packages are missing; to install them: $install" >&2
}
