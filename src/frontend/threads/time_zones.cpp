// Broken-down times in memory of the caller: the name of their time zone (tm_zone) lies in shared
// memory, and so do the names in tzname, which the program may have as its own variable.
#include <time.h>

#include <cstring>

#include "frontend/threads/copies.h"

using terrane::frontend::next;
using terrane::frontend::SharedRange;
using namespace terrane::frontend::threads;

namespace {

// There are few names: the last one is looked at first, without a lock.
const char* shared_name(const char* name) {
  static thread_local const char* last = nullptr;
  if (name == nullptr || SharedRange::contains(name)) return name;
  if (last == nullptr || std::strcmp(last, name) != 0) last = shared_text(name);
  return last;
}

void share_names() {
  if (!concerns_all_nodes()) return;
  for (char*& name : tzname) name = const_cast<char*>(shared_name(name));
}

tm* shared(tm* time) {
  if (time == nullptr || !concerns_all_nodes()) return time;
  time->tm_zone = shared_name(time->tm_zone);
  share_names();
  return time;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void tzset(void) noexcept {
  next<"tzset">(::tzset)();
  share_names();
}

tm* localtime_r(const time_t* timer, tm* to) noexcept {
  return shared(next<"localtime_r">(::localtime_r)(timer, to));
}

tm* gmtime_r(const time_t* timer, tm* to) noexcept {
  return shared(next<"gmtime_r">(::gmtime_r)(timer, to));
}

time_t mktime(tm* time) noexcept {
  time_t seconds = next<"mktime">(::mktime)(time);
  shared(time);
  return seconds;
}
time_t timelocal(tm* time) noexcept { return mktime(time); }

time_t timegm(tm* time) noexcept {
  time_t seconds = next<"timegm">(::timegm)(time);
  shared(time);
  return seconds;
}

char* strptime(const char* text, const char* format, tm* to) noexcept {
  char* end = next<"strptime">(::strptime)(text, format, to);
  shared(to);
  return end;
}

char* strptime_l(const char* text, const char* format, tm* to, locale_t locale) noexcept {
  char* end = next<"strptime_l">(::strptime_l)(text, format, to, locale);
  shared(to);
  return end;
}

int getdate_r(const char* text, tm* to) {
  int error = next<"getdate_r">(::getdate_r)(text, to);
  shared(to);
  return error;
}

}  // extern "C"
#pragma GCC visibility pop
