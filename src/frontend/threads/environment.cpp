#include "frontend/threads/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "frontend/interpose/shared_range.h"
#include "frontend/threads/program.h"
#include "platform/page_size.h"

namespace terrane::frontend::threads {
namespace {

// Where in the list a variable of that name is; where there is none, the list's end.
char** find(const char* name, std::size_t bytes) {
  char** one = environ;
  for (; *one != nullptr; ++one)
    if (std::strncmp(*one, name, bytes) == 0 && (*one)[bytes] == '=') break;
  return one;
}

// Before a list that is made here.
struct Head {
  std::uint64_t mark;
  std::uint64_t room;  // for strings, with the null pointer at the end
};
constexpr std::uint64_t kMark = 0x7465727261656e76;

// Of the list, if it was made here. A list at the begin of a page has no bytes before it that could
// be looked at.
const Head* head_of_list() {
  auto at = reinterpret_cast<std::uintptr_t>(environ);
  if (at % platform::page_bytes() < sizeof(Head) || !SharedRange::contains(environ)) return nullptr;
  const auto* head = reinterpret_cast<const Head*>(environ) - 1;
  return head->mark == kMark ? head : nullptr;
}

// Makes the list one that may be changed, with room for one more. The old one stays: a thread may
// be reading it. False: no memory is left.
bool make_room() {
  constexpr std::uint64_t kMore = 64;
  std::uint64_t count = 0;
  if (environ != nullptr)
    while (environ[count] != nullptr) ++count;
  const Head* head = environ == nullptr ? nullptr : head_of_list();
  if (head != nullptr && count + 1 < head->room) return true;
  std::uint64_t room = 2 * count + kMore;
  void* block = Program::get()->heap().allocate(sizeof(Head) + room * sizeof(char*));
  if (block == nullptr) return false;
  auto* made = static_cast<Head*>(block);
  *made = {kMark, room};
  auto** list = reinterpret_cast<char**>(made + 1);
  std::copy_n(environ, count, list);
  list[count] = nullptr;
  environ = list;
  return true;
}

void store(char** place, char* text) {
  if (*place == nullptr) place[1] = nullptr;
  *place = text;
}

int no_memory() {
  errno = ENOMEM;
  return -1;
}

// "name=value" in shared memory.
char* make_text(const char* name, std::size_t bytes, const char* value) {
  std::size_t value_bytes = std::strlen(value) + 1;
  auto* text = static_cast<char*>(Program::get()->heap().allocate(bytes + 1 + value_bytes));
  if (text == nullptr) return nullptr;
  std::memcpy(text, name, bytes);
  text[bytes] = '=';
  std::memcpy(text + bytes + 1, value, value_bytes);
  return text;
}

}  // namespace

bool names_environment() {
  return Program::get() != nullptr && is_in_program() && SharedRange::contains(&environ);
}

int set_named(const char* name, const char* value, int overwrites) {
  if (name == nullptr || *name == '\0' || std::strchr(name, '=') != nullptr) {
    errno = EINVAL;
    return -1;
  }
  std::size_t bytes = std::strlen(name);
  Holding hold(&environ);
  if (!make_room()) return no_memory();
  char** place = find(name, bytes);
  if (value == nullptr) {
    for (; *place != nullptr; place = find(name, bytes))
      for (char** one = place; *one != nullptr; ++one) one[0] = one[1];
    return 0;
  }
  if (*place != nullptr && overwrites == 0) return 0;
  char* text = make_text(name, bytes, value);
  if (text == nullptr) return no_memory();
  store(place, text);
  return 0;
}

int put_named(char* text) {
  const char* end = std::strchr(text, '=');
  if (end == nullptr) return set_named(text, nullptr, 1);
  Holding hold(&environ);
  if (!make_room()) return no_memory();
  store(find(text, static_cast<std::size_t>(end - text)), text);
  return 0;
}

}  // namespace terrane::frontend::threads
