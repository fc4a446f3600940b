// What is said when a signal ends the program: by its own mistake (SIGSEGV, SIGFPE ...) or by
// abort. In signal handlers: nothing here allocates, locks or logs.
#include "frontend/threads/crash.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstdint>

#include "frontend/threads/output.h"
#include "frontend/threads/program.h"
#include "frontend/threads/symbols.h"
#include "platform/crash_signals.h"
#include "platform/signal_text.h"

namespace terrane::frontend::threads {
namespace {

std::uintptr_t place_of(const void* raw) {
  const auto& machine = static_cast<const ucontext_t*>(raw)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
#else
  return machine.pc;
#endif
}

// The frame of the program that is in a call of a library, such as abort.
struct Search {
  std::uintptr_t found = 0;
  int frames = 0;
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* raw) {
  constexpr int kMostFrames = 64;
  auto& search = *static_cast<Search*>(raw);
  std::uintptr_t at = _Unwind_GetIP(context);
  if (Program::get()->is_own(reinterpret_cast<const void*>(at))) {
    search.found = at - 1;  // the call itself, not what follows it
    return _URC_END_OF_STACK;
  }
  return ++search.frames == kMostFrames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

void add_place(platform::SignalText& text, std::uintptr_t at) {
  CodePlace place = loaded_place(at);
  if (place.offset == 0) {
    text.add(" at ").add_hex(at).add(", where there is no code");
    return;
  }
  text.add(" at ").add(place.file()).add("+").add_hex(place.offset);
  if (place.function[0] != '\0')
    text.add(" (").add(place.function).add("+").add_hex(place.inside).add(")");
}

void add_thread(platform::SignalText& text) {
  const Program& program = *Program::get();
  const Record* record = this_thread().record;
  if (record == nullptr) {
    text.add(" in a thread of Terrane or of a library");
  } else if (record == &program.control().records[0]) {
    text.add(" in main's thread");
  } else {
    text.add(" in thread ");
    text.add_decimal(static_cast<std::uint64_t>(record - program.control().records));
  }
  text.add(" on node ").add_decimal(program.self());
}

// A crash of the report itself ends the process, as the first one would have.
void report(int signal_number, const siginfo_t* info, void* context) {
  static std::atomic_flag reporting;
  if (Program::get() == nullptr || reporting.test_and_set()) return;
  Private ours;  // the calls below are about this node's files
  flush_output_of_crash();
  platform::SignalText text;
  text.add("terrane: SIG").add(::sigabbrev_np(signal_number));
  bool has_address = info->si_code > 0 && signal_number != SIGABRT && signal_number != SIGSYS;
  if (has_address) {
    bool is_access = signal_number == SIGSEGV || signal_number == SIGBUS;
    if (is_access)
      text.add(" for address ").add_hex(reinterpret_cast<std::uintptr_t>(info->si_addr));
  }
  add_thread(text);
  std::uintptr_t at = place_of(context);
  if (!Program::get()->is_own(reinterpret_cast<const void*>(at))) {
    Search search;
    if (at != 0) ::_Unwind_Backtrace(look, &search);
    if (search.found != 0) at = search.found;
  }
  add_place(text, at);
  text.add("\n").write_to_stderr();
}

}  // namespace

void report_crashes() { platform::report_crashes(report); }

}  // namespace terrane::frontend::threads
