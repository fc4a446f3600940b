#!/bin/sh
# Installs the build into one folder and moves the result to another: what needs the first one is then found out.
# Usage: install.sh CMAKE BUILD_FOLDER STAGE
set -eu
rm -rf "$3" "$3.first"
"$1" --install "$2" --prefix "$3.first" >/dev/null
mv "$3.first" "$3"
