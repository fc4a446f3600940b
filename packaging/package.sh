#!/usr/bin/env bash
# Builds packages of one kind into build/packages/KIND (./run package --help).
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
. scripts/packages.sh

readonly kinds="deb rpm spack conda container sbom wheel"

die() {
  echo "package: $*" >&2
  exit 2
}

# The date of what is packaged: two builds of one commit are equal.
source_date() {
  [ -z "${SOURCE_DATE_EPOCH:-}" ] || { echo "$SOURCE_DATE_EPOCH" && return; }
  git log -1 --format=%ct 2>/dev/null || stat -c %Y CHANGELOG.md
}

# The files of the checkout as an archive: those that git knows or would take, or all but build/.
archive() { # FILE NAME-VERSION
  local files
  if files=$(mktemp) && git ls-files -z --cached --others --exclude-standard >"$files" 2>/dev/null && [ -s "$files" ]; then :; else
    find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\0' >"$files"
  fi
  tar --create --auto-compress --file "$1" --sort=name --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
    --transform "s,^,$2/," --null --files-from "$files"
  rm "$files"
}

package_deb() {
  local folder=build/packages/deb name=terrane-$version
  need_packages build demo package deb
  rm -rf "$folder"
  mkdir -p "$folder"
  archive "$folder/terrane_$version.orig.tar.xz" "$name"
  tar -C "$folder" -xf "$folder/terrane_$version.orig.tar.xz"
  cp -a packaging/debian "$folder/$name/debian"
  cat >"$folder/$name/debian/changelog" <<TEXT
terrane ($version-1) UNRELEASED; urgency=medium

  * See /usr/share/doc/terrane/CHANGELOG.md.

 -- The Terrane authors <maintainers@terrane.example>  $(LC_ALL=C date -u -R -d "@$epoch")
TEXT
  # debhelper gives the build a home folder of its own: the compiler's cache and its settings stay where they are.
  local settings=${XDG_CONFIG_HOME:-${HOME:-}/.config}/ccache/ccache.conf
  export CCACHE_DIR=${CCACHE_DIR:-${HOME:-$PWD/build}/.cache/ccache}
  [ ! -e "$settings" ] || export CCACHE_CONFIGPATH=$settings
  (cd "$folder/$name" && dpkg-buildpackage --no-sign)
  local tree trees=()
  for tree in "$folder/$name"/debian/terrane/usr "$folder/$name"/debian/{lib,}terrane?*/usr; do
    trees+=("$(basename "$(dirname "$tree")")=$tree")
  done
  python3 -B packaging/sbom.py "${trees[@]}" >"$folder/terrane_$version.spdx.json"
  rm -rf "${folder:?}/$name"
  echo "Built: $(cd "$folder" && echo *.dsc *.deb *.spdx.json) in $folder"
}

# On a system whose packages are not RPM's the needs of the build are found by CMake alone.
package_rpm() {
  local folder=$PWD/build/packages/rpm options=()
  command -v rpmbuild >/dev/null || die "rpmbuild is missing (Fedora: rpm-build, Debian: rpm)"
  need_packages build demo package
  rpm -q --quiet gcc-c++ 2>/dev/null || options=(--nodeps --define "debug_package %{nil}")
  rm -rf "$folder"
  mkdir -p "$folder/SOURCES" "$folder/SPECS"
  archive "$folder/SOURCES/terrane-$version.tar.xz" "terrane-$version"
  python3 -B packaging/lists.py --rpm packaging/rpm/terrane.spec.in >"$folder/SPECS/terrane.spec"
  # Neither the time nor the host of the build is in the packages: two builds of one commit are equal.
  options+=(--define "use_source_date_epoch_as_buildtime Y" --define "clamp_mtime_to_source_date_epoch Y")
  options+=(--define "_buildhost localhost")
  rpmbuild -ba --define "_topdir $folder" "${options[@]}" "$folder/SPECS/terrane.spec"
  echo "Built: $(cd "$folder" && echo SRPMS/*.rpm RPMS/*/*.rpm) in $folder"
}

# Recipes, with the sources beside them: Spack and conda build them where they are installed.
package_recipe() { # KIND
  local folder=build/packages/$1 archive
  need_packages package
  rm -rf "$folder"
  mkdir -p "$folder/sources"
  archive=$folder/sources/terrane-$version.tar.xz
  archive "$archive" "terrane-$version"
  python3 -B packaging/recipes.py "--$1" "$folder" "$archive"
  rm -rf "$folder/sources"
  echo "Built: a recipe for $1, with the sources, in $folder"
}
package_spack() { package_recipe spack; }
package_conda() { package_recipe conda; }

# What docker or podman sees is the archive, unpacked: neither .git nor build/. BASE and CONTAINER_OPTIONS are passed on.
package_container() {
  local folder=build/packages/container engine
  engine=$(command -v podman || command -v docker) || die "neither podman nor docker is there"
  rm -rf "$folder"
  mkdir -p "$folder"
  archive "$folder/terrane.tar" context
  tar -C "$folder" -xf "$folder/terrane.tar"
  # shellcheck disable=SC2086
  "$engine" build ${BASE:+--build-arg "BASE=$BASE"} ${CONTAINER_OPTIONS:-} -t "terrane:$version" \
    -f packaging/Containerfile "$folder/context"
  rm -rf "$folder"
  echo "Built: the image terrane:$version"
}

# Of a build for any system: the files of build/stage.
package_sbom() {
  local folder=build/packages/sbom
  need_packages build package
  ./run build
  mkdir -p "$folder"
  python3 -B packaging/sbom.py "terrane=build/stage" >"$folder/terrane-$version.spdx.json"
  echo "Built: terrane-$version.spdx.json in $folder"
}

# For Python 3.11, and for 3.12 and all later ones, as far as they are there with their headers; or those of PYTHONS.
package_wheel() {
  need_packages build package wheel
  ./run build
  rm -rf build/packages/wheel
  packaging/wheel.sh build/stage build/packages/wheel ${PYTHONS:-}
}

[ $# -eq 1 ] && [[ " $kinds " == *" $1 "* ]] || die "usage: ./run package KIND; kinds: $kinds"
# Python is there after need_packages alone.
version=$(sed -nE 's/^project\(terrane VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
epoch=$(source_date)
export SOURCE_DATE_EPOCH=$epoch
"package_$1"
