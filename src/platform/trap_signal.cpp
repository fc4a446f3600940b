#include "platform/trap_signal.h"

#include <signal.h>
#include <ucontext.h>

#include <atomic>

#include "platform/crash_signals.h"
#include "platform/loop_probe.h"
#include "platform/program_signals.h"

namespace terrane::platform {
namespace {

SignalChain sigtrap(SIGTRAP);
std::atomic<FindTrap> finder{nullptr};

void on_sigtrap(int, siginfo_t* info, void* raw_context) {
#if defined(__x86_64__)
  if (step_probe(*info, raw_context)) return;
  auto& context = *static_cast<ucontext_t*>(raw_context);
  auto behind = static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
  bool is_sent = info->si_code <= 0;
  if (std::uintptr_t next = is_sent ? 0 : finder.load()(behind - 1); next != 0) {
    context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(next);
    return;
  }
#endif
  if (!sigtrap.program_handles()) report_crash(SIGTRAP, info, raw_context);
  sigtrap.pass_on(info, raw_context);
}

}  // namespace

base::Result<void> serve_traps(FindTrap find) {
  finder.store(find);
  if (auto installed = sigtrap.install(on_sigtrap); !installed) return installed;
  open_fault_signals();
  return {};
}

bool serves_traps() { return sigtrap.installed(); }

bool is_served_trap(std::uintptr_t site) { return serves_traps() && finder.load()(site) != 0; }

SignalChain* trap_chain() { return sigtrap.installed() ? &sigtrap : nullptr; }

}  // namespace terrane::platform
