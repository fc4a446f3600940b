#include "frontend/threads/polling.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/log.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/program.h"
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
constexpr std::uintptr_t kRedZone = 128, kFrames = 4096;  // of the thread's own functions
constexpr std::uint64_t kLeastTicks = 2;  // of processor time, of a thread that does not only wait

// By record: the thread of this node; 0: none.
std::atomic<pid_t> threads[kMostThreads];

// How often a thread has waited in the kernel, and how long it has run outside of it.
struct Use {
  std::uint64_t waits = 0, ticks = 0;
};

// What the watcher knows of a thread.
struct Watched {
  pid_t thread = 0;
  Use since;  // when it waited last
  std::uint64_t since_ns = 0, probe_due_ns = 0, pause_ns = kFirstPauseNs;
  bool is_named = false;
};
Watched watched[kMostThreads];

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
  // The thread's name, in parentheses, may hold blanks. The number behind the 11th blank after it.
  std::size_t at = text.rfind(')');
  constexpr int kBlanks = 12;
  for (int i = 0; i < kBlanks && at != std::string::npos; ++i) at = text.find(' ', at + 1);
  if (at != std::string::npos) use.ticks = std::strtoull(text.c_str() + at, nullptr, 10);
  return use;
}

bool is_own_code(std::uintptr_t at) {
  return Program::get()->is_own(reinterpret_cast<const void*>(at));
}

// The pages that the loop reads become synchronisation pages: then it sees what it waits for, after
// what was stored before. False: they are that already, or private.
bool serve_loop(const platform::LoopReport& loop) {
  bool served = false;
  if (!serves_atomics()) return false;
  for (const platform::LoopStep& step : loop.steps)
    for (const patch::Operand& read : patch::operands_read(step.at, step.registers)) {
      bool is_local = read.address - step.stack + kRedZone < kFrames;  // of this thread alone
      if (is_local || !is_served_word(read.address)) continue;
      auto* word = reinterpret_cast<const void*>(read.address);
      served = Program::get()->node().promote(word, read.bytes).ok() || served;
    }
  return served;
}

void look_at(std::uint32_t number, std::uint64_t now_ns) {
  pid_t thread = threads[number].load();
  if (thread == 0) return;
  Watched& one = watched[number];
  Use use = use_of(thread);
  if (one.thread != thread || use.waits != one.since.waits) {
    one = {thread, use, now_ns, now_ns + kFirstPauseNs};
    return;
  }
  bool is_due = now_ns >= one.probe_due_ns && use.ticks - one.since.ticks >= kLeastTicks;
  if (one.is_named || !is_due) return;
  one.pause_ns = std::min(2 * one.pause_ns, kLongestPauseNs);
  if (patience_ns() != 0) one.pause_ns = std::min(one.pause_ns, patience_ns());
  one.probe_due_ns = now_ns + one.pause_ns;
  platform::LoopReport found = platform::probe_loop(thread, is_own_code);
  if (!found.polls || threads[number].load() != thread || serve_loop(found)) return;
  if (patience_ns() == 0 || now_ns - one.since_ns < patience_ns()) return;
  one.is_named = true;
  report_polling(Program::get()->control().records[number], "polled memory", now_ns - one.since_ns,
                 found.at);
}

[[noreturn]] void watch() {
  constexpr timespec kPause{0, static_cast<long>(kLookNs)};
  for (;;) {
    ::nanosleep(&kPause, nullptr);
    for (std::uint32_t number = 0; number < kMostThreads; ++number)
      look_at(number, platform::now_ns());
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
  if (serves || patience_ns() != 0) platform::start_without_signals(watch).detach();
}

void begin_watched(const Record& record) {
  threads[number_of(record)].store(static_cast<pid_t>(::syscall(SYS_gettid)));
}

void end_watched(const Record& record) { threads[number_of(record)].store(0); }

}  // namespace terrane::frontend::threads
