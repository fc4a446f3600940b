#!/usr/bin/env bash
# Unpacks Debian's arm64 libraries that Terrane is built with into a folder. Nothing is installed, and the machine's list of
# architectures stays as it is.
# Usage: scripts/get_arm64_libraries.sh FOLDER
set -euo pipefail
folder=$(realpath -m "${1:?usage: scripts/get_arm64_libraries.sh FOLDER}")
readonly folder
readonly packages=(libfmt9 libfmt-dev libssl3 libssl-dev libtomlplusplus-dev libucx0 libucx-dev
  libibverbs1 libnl-3-200 libnl-route-3-200 libnuma1 librdmacm1)
readonly state=$folder/apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial"
cat >"$state/apt.conf" <<END
Dir::State::lists "$state/lists";
Dir::Cache "$state/cache";
APT::Architectures { "amd64"; "arm64"; };
APT::Sandbox::User "root";
END
export APT_CONFIG=$state/apt.conf
cd "$state"
apt-get -qq update
apt-get -qq download "${packages[@]/%/:arm64}"
for package in ./*.deb; do dpkg -x "$package" "$folder"; done
rm -rf "$state"
echo "$folder/usr/lib/aarch64-linux-gnu"
