// What a program shows of the places of its threads: the processors that each of them may use.
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "frontend/omp/api.h"
#include "frontend/omp/team.h"
#include "frontend/threads/for_teams.h"

using namespace terrane::frontend::omp;

namespace {

constexpr std::size_t kFormatBytes = 256;
constexpr char kUsual[] = "level %L thread %i affinity %A";

// The control variable affinity-format-var, which all threads have: a text in shared memory, under
// a lock. nullptr: nobody has set it.
std::string current_format() {
  void** root = terrane_program_root(kProgramFormat);
  terrane_program_lock(root);
  std::string now = *root != nullptr ? static_cast<const char*>(*root) : "";
  bool is_set = *root != nullptr;
  terrane_program_unlock(root);
  if (is_set) return now;
  return environment().affinity_format.empty() ? kUsual : environment().affinity_format;
}

void set_format(std::string_view text) {
  void** root = terrane_program_root(kProgramFormat);
  terrane_program_lock(root);
  if (*root == nullptr) *root = std::calloc(1, kFormatBytes);
  if (*root == nullptr) terrane_program_fail("omp_set_affinity_format: no memory");
  std::size_t bytes = std::min(text.size(), kFormatBytes - 1);
  std::memcpy(*root, text.data(), bytes);
  static_cast<char*>(*root)[bytes] = '\0';
  terrane_program_unlock(root);
}

// Numbers of processors: 0-3,6
std::string processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::sched_getaffinity(0, sizeof set, &set);
  std::string list;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (!CPU_ISSET(i, &set)) continue;
    int last = i;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(i);
    if (last > i) list += '-' + std::to_string(last);
    i = last;
  }
  return list;
}

std::string host() {
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

struct Field {
  char letter;
  std::string_view name;
};
constexpr Field kFields[] = {
    {'t', "team_num"},         {'T', "num_teams"},      {'L', "nesting_level"}, {'n', "thread_num"},
    {'N', "num_threads"},      {'a', "ancestor_tnum"},  {'H', "host"},          {'P', "process_id"},
    {'i', "native_thread_id"}, {'A', "thread_affinity"}};

std::string value_of(char letter) {
  switch (letter) {
    case 't':
      return std::to_string(omp_get_team_num());
    case 'T':
      return std::to_string(omp_get_num_teams());
    case 'L':
      return std::to_string(omp_get_level());
    case 'n':
      return std::to_string(omp_get_thread_num());
    case 'N':
      return std::to_string(omp_get_num_threads());
    case 'a':
      return std::to_string(omp_get_ancestor_thread_num(omp_get_level() - 1));
    case 'H':
      return host();
    case 'P':
      return std::to_string(::getpid());
    case 'i':
      return std::to_string(::syscall(SYS_gettid));
    case 'A':
      return processors();
    default:
      return "undefined";
  }
}

// To that width: on the left, or on the right of spaces or, where it is a number, of zeros, which
// stand behind its sign.
std::string padded(const std::string& value, std::size_t width, bool is_right, bool with_zeros) {
  if (value.size() >= width) return value;
  std::size_t missing = width - value.size();
  bool is_number = value.find_first_not_of("0123456789", value[0] == '-' ? 1 : 0) == value.npos;
  if (with_zeros && is_number)
    return std::string(value).insert(value[0] == '-' ? 1 : 0, missing, '0');
  std::string fill(missing, ' ');
  return is_right || with_zeros ? fill + value : value + fill;
}

// Reads the field behind a %: [0][.][width](LETTER|{NAME}). What it does not know is "undefined".
std::string read_field(std::string_view& text) {
  auto skip = [&](char wanted) {
    bool is_there = !text.empty() && text.front() == wanted;
    if (is_there) text.remove_prefix(1);
    return is_there;
  };
  bool with_zeros = skip('0'), is_right = skip('.');
  std::size_t width = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    width = std::min<std::size_t>(width * 10 + static_cast<std::size_t>(text.front() - '0'), 1000);
    text.remove_prefix(1);
  }
  char letter = '\0';
  if (skip('{')) {
    std::size_t end = std::min(text.find('}'), text.size());
    for (const Field& field : kFields)
      if (field.name == text.substr(0, end)) letter = field.letter;
    text.remove_prefix(std::min(end + 1, text.size()));
  } else if (!text.empty()) {
    letter = text.front();
    text.remove_prefix(1);
  }
  return padded(value_of(letter), width, is_right, with_zeros);
}

std::string described(std::string_view text) {
  std::string format;
  if (text.empty()) text = format = current_format();
  std::string all;
  while (!text.empty()) {
    char next = text.front();
    text.remove_prefix(1);
    if (next != '%') {
      all += next;
    } else if (!text.empty() && text.front() == '%') {
      all += '%';
      text.remove_prefix(1);
    } else {
      all += read_field(text);
    }
  }
  return all;
}

// As much as there is room for, with a zero behind it.
std::size_t give(std::string_view text, char* buffer, std::size_t bytes) {
  if (bytes != 0) {
    std::size_t fits = std::min(text.size(), bytes - 1);
    std::memcpy(buffer, text.data(), fits);
    buffer[fits] = '\0';
  }
  return text.size();
}

// In Fortran: spaces up to the end.
std::int32_t give_padded(std::string_view text, char* buffer, std::size_t bytes) {
  std::size_t fits = std::min(text.size(), bytes);
  std::memcpy(buffer, text.data(), fits);
  std::memset(buffer + fits, ' ', bytes - fits);
  return static_cast<std::int32_t>(text.size());
}

std::string_view trimmed(const char* text, std::size_t bytes) {
  std::string_view all(text, bytes);
  while (!all.empty() && all.back() == ' ') all.remove_suffix(1);
  return all;
}

void display(std::string_view text) { std::fprintf(stderr, "%s\n", described(text).c_str()); }

std::string_view text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

extern "C" {

void omp_set_affinity_format(const char* text) { set_format(text); }
std::size_t omp_get_affinity_format(char* buffer, std::size_t bytes) {
  return give(current_format(), buffer, bytes);
}
void omp_display_affinity(const char* text) { display(text_or_empty(text)); }
std::size_t omp_capture_affinity(char* buffer, std::size_t bytes, const char* text) {
  return give(described(text_or_empty(text)), buffer, bytes);
}

void omp_set_affinity_format_(const char* text, std::size_t bytes) {
  set_format(trimmed(text, bytes));
}
std::int32_t omp_get_affinity_format_(char* buffer, std::size_t bytes) {
  return give_padded(current_format(), buffer, bytes);
}
void omp_display_affinity_(const char* text, std::size_t bytes) { display(trimmed(text, bytes)); }
std::int32_t omp_capture_affinity_(char* buffer, const char* text, std::size_t bytes,
                                   std::size_t text_bytes) {
  return give_padded(described(trimmed(text, text_bytes)), buffer, bytes);
}

}  // extern "C"
