#!/bin/bash
# The modulefiles of a moved installation: by Lmod in Lua and in Tcl, or by Environment Modules, whichever is here.
# Usage: modules_test.sh STAGE VERSION
set -u
stage=$1
version=$2
modules=$stage/share/terrane/modulefiles
failures=0

init=''
for file in /usr/share/lmod/lmod/init/bash /usr/share/modules/init/bash; do [ ! -e $file ] || init=$file; done
[ -n "$init" ] || { echo "skipped: there is neither Lmod nor Environment Modules here (Debian: apt install lmod)"; exit 77; }
# shellcheck disable=SC1090
. "$init"

# Of the folder, in an environment of its own.
loads() { # FOLDER
  (
    unset MANPATH PKG_CONFIG_PATH CMAKE_PREFIX_PATH
    module use "$1" && module load terrane || exit 1
    [ "$(command -v terrane)" = "$stage/bin/terrane" ] && terrane --version | grep -qF "$version" &&
      [ "$PKG_CONFIG_PATH" = "$stage/lib/pkgconfig" ] && [ "$CMAKE_PREFIX_PATH" = "$stage" ] &&
      [[ $MANPATH == "$stage/share/man:"* ]] && pkg-config --exists terrane &&
      module unload terrane && [ "$(command -v terrane)" != "$stage/bin/terrane" ]
  )
}

loads "$modules" || { echo "the modulefiles do not load by $init" && failures=1; }
# Where both are there Lmod takes the one in Lua.
mv "$modules/terrane/$version.lua" "$modules/hidden"
loads "$modules" || { echo "the modulefile in Tcl does not load by $init" && failures=1; }
mv "$modules/hidden" "$modules/terrane/$version.lua"
exit $failures
