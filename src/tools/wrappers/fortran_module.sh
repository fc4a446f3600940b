# Sets module, the folder of a shmem.mod that the compiler reads. What gfortran made for the installation serves gfortran of
# the same major version; for others the module is compiled once, into the user's cache.
find_module() {
  fortran=$include/terrane/fortran
  need_compiler "${compiler%% *}"
  [ -e "$fortran/shmem.f90" ] || fail "there is no $fortran/shmem.f90: Terrane was built without Python 3; build it with python3"
  about=$($compiler --version 2>/dev/null | head -n 1)
  module=$fortran/gfortran-$($compiler -dumpversion 2>/dev/null | head -n 1 | sed 's/[^0-9].*//')
  case $about in 'GNU Fortran'*) [ ! -e "$module/shmem.mod" ] || return 0 ;; esac
  cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/terrane
  module=$cache/fortran-$({ echo "$about" && cat "$fortran/shmem.f90"; } | cksum | tr ' ' -)
  [ -e "$module/shmem.mod" ] || compile_module
}

# In a folder of its own, which takes its place when it is complete: another oshfort may do the same.
compile_module() {
  mkdir -p "$cache" 2>/dev/null && fresh=$(mktemp -d "$module.XXXXXX" 2>/dev/null) ||
    fail "the module shmem has to be compiled for $compiler, and $cache cannot be written; name a folder: XDG_CACHE_HOME=FOLDER"
  if ! (cd "$fresh" && $compiler -c "$fortran/shmem.f90" >log 2>&1) || [ ! -e "$fresh/shmem.mod" ]; then
    said=$(grep . "$fresh/log" | head -n 1)
    rm -rf "$fresh"
    fail "$compiler does not compile the module $fortran/shmem.f90: ${said:-it wrote no shmem.mod}"
  fi
  rm -f "$fresh/log" "$fresh/shmem.o"
  mv -T "$fresh" "$module" 2>/dev/null || rm -rf "$fresh"
}
