// Classes and mappings of wide characters (wctype, wctrans): the C library's lie in private memory
// of a locale, at other addresses on each node. The program gets a number for each, which the
// thread's locale, or the one that is given, explains on every node.
#include <wctype.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "frontend/interpose/next.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

struct Class {
  const char* name;
  int (*is)(wint_t);
  int (*is_in)(wint_t, locale_t);
};
constexpr Class kClasses[] = {
    {"alnum", ::iswalnum, ::iswalnum_l}, {"alpha", ::iswalpha, ::iswalpha_l},
    {"blank", ::iswblank, ::iswblank_l}, {"cntrl", ::iswcntrl, ::iswcntrl_l},
    {"digit", ::iswdigit, ::iswdigit_l}, {"graph", ::iswgraph, ::iswgraph_l},
    {"lower", ::iswlower, ::iswlower_l}, {"print", ::iswprint, ::iswprint_l},
    {"punct", ::iswpunct, ::iswpunct_l}, {"space", ::iswspace, ::iswspace_l},
    {"upper", ::iswupper, ::iswupper_l}, {"xdigit", ::iswxdigit, ::iswxdigit_l},
};

struct Mapping {
  const char* name;
  wint_t (*to)(wint_t);
  wint_t (*to_in)(wint_t, locale_t);
};
constexpr Mapping kMappings[] = {
    {"tolower", ::towlower, ::towlower_l},
    {"toupper", ::towupper, ::towupper_l},
};

// From 1, which is no address; 0: there is none of that name.
template <typename Row, std::size_t kCount>
std::uintptr_t number_of(const Row (&rows)[kCount], const char* name) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (std::strcmp(rows[i].name, name) == 0) return i + 1;
  return 0;
}

// nullptr: it is one of the C library's own.
template <typename Row, std::size_t kCount>
const Row* row_of(const Row (&rows)[kCount], std::uintptr_t number) {
  return number - 1 < kCount ? &rows[number - 1] : nullptr;
}

// 0 for one that a locale has beside those that all have.
std::uintptr_t without(bool is_there) {
  if (is_there)
    refused<"wctype, wctrans", int>(
        EINVAL, "a class or mapping of characters that only some locales have is not served");
  return 0;
}

}  // namespace

extern "C" {
wctype_t __wctype_l(const char*, locale_t) noexcept;
int __iswctype_l(wint_t, wctype_t, locale_t) noexcept;
wctrans_t __wctrans_l(const char*, locale_t) noexcept;
wint_t __towctrans_l(wint_t, wctrans_t, locale_t) noexcept;
}

#pragma GCC visibility push(default)
extern "C" {

wctype_t wctype(const char* name) noexcept {
  auto* call = next<"wctype">(::wctype);
  if (!concerns_all_nodes()) return call(name);
  std::uintptr_t number = number_of(kClasses, name);
  return number != 0 ? number : without(call(name) != 0);
}

wctype_t wctype_l(const char* name, locale_t locale) noexcept {
  auto* call = next<"wctype_l">(::wctype_l);
  if (!concerns_all_nodes()) return call(name, locale);
  std::uintptr_t number = number_of(kClasses, name);
  return number != 0 ? number : without(call(name, locale) != 0);
}
wctype_t __wctype_l(const char* name, locale_t locale) noexcept { return wctype_l(name, locale); }

int iswctype(wint_t character, wctype_t of) noexcept {
  const Class* known = row_of(kClasses, of);
  return known != nullptr ? known->is(character) : next<"iswctype">(::iswctype)(character, of);
}

int iswctype_l(wint_t character, wctype_t of, locale_t locale) noexcept {
  const Class* known = row_of(kClasses, of);
  return known != nullptr ? known->is_in(character, locale)
                          : next<"iswctype_l">(::iswctype_l)(character, of, locale);
}
int __iswctype_l(wint_t character, wctype_t of, locale_t locale) noexcept {
  return iswctype_l(character, of, locale);
}

wctrans_t wctrans(const char* name) noexcept {
  auto* call = next<"wctrans">(::wctrans);
  if (!concerns_all_nodes()) return call(name);
  std::uintptr_t number = number_of(kMappings, name);
  if (number == 0) number = without(call(name) != nullptr);
  return reinterpret_cast<wctrans_t>(number);
}

wctrans_t wctrans_l(const char* name, locale_t locale) noexcept {
  auto* call = next<"wctrans_l">(::wctrans_l);
  if (!concerns_all_nodes()) return call(name, locale);
  std::uintptr_t number = number_of(kMappings, name);
  if (number == 0) number = without(call(name, locale) != nullptr);
  return reinterpret_cast<wctrans_t>(number);
}
wctrans_t __wctrans_l(const char* name, locale_t locale) noexcept {
  return wctrans_l(name, locale);
}

wint_t towctrans(wint_t character, wctrans_t by) noexcept {
  const Mapping* known = row_of(kMappings, reinterpret_cast<std::uintptr_t>(by));
  return known != nullptr ? known->to(character) : next<"towctrans">(::towctrans)(character, by);
}

wint_t towctrans_l(wint_t character, wctrans_t by, locale_t locale) noexcept {
  const Mapping* known = row_of(kMappings, reinterpret_cast<std::uintptr_t>(by));
  return known != nullptr ? known->to_in(character, locale)
                          : next<"towctrans_l">(::towctrans_l)(character, by, locale);
}
wint_t __towctrans_l(wint_t character, wctrans_t by, locale_t locale) noexcept {
  return towctrans_l(character, by, locale);
}

}  // extern "C"
#pragma GCC visibility pop
