// Locales of the program. The C library's lie in private memory, at other addresses on each node.
// So each node has every locale that the program makes, and a copy of its head in private memory at
// one address for all nodes, which is what the program sees. With the tables of characters, since
// the C++ library keeps their addresses in objects that all nodes use.
#include <dlfcn.h>
#include <libintl.h>
#include <locale.h>
#include <sys/mman.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "frontend/threads/copies.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

constexpr std::uintptr_t kBase = (std::uintptr_t{4} << 44) + (std::uintptr_t{1} << 43);
constexpr std::size_t kMostText = 1024;
constexpr std::size_t kCharacters = 384, kBefore0 = 128;  // from -128 to 255

// What the program sees of a locale.
struct Seen {
  __locale_struct head;
  unsigned short classes[kCharacters];
  int to_lower[kCharacters], to_upper[kCharacters];
};
constexpr std::size_t kEach = 4096;
static_assert(sizeof(Seen) <= kEach);
static_assert(kMostLocales % 64 == 0);

// The C library's own, behind each head.
std::array<locale_t, kMostLocales> own_of{};

locale_t head_of(std::uint32_t slot) { return reinterpret_cast<locale_t>(kBase + slot * kEach); }

bool is_ours(locale_t locale) {
  return reinterpret_cast<std::uintptr_t>(locale) - kBase < kMostLocales * kEach;
}

std::uint32_t slot_of(locale_t locale) {
  return static_cast<std::uint32_t>((reinterpret_cast<std::uintptr_t>(locale) - kBase) / kEach);
}

// What the C library has for a locale of the program.
locale_t own(locale_t locale) { return is_ours(locale) ? own_of[slot_of(locale)] : locale; }

// Whether every node has it at this address: that of C.
bool is_constant(locale_t locale) {
  Dl_info info{};
  return ::dladdr(locale, &info) != 0;
}

// False: the program has as many as it can have.
bool take_slot(std::uint32_t& slot) {
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  for (slot = 0; slot < kMostLocales; ++slot) {
    std::uint64_t& word = control.locales[slot / 64];
    if ((word >> slot % 64 & 1) != 0) continue;
    word |= std::uint64_t{1} << slot % 64;
    return true;
  }
  errno = ENOMEM;
  return false;
}

void give_slot(std::uint32_t slot) {
  Control& control = Program::get()->control();
  Holding hold(&control.lock);
  control.locales[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
}

void map_heads() {
  static const bool is_mapped = [] {
    void* at = next<"mmap">(::mmap)(reinterpret_cast<void*>(kBase), kMostLocales * kEach,
                                    PROT_READ | PROT_WRITE,
                                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    return at != MAP_FAILED;
  }();
  TERRANE_CHECK(is_mapped, "the addresses of the program's locales are free");
}

// Tables are known by the address of the entry of 0.
template <typename Entry>
const Entry* copy_table(Entry (&to)[kCharacters], const Entry* from) {
  std::memcpy(to, from - kBefore0, sizeof to);
  return to + kBefore0;
}

// The head of a slot becomes that of `made`, which takes the place of the one before.
bool put(std::uint32_t slot, locale_t made) {
  if (made == nullptr) return false;
  map_heads();
  if (own_of[slot] != nullptr) next<"freelocale">(::freelocale)(own_of[slot]);
  own_of[slot] = made;
  Seen& seen = *reinterpret_cast<Seen*>(head_of(slot));
  seen.head = *made;
  seen.head.__ctype_b = copy_table(seen.classes, made->__ctype_b);
  seen.head.__ctype_tolower = copy_table(seen.to_lower, made->__ctype_tolower);
  seen.head.__ctype_toupper = copy_table(seen.to_upper, made->__ctype_toupper);
  return true;
}

// A change with a locale, and texts.
struct LocaleChange : Change {
  std::uint32_t slot;
  int number;  // the mask, or the category
  locale_t from;
  bool has_text, has_more;
  char* result;
  char text[kMostText], more[kMostText];

  // False: they are too long (errno).
  bool set(const char* first, const char* second = nullptr) {
    result = nullptr;
    may = nullptr;
    has_text = first != nullptr;
    has_more = second != nullptr;
    return store(text, first) && store(more, second);
  }
  const char* first() const { return has_text ? text : nullptr; }
  const char* second() const { return has_more ? more : nullptr; }

 private:
  static bool store(char (&to)[kMostText], const char* from) {
    std::size_t bytes = from == nullptr ? 0 : std::strlen(from) + 1;
    if (bytes > kMostText) errno = ENAMETOOLONG;
    if (bytes != 0 && bytes <= kMostText) std::memcpy(to, from, bytes);
    return bytes <= kMostText;
  }
};

LocaleChange& own_change(Change& change) { return static_cast<LocaleChange&>(change); }

locale_t new_here(int mask, const char* name, locale_t base) {
  auto* call = next<"newlocale">(::newlocale);
  locale_t copy = base == nullptr ? nullptr : next<"duplocale">(::duplocale)(base);
  locale_t made = call(mask, name, copy);
  if (made == nullptr && copy != nullptr) next<"freelocale">(::freelocale)(copy);
  return made;
}

bool has_locale(Change& change) {
  LocaleChange& wanted = own_change(change);
  locale_t made = in_library(new_here, wanted.number, wanted.first(), nullptr);
  if (made != nullptr) next<"freelocale">(::freelocale)(made);
  return made != nullptr;
}

bool make_locale(Change& change) {
  LocaleChange& wanted = own_change(change);
  return put(wanted.slot, in_library(new_here, wanted.number, wanted.first(), own(wanted.from)));
}

bool copy_locale(Change& change) {
  LocaleChange& wanted = own_change(change);
  return put(wanted.slot, in_library(next<"duplocale">(::duplocale), own(wanted.from)));
}

bool drop_locale(Change& change) {
  LocaleChange& wanted = own_change(change);
  next<"freelocale">(::freelocale)(own_of[wanted.slot]);
  own_of[wanted.slot] = nullptr;
  return true;
}

locale_t make_on_all(const char* call, LocaleChange& change) {
  bool keeps = is_ours(change.from) && change.make == make_locale;
  if (keeps) change.slot = slot_of(change.from);
  if (!keeps && !take_slot(change.slot)) return nullptr;
  if (change_all_nodes(call, change)) return head_of(change.slot);
  if (!keeps) give_slot(change.slot);
  return nullptr;
}

bool set_global(Change& change) {
  LocaleChange& wanted = own_change(change);
  char* name = in_library(next<"setlocale">(::setlocale), wanted.number, wanted.first());
  if (name != nullptr && wanted.result == nullptr) wanted.result = shared_text(name);
  return name != nullptr;
}

int mask_of(int category) { return category == LC_ALL ? LC_ALL_MASK : 1 << category; }

// A change of what gettext goes by; nullptr: it cannot be.
char* change_texts(const char* call, bool (*make)(Change&), const char* first,
                   const char* second = nullptr) {
  LocaleChange change;
  if (!change.set(first, second)) return nullptr;
  change.make = make;
  return change_all_nodes(call, change) ? change.result : nullptr;
}

template <typename Call>
bool keep_text(Change& change, Call call) {
  LocaleChange& wanted = own_change(change);
  char* text = call(wanted);
  if (text != nullptr && wanted.result == nullptr) wanted.result = shared_text(text);
  return true;
}

}  // namespace

extern "C" {
locale_t __newlocale(int, const char*, locale_t) noexcept;
locale_t __duplocale(locale_t) noexcept;
void __freelocale(locale_t) noexcept;
}

#pragma GCC visibility push(default)
extern "C" {

locale_t newlocale(int mask, const char* name, locale_t base) noexcept {
  auto* call = next<"newlocale">(::newlocale);
  if (!concerns_all_nodes() || name == nullptr) return call(mask, name, base);
  LocaleChange change;
  if (!change.set(name)) return nullptr;
  if (base == nullptr) {
    locale_t found = in_library(call, mask, name, nullptr);
    if (found == nullptr || is_constant(found)) return found;
    next<"freelocale">(::freelocale)(found);
  }
  change.number = mask;
  change.from = base;
  change.make = make_locale;
  change.may = has_locale;
  return make_on_all("newlocale", change);
}
locale_t __newlocale(int mask, const char* name, locale_t base) noexcept {
  return newlocale(mask, name, base);
}

locale_t duplocale(locale_t from) noexcept {
  bool is_for_all = concerns_all_nodes() && (from == LC_GLOBAL_LOCALE || !is_constant(from));
  if (!is_for_all) return next<"duplocale">(::duplocale)(from);
  LocaleChange change;
  change.set(nullptr);
  change.from = from;
  change.make = copy_locale;
  return make_on_all("duplocale", change);
}
locale_t __duplocale(locale_t from) noexcept { return duplocale(from); }

void freelocale(locale_t locale) noexcept {
  if (!is_ours(locale)) return next<"freelocale">(::freelocale)(locale);
  LocaleChange change;
  change.set(nullptr);
  change.slot = slot_of(locale);
  change.make = drop_locale;
  change_all_nodes("freelocale", change);
  give_slot(change.slot);
}
void __freelocale(locale_t locale) noexcept { freelocale(locale); }

char* setlocale(int category, const char* name) noexcept {
  auto* call = next<"setlocale">(::setlocale);
  if (!concerns_all_nodes()) return call(category, name);
  if (name == nullptr) return shared_text(in_library(call, category, name));
  LocaleChange change;
  if (category < 0 || category > LC_IDENTIFICATION || !change.set(name)) return nullptr;
  change.number = mask_of(category);
  if (!has_locale(change)) return nullptr;
  change.may = [](Change& wanted) {
    LocaleChange asked = own_change(wanted);
    asked.number = mask_of(asked.number);
    return has_locale(asked);
  };
  change.number = category;
  change.make = set_global;
  return change_all_nodes("setlocale", change) ? change.result : nullptr;
}

char* textdomain(const char* domain) noexcept {
  if (!concerns_all_nodes()) return next<"textdomain">(::textdomain)(domain);
  auto make = [](Change& change) {
    return keep_text(change, [](LocaleChange& wanted) {
      return next<"textdomain">(::textdomain)(wanted.first());
    });
  };
  return change_texts("textdomain", make, domain);
}

char* bindtextdomain(const char* domain, const char* folder) noexcept {
  if (!concerns_all_nodes()) return next<"bindtextdomain">(::bindtextdomain)(domain, folder);
  auto make = [](Change& change) {
    return keep_text(change, [](LocaleChange& wanted) {
      return next<"bindtextdomain">(::bindtextdomain)(wanted.first(), wanted.second());
    });
  };
  return change_texts("bindtextdomain", make, domain, folder);
}

char* bind_textdomain_codeset(const char* domain, const char* codes) noexcept {
  auto* call = next<"bind_textdomain_codeset">(::bind_textdomain_codeset);
  if (!concerns_all_nodes()) return call(domain, codes);
  auto make = [](Change& change) {
    return keep_text(change, [](LocaleChange& wanted) {
      auto* own = next<"bind_textdomain_codeset">(::bind_textdomain_codeset);
      return own(wanted.first(), wanted.second());
    });
  };
  return change_texts("bind_textdomain_codeset", make, domain, codes);
}

}  // extern "C"
#pragma GCC visibility pop
