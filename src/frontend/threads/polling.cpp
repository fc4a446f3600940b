#include "frontend/threads/polling.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "frontend/interpose/sleeping.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/polled_words.h"
#include "frontend/threads/program.h"
#include "frontend/threads/served_pages.h"
#include "frontend/threads/symbols.h"
#include "patch/operands.h"
#include "platform/loop_probe.h"
#include "platform/quiet_thread.h"
#include "platform/wait.h"
#include "waiting/patience.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uint64_t kLookNs = 50'000'000;
// Between two probes of a thread, which cost it some milliseconds: at first, and at most.
constexpr std::uint64_t kFirstPauseNs = 100'000'000, kLongestPauseNs = 4'000'000'000;
// A probe takes this part of the time that the thread has not waited, and may take so much.
constexpr std::uint64_t kPartOfTime = 100, kProbeNs = 10'000'000;
// After one of a thread that computes, whether it waits meanwhile or not.
constexpr std::uint64_t kRestNs = 1'000'000'000;
// The same of a thread that sleeps or yields again and again, which the probe costs less.
constexpr std::uint64_t kFirstSleepNs = 20'000'000, kLongestSleepNs = 1'000'000'000;
constexpr std::uint64_t kLeastTicks = 2;  // of processor time, of a thread that does not only wait

// By record: the thread of this node; 0: none.
std::atomic<pid_t> threads[kMostThreads];

// How often a thread has waited in the kernel, and how long it has run.
struct Use {
  std::uint64_t waits = 0, ticks = 0;
};

// What the watcher knows of a thread.
struct Watched {
  pid_t thread = 0;
  Use since;  // when it waited last
  std::uint64_t since_ns = 0, probe_due_ns = 0, pause_ns = kFirstPauseNs, rests_until_ns = 0;
  bool is_named = false;
  std::vector<PolledWord> running{}, sleeping{};  // what it polls, since it slept, or in between
};
Watched watched[kMostThreads];

std::mutex watching;  // held while the watcher uses shared memory

// A file of this process. Not by a stream: the program may change the locale of all streams.
std::string read_file(const std::string& name) {
  std::string text;
  int file = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  char part[1024];
  for (ssize_t got = 0; (got = ::read(file, part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  ::close(file);
  return text;
}

Use use_of(pid_t thread) {
  Use use;
  std::string folder = "/proc/self/task/" + std::to_string(thread);
  std::string status = read_file(folder + "/status"), text = read_file(folder + "/stat");
  constexpr std::string_view kWaits = "\nvoluntary_ctxt_switches:";
  if (std::size_t at = status.find(kWaits); at != std::string::npos)
    use.waits = std::strtoull(status.c_str() + at + kWaits.size(), nullptr, 10);
  // The thread's name, in parentheses, may hold blanks. The numbers behind the 12th and 13th blank
  // after it: a thread that yields runs in the kernel, mostly.
  std::size_t at = text.rfind(')');
  constexpr int kBlanks = 12;
  for (int i = 0; i < kBlanks && at != std::string::npos; ++i) at = text.find(' ', at + 1);
  if (at == std::string::npos) return use;
  char* end = nullptr;
  use.ticks = std::strtoull(text.c_str() + at, &end, 10);
  use.ticks += std::strtoull(end, nullptr, 10);
  return use;
}

bool is_own_code(std::uintptr_t at) {
  return Program::get()->is_own(reinterpret_cast<const void*>(at));
}

// The pages that the loop reads become synchronisation pages: then it sees what it waits for, after
// what was stored before. False: they are that already, or private.
bool serve_loop(const platform::LoopReport& loop) {
  bool served = false;
  for (const PolledWord& word : words_polled_by(loop.steps)) {
    auto* at = reinterpret_cast<const void*>(word.address);
    note_served(word.address, ServedFor::kLoop);
    served = Program::get()->node().promote(at, word.bytes).ok() || served;
  }
  return served;
}

void begin_anew(Watched& one, pid_t thread, Use use, std::uint64_t now_ns) {
  if (one.thread != thread) one = {};
  one.thread = thread;
  one.since = use;
  one.since_ns = now_ns;
  one.probe_due_ns = now_ns + kFirstPauseNs;
  one.pause_ns = kFirstPauseNs;
  one.is_named = false;
  one.running.clear();
}

void look_at(std::uint32_t number, std::uint64_t now_ns) {
  pid_t thread = threads[number].load();
  Watched& one = watched[number];
  if (thread == 0) {
    if (one.thread != 0) one = {};
    return;
  }
  Use use = use_of(thread);
  if (one.thread != thread || use.waits != one.since.waits)
    return begin_anew(one, thread, use, now_ns);
  bool is_due = now_ns >= std::max(one.probe_due_ns, one.rests_until_ns) &&
                use.ticks - one.since.ticks >= kLeastTicks;
  if (one.is_named || !is_due) return;
  std::uint64_t longest_ns = std::max(kProbeNs, (now_ns - one.since_ns) / kPartOfTime);
  platform::LoopReport found = platform::probe_loop(thread, longest_ns, is_own_code, is_in_program);
  if (found.thread == 0) one.probe_due_ns = now_ns + kFirstPauseNs;
  if (found.thread == 0 || threads[number].load() != thread) return;
  one.pause_ns = std::min(2 * one.pause_ns, kLongestPauseNs);
  if (patience_ns() != 0) one.pause_ns = std::min(one.pause_ns, patience_ns());
  one.probe_due_ns = now_ns + one.pause_ns;
  std::lock_guard hold(watching);
  if (found.polls && serves_atomics() && serve_loop(found)) return;
  one.running.clear();
  if (found.is_whole) {
    one.running = words_polled_by(found.steps);
    one.sleeping.clear();
  }
  if (!found.polls && one.running.empty()) one.rests_until_ns = now_ns + kRestNs;
  if (!found.polls || patience_ns() == 0 || now_ns - one.since_ns < patience_ns()) return;
  one.is_named = true;
  report_polling(Program::get()->control().records[number], "polled memory", now_ns - one.since_ns,
                 found.at);
}

// Of a thread that sleeps again and again.
void take_sleeper() {
  platform::LoopReport found = platform::take_offered_probe();
  for (std::uint32_t number = 0; found.thread != 0 && number < kMostThreads; ++number)
    if (watched[number].thread == found.thread && found.is_whole)
      watched[number].sleeping = words_polled_by(found.steps);
}

void tell_others() {
  std::vector<PolledWord> words;
  for (const Watched& one : watched)
    for (const auto* polled : {&one.running, &one.sleeping})
      for (const PolledWord& word : *polled)
        if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  show_polled_words(words);
}

// Of the calling thread.
struct Sleeps {
  std::uint64_t probe_due_ns, pause_ns;
};
thread_local constinit Sleeps sleeps = {};

void note_own_sleep() {
  if (this_thread().record == nullptr || !is_in_program()) return;
  std::uint64_t now = platform::now_ns();
  if (now < sleeps.probe_due_ns) return;
  int saved = errno;
  bool is_first = sleeps.probe_due_ns == 0;
  if (is_first || platform::begin_offered_probe()) {
    sleeps.pause_ns = is_first ? kFirstSleepNs : std::min(2 * sleeps.pause_ns, kLongestSleepNs);
    sleeps.probe_due_ns = now + sleeps.pause_ns;
  }
  errno = saved;
}

[[noreturn]] void watch() {
  constexpr timespec kPause{0, static_cast<long>(kLookNs)};
  bool serves = serves_atomics() && Program::get()->node().nodes() > 1;
  Program::get()->node().set_role("watcher");
  for (;;) {
    if (serves) platform::offer_probe(kProbeNs, is_own_code);
    ::nanosleep(&kPause, nullptr);
    take_sleeper();
    for (std::uint32_t number = 0; number < kMostThreads; ++number)
      look_at(number, platform::now_ns());
    std::lock_guard hold(watching);
    tell_others();
    serve_polled_words();
  }
}

std::uint32_t number_of(const Record& record) {
  return static_cast<std::uint32_t>(&record - Program::get()->control().records);
}

}  // namespace

// Not of the environment, which is the program's and on node 0 when this node starts.
std::uint64_t patience_ns() { return waiting::Patience::limit_ns(); }

void report_polling(const Record& record, const char* does, std::uint64_t for_ns,
                    std::uintptr_t at) {
  CodePlace place = loaded_place(at);
  std::string where = place.function[0] == '\0'
                          ? std::string()
                          : fmt::format(" ({}+{:#x})", place.function, place.inside);
  base::log(
      "thread {} has {} again and again for {:.3g} s at {}+{:#x}{}, without a flush: if its loop "
      "polls plain memory, it does not see what other nodes write; put a flush, a lock or an "
      "atomic operation with an order into the loop, and behind the write that it waits for",
      number_of(record), does, static_cast<double>(for_ns) * 1e-9, place.file(), place.offset,
      where);
}

void watch_loops() {
  bool serves = serves_atomics() && Program::get()->node().nodes() > 1;
  if (serves) after_sleep.store(note_own_sleep);
  if (serves || patience_ns() != 0) platform::start_without_signals(watch).detach();
}

void stop_watching() {
  watching.lock();
  report_served_pages();
}

void begin_watched(const Record& record) {
  threads[number_of(record)].store(static_cast<pid_t>(::syscall(SYS_gettid)));
}

void end_watched(const Record& record) { threads[number_of(record)].store(0); }

}  // namespace terrane::frontend::threads
