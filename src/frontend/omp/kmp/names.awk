# From the versions of gcc's library: each omp_ function under the version that clang's library has, too, in
# assembler text, and each GOMP_ function, which objects of gcc call in a program that clang has linked.
# -v jump=JUMP: the instruction that goes to another function.
/^ *GOMP_PLUGIN_/ { next }
/^ *(omp|GOMP)_[a-z0-9_]*;/ {
  name = $1
  sub(/;/, "", name)
  if (name in done) next
  done[name] = 1
  target = name ~ /_lock_?$/ ? "terrane_new_" name : name
  give(name, target)
  # gcc's library does not have these.
  if (name ~ /^omp_init_(nest_)?lock_?$/) {
    hinted = name
    sub(/lock/, "lock_with_hint", hinted)
    give(hinted, target)
  }
  # What C programs of Intel's compilers call.
  if (name ~ /^omp_(set_affinity_format|get_affinity_format|display_affinity|capture_affinity)$/ ||
      name ~ /^omp_(set_num_threads|set_dynamic|set_nested|set_max_active_levels|set_schedule)$/ ||
      name ~ /^omp_(get_ancestor_thread_num|get_team_size)$/) {
    sub(/^omp/, "ompc", name)
    give(name, target)
  }
}
function give(name, target) {
  printf "\t.globl terrane_kmp_%s\n\t.type terrane_kmp_%s, @function\n", name, name
  printf "terrane_kmp_%s:\n\t%s %s\n\t.size terrane_kmp_%s, .-terrane_kmp_%s\n", name, jump, target, name, name
  printf "\t.symver terrane_kmp_%s, %s@VERSION\n", name, name
}
BEGIN { print "\t.section .note.GNU-stack,\"\",%progbits\n\t.text" }
