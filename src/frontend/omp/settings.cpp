// The environment variables of OpenMP.
#include "frontend/omp/settings.h"

#include <strings.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

[[noreturn]] void refuse(const char* name, const char* value, const std::string& must_be) {
  terrane_program_fail((std::string(name) + "=" + value + ": must be " + must_be).c_str());
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

bool equal(std::string_view text, std::string_view word) {
  return text.size() == word.size() && ::strncasecmp(text.data(), word.data(), word.size()) == 0;
}

// A number in decimal digits alone; false: it is none, or not between the two.
bool parse(std::string_view text, std::uint64_t least, std::uint64_t most, std::uint64_t& out) {
  std::string digits(trimmed(text));
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  errno = 0;
  out = std::strtoull(digits.c_str(), nullptr, 10);
  return errno == 0 && out >= least && out <= most;
}

// What set_defaults reads in the calling thread, in place of the environment.
using Settings = std::map<std::string, std::string, std::less<>>;
thread_local const Settings* read_settings = nullptr;

const char* text_of(const char* name) {
  if (read_settings == nullptr) return std::getenv(name);
  auto found = read_settings->find(name);
  return found == read_settings->end() ? nullptr : found->second.c_str();
}

// nullptr: not set, or empty.
const char* value_of(const char* name) {
  const char* value = text_of(name);
  return value == nullptr || trimmed(value).empty() ? nullptr : value;
}

template <typename Number>
void read_number(const char* name, std::uint64_t least, std::uint64_t most, Number& out) {
  const char* value = value_of(name);
  if (value == nullptr) return;
  std::uint64_t number = 0;
  if (!parse(value, least, most, number))
    refuse(name, value, "a number from " + std::to_string(least) + " to " + std::to_string(most));
  out = static_cast<Number>(number);
}

template <typename Flag>
void read_flag(const char* name, Flag& out) {
  const char* value = value_of(name);
  if (value == nullptr) return;
  std::string_view text = trimmed(value);
  if (equal(text, "true") || equal(text, "1") || equal(text, "yes") || equal(text, "on")) {
    out = 1;
  } else if (equal(text, "false") || equal(text, "0") || equal(text, "no") || equal(text, "off")) {
    out = 0;
  } else {
    refuse(name, value, "true or false");
  }
}

// A list of numbers for regions within each other.
void read_threads(Environment& all) {
  const char* value = value_of("OMP_NUM_THREADS");
  if (value == nullptr) return;
  std::string_view list = value;
  for (;;) {
    std::size_t comma = list.find(',');
    std::uint64_t number = 0;
    if (!parse(list.substr(0, comma), 1, kMostThreads, number))
      refuse("OMP_NUM_THREADS", value,
             "a number of threads from 1 to " + std::to_string(kMostThreads));
    all.threads.push_back(static_cast<std::uint32_t>(number));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  all.set_threads_at(0, all.controls);
}

// Lists for regions within each other mean that these have teams, if nothing else is said.
void read_levels(Environment& all) {
  bool has_lists = all.threads.size() > 1 || all.binds.size() > 1, is_nested = has_lists;
  read_flag("OMP_NESTED", is_nested);
  std::uint32_t levels = is_nested ? kMostLevels : 1;
  read_number("OMP_MAX_ACTIVE_LEVELS", 0, INT32_MAX, levels);
  all.controls.max_active_levels = std::min(levels, kMostLevels);
}

// [monotonic:|nonmonotonic:]KIND[,CHUNK]
void read_schedule(Controls& controls) {
  const char* value = value_of("OMP_SCHEDULE");
  if (value == nullptr) return;
  auto wrong = [&] {
    refuse("OMP_SCHEDULE", value,
           "static, dynamic, guided or auto, and a chunk from 1 on: dynamic,4");
  };
  std::string_view text = trimmed(value);
  if (std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    std::string_view modifier = trimmed(text.substr(0, colon));
    if (equal(modifier, "monotonic")) {
      controls.schedule_flags = kMonotonic;
    } else if (!equal(modifier, "nonmonotonic")) {
      wrong();
    }
    text = trimmed(text.substr(colon + 1));
  }
  std::size_t comma = text.find(',');
  std::string_view kind = trimmed(text.substr(0, comma));
  if (equal(kind, "static")) {
    controls.schedule = Schedule::kStatic;
  } else if (equal(kind, "dynamic")) {
    controls.schedule = Schedule::kDynamic;
  } else if (equal(kind, "guided")) {
    controls.schedule = Schedule::kGuided;
  } else if (equal(kind, "auto")) {
    controls.schedule = Schedule::kAuto;
  } else {
    wrong();
  }
  controls.chunk = controls.schedule == Schedule::kStatic ? 0 : 1;
  if (comma == std::string_view::npos) return;
  if (!parse(text.substr(comma + 1), 1, INT64_MAX, controls.chunk)) wrong();
}

// A number with B, K, M or G behind it; K where there is none.
void read_stack(std::size_t& out) {
  const char* value = value_of("OMP_STACKSIZE");
  if (value == nullptr) value = value_of("GOMP_STACKSIZE");
  if (value == nullptr && read_settings != nullptr) value = value_of("KMP_STACKSIZE");
  if (value == nullptr) return;
  std::string_view text = trimmed(value);
  constexpr std::string_view kUnits = "bkmg";
  std::size_t unit =
      kUnits.find(static_cast<char>(std::tolower(static_cast<unsigned char>(text.back()))));
  if (unit != std::string_view::npos) text.remove_suffix(1);
  if (unit == std::string_view::npos) unit = 1;
  std::uint64_t number = 0;
  if (!parse(text, 1, std::uint64_t{1} << 40 >> 10 * unit, number))
    refuse("OMP_STACKSIZE", value, "a size such as 8M or 512K");
  out = std::max<std::size_t>(number << 10 * unit, kLeastStackBytes);
}

template <typename Kind>
bool find_word(std::string_view text, std::initializer_list<std::pair<const char*, Kind>> words,
               Kind& out) {
  for (const auto& [word, kind] : words) {
    if (!equal(trimmed(text), word)) continue;
    out = kind;
    return true;
  }
  return false;
}

// One of the words; else the program ends, and is told what it must be.
template <typename Kind>
void read_word(const char* name, std::initializer_list<std::pair<const char*, Kind>> words,
               const char* must_be, Kind& out) {
  const char* value = value_of(name);
  if (value != nullptr && !find_word(value, words, out)) refuse(name, value, must_be);
}

// For each level of regions: true, or how; false alone.
void read_binds(std::vector<Bind>& out) {
  const char* value = value_of("OMP_PROC_BIND");
  if (value == nullptr) return;
  std::string_view list = value;
  for (bool more = true; more;) {
    std::size_t comma = list.find(',');
    more = comma != std::string_view::npos;
    Bind bind = Bind::kFalse;
    bool good = find_word<Bind>(list.substr(0, comma),
                                {{"true", Bind::kTrue},
                                 {"false", Bind::kFalse},
                                 {"master", Bind::kMaster},
                                 {"primary", Bind::kMaster},
                                 {"close", Bind::kClose},
                                 {"spread", Bind::kSpread}},
                                bind);
    bool is_alone = bind == Bind::kFalse || bind == Bind::kTrue;
    if (!good || (is_alone && (more || !out.empty())))
      refuse("OMP_PROC_BIND", value, "true, false, or a list of primary, close and spread");
    out.push_back(bind);
    if (more) list.remove_prefix(comma + 1);
  }
}

// Read by each node of its own processors; here, whether the form is right.
void read_places(Environment& all) {
  const char* value = value_of("OMP_PLACES");
  if (value == nullptr) return;
  cpu_set_t none;
  CPU_ZERO(&none);
  Places places;
  all.places = trimmed(value);
  all.has_places = true;
  if (!parse_places(all.places, none, places))
    refuse("OMP_PLACES", value,
           "threads, cores, ll_caches, numa_domains or sockets, with a number of places in "
           "parentheses or without, or a list such as {0,1},{2,3} or {0}:4");
}

// What has no effect here, but for its form.
void check_others() {
  std::uint32_t unused = 0;
  read_flag("OMP_CANCELLATION", unused);
}

// A predefined allocator, with its number in an omp_allocator_handle_t.
void read_allocator(std::uint64_t& out) {
  read_word<std::uint64_t>("OMP_ALLOCATOR",
                           {{"omp_default_mem_alloc", 1},
                            {"omp_large_cap_mem_alloc", 2},
                            {"omp_const_mem_alloc", 3},
                            {"omp_high_bw_mem_alloc", 4},
                            {"omp_low_lat_mem_alloc", 5},
                            {"omp_cgroup_mem_alloc", 6},
                            {"omp_pteam_mem_alloc", 7},
                            {"omp_thread_mem_alloc", 8},
                            {"omp_default_mem_space", 1},
                            {"omp_large_cap_mem_space", 2},
                            {"omp_const_mem_space", 3},
                            {"omp_high_bw_mem_space", 4},
                            {"omp_low_lat_mem_space", 5}},
                           "a predefined allocator or memory space, without traits: "
                           "omp_default_mem_alloc",
                           out);
}

// OMP_DISPLAY_ENV: also the word verbose.
void read_shows(std::uint32_t& out) {
  const char* value = value_of("OMP_DISPLAY_ENV");
  if (value != nullptr && equal(trimmed(value), "verbose")) {
    out = 2;
  } else {
    read_flag("OMP_DISPLAY_ENV", out);
  }
}

Environment read() {
  Environment all;
  Controls& controls = all.controls;
  read_threads(all);
  read_schedule(controls);
  read_flag("OMP_DYNAMIC", controls.is_dynamic);
  read_number("OMP_THREAD_LIMIT", 1, INT32_MAX, controls.thread_limit);
  controls.thread_limit = std::min(controls.thread_limit, kMostThreads);
  read_number("OMP_DEFAULT_DEVICE", 0, INT32_MAX, controls.default_device);
  read_number("OMP_NUM_TEAMS", 1, INT32_MAX, controls.max_teams);
  read_number("OMP_TEAMS_THREAD_LIMIT", 1, INT32_MAX, controls.teams_thread_limit);
  read_stack(all.stack_bytes);
  read_number("OMP_MAX_TASK_PRIORITY", 0, INT32_MAX, all.max_priority);
  read_binds(all.binds);
  read_levels(all);
  read_places(all);
  read_flag("OMP_DISPLAY_AFFINITY", all.shows_affinity);
  if (const char* format = std::getenv("OMP_AFFINITY_FORMAT")) all.affinity_format = format;
  read_shows(all.shows);
  read_allocator(controls.default_allocator);
  read_word("OMP_TARGET_OFFLOAD", {{"default", 0u}, {"disabled", 0u}, {"mandatory", 1u}},
            "default, disabled or mandatory", all.needs_device);
  read_word("OMP_WAIT_POLICY", {{"active", WaitPolicy::kActive}, {"passive", WaitPolicy::kPassive}},
            "active or passive", all.wait_policy);
  check_others();
  return all;
}

Settings split(std::string_view text) {
  Settings all;
  while (!text.empty()) {
    std::string_view one = text.substr(0, text.find('|'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    all[std::string(trimmed(one.substr(0, equals)))] = one.substr(equals + 1);
  }
  return all;
}

// Of the process's threads; 0: nobody has asked yet.
std::atomic<std::size_t> set_stack_bytes{0};

}  // namespace

void set_defaults(std::string_view settings, Controls& controls) {
  Settings all = split(settings);
  read_settings = &all;
  Environment said;
  said.controls = controls;
  read_threads(said);
  read_schedule(said.controls);
  read_flag("OMP_DYNAMIC", said.controls.is_dynamic);
  read_number("OMP_THREAD_LIMIT", 1, kMostThreads, said.controls.thread_limit);
  if (all.contains("OMP_NESTED") || all.contains("OMP_MAX_ACTIVE_LEVELS")) read_levels(said);
  read_stack(said.stack_bytes);
  read_settings = nullptr;
  controls = said.controls;
  if (said.stack_bytes != 0) set_thread_stack(said.stack_bytes);
}

void set_thread_stack(std::size_t bytes) { set_stack_bytes = std::max(bytes, kLeastStackBytes); }

std::size_t thread_stack() {
  std::size_t bytes = set_stack_bytes;
  return bytes != 0 ? bytes : environment().stack_bytes;
}

std::size_t stack_of_threads() {
  if (std::size_t bytes = thread_stack(); bytes != 0) return bytes;
  rlimit limit{};
  return ::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
             ? static_cast<std::size_t>(limit.rlim_cur)
             : SIZE_MAX;
}

bool Environment::binds_threads() const {
  return binds.empty() ? has_places : binds[0] != Bind::kFalse;
}

Bind Environment::bind_at(std::uint32_t level) const {
  if (!binds_threads()) return Bind::kFalse;
  if (binds.empty()) return Bind::kTrue;
  return binds[std::min<std::size_t>(level, binds.size() - 1)];
}

void Environment::set_threads_at(std::uint32_t level, Controls& controls) const {
  if (level < threads.size()) controls.threads = threads[level];
}

const Environment& environment() {
  static const Environment all = read();
  return all;
}

}  // namespace terrane::frontend::omp
