#include "platform/wake_signal.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "base/own_process.h"

namespace terrane::platform {
namespace {

char mark;  // its address is what the signal carries

}  // namespace

void wake_thread(pid_t thread) {
  siginfo_t info{};
  info.si_signo = SIGBUS;
  info.si_code = SI_QUEUE;
  info.si_pid = base::own_process();
  info.si_uid = ::getuid();
  info.si_value.sival_ptr = &mark;
  ::syscall(SYS_rt_tgsigqueueinfo, base::own_process(), thread, SIGBUS, &info);
}

bool is_wake(const siginfo_t& info) {
  return info.si_signo == SIGBUS && info.si_code == SI_QUEUE &&
         info.si_pid == base::own_process() && info.si_value.sival_ptr == &mark;
}

}  // namespace terrane::platform
