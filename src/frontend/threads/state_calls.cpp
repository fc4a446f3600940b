#include "frontend/threads/state_calls.h"

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {

bool concerns_all_nodes() {
  static const pid_t process = ::getpid();  // before any child of vfork can call
  return Elsewhere::get() != nullptr && is_in_program() && ::getpid() == process;
}

void tell_refusal(std::atomic_flag& said, int error, const char* call, const char* sentence) {
  Private ours;
  if (!said.test_and_set())
    base::log("{}: {}. The call fails with {}", call, sentence, ::strerrorname_np(error));
  errno = error;
}

void ended(const char* call, const char* sentence) {
  Program::get()->node().fail(fmt::format("{}: {}", call, sentence));
}

bool change_all_nodes(const char* call, Change& change) {
  if (!change.make(change)) return false;
  struct Asked {
    Change* change;
    int error;
  } asked{&change, 0};
  int before = errno;
  Program& program = *Program::get();
  for (std::uint32_t n = 0; n < program.node().nodes(); ++n) {
    if (n == program.self()) continue;
    int error = run_on(
        n,
        [](void* raw) -> void* {
          auto& one = *static_cast<Asked*>(raw);
          one.error = one.change->make(*one.change) ? 0 : errno;
          return nullptr;
        },
        &asked);
    if (error == 0) error = asked.error;
    if (error != 0)
      program.node().fail(fmt::format(
          "{}: done on node {}, refused on node {} ({}): {}. Threads of one program would have "
          "different rights",
          call, program.self(), n, program.node().host_name(NodeId{n}), std::strerror(error)));
  }
  errno = before;
  return true;
}

}  // namespace terrane::frontend::threads
