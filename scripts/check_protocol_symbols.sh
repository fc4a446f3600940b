#!/usr/bin/env bash
# The protocol library asks nothing of the operating system and knows no threads: of what lies outside
# it uses memory functions, new and delete, the containers of the C++ library, and the end of the
# process when an invariant is broken. Usage: check_protocol_symbols.sh LIBRARY...
set -euo pipefail

[[ $# -gt 0 ]] || { echo "usage: check_protocol_symbols.sh LIBRARY..."; exit 2; }

allowed='^(mem(cpy|move|set|cmp|chr)|strlen|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_'
allowed+='|operator (new|delete)(\[\])?\(.*'               # memory
allowed+='|std::__throw_.*|std::__detail::_Prime_rehash_policy::.*|std::_Hash_bytes\(.*|std::_Rb_tree_.*'
allowed+='|std::__cxx11::basic_string<char, .*>::(_M_.*|~?basic_string\(.*)'
allowed+='|std::terminate\(\)|__gxx_personality_v0|_Unwind_Resume|__cxa_(begin_catch|end_catch|rethrow|pure_virtual|.*guard.*)'
allowed+='|std::__glibcxx_assert_fail\(.*|__mem[a-z]*_chk|vtable for (__cxxabiv1|terrane)::.*|typeinfo for terrane::.*|typeinfo for std::.*'
allowed+='|__popcountdi2'                                   # arithmetic of the compiler's own
allowed+='|__(asan|ubsan|tsan|sanitizer)_.*|__x86_get_pc_thunk.*'
allowed+='|terrane::base::check_failed\(.*|terrane::wire::.*|terrane::routing::.*|terrane::protocol::.*)$'

undefined=$(nm -u -C "$@" | awk 'NF && !/:$/ { $1 = ""; print substr($0, 2) }' | sort -u)
found=$(grep -vE "$allowed" <<<"$undefined" || true)
if [[ -n $found ]]; then
  echo "The protocol libraries use what a protocol must not:"
  sed 's/^/  /' <<<"$found"
  exit 1
fi
echo "$# libraries: $(wc -l <<<"$undefined") symbols from outside, all of them allowed"
