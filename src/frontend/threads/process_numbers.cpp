// Numbers of the process's relatives, and what calls change by its number: the process is node 0's.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "frontend/interpose/next.h"
#include "frontend/threads/copies.h"
#include "frontend/threads/process_signals.h"

using terrane::frontend::call_on;
using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

// The numbers of node 0's process have changed.
template <typename Result>
Result remembered(Result result) {
  if (result >= 0 && concerns_all_nodes()) {
    Process& process = Program::get()->control().process;
    process.group = next<"getpgid">(::getpgid)(0);
    process.session = next<"getsid">(::getsid)(0);
  }
  return result;
}

// By the number of its process the program means that of node 0; 0 is the calling thread.
bool is_about_node_0(int which, id_t who) {
  return which == PRIO_PROCESS && who != 0 && is_for_node_0() &&
         is_programs_process(static_cast<pid_t>(who));
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

pid_t getppid(void) noexcept {
  if (is_for_node_0()) return Program::get()->control().process.parent;
  return static_cast<pid_t>(::syscall(SYS_getppid));
}

pid_t getpgrp(void) noexcept {
  if (is_for_node_0()) return Program::get()->control().process.group;
  return next<"getpgrp">(::getpgrp)();
}

pid_t getpgid(pid_t process) noexcept {
  bool own = is_for_node_0() && (process == 0 || is_programs_process(process));
  return own ? Program::get()->control().process.group : next<"getpgid">(::getpgid)(process);
}

pid_t getsid(pid_t process) noexcept {
  bool own = is_for_node_0() && (process == 0 || is_programs_process(process));
  return own ? Program::get()->control().process.session : next<"getsid">(::getsid)(process);
}

pid_t __getpgid(pid_t process) noexcept { return getpgid(process); }

int setpgid(pid_t process, pid_t group) noexcept {
  bool own = process == 0 || is_programs_process(process);
  if (own && is_for_node_0()) return call_on(0, ::setpgid, process, group);
  return remembered(next<"setpgid">(::setpgid)(process, group));
}

int setpgrp(void) noexcept { return setpgid(0, 0); }

pid_t setsid(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::setsid);
  return remembered(next<"setsid">(::setsid)());
}

int getpriority(__priority_which_t which, id_t who) noexcept {
  if (is_about_node_0(which, who)) return call_on(0, ::getpriority, which, who);
  return next<"getpriority">(::getpriority)(which, who);
}

int setpriority(__priority_which_t which, id_t who, int value) noexcept {
  if (is_about_node_0(which, who)) return call_on(0, ::setpriority, which, who, value);
  return next<"setpriority">(::setpriority)(which, who, value);
}

}  // extern "C"
#pragma GCC visibility pop
