#include "frontend/threads/state_calls.h"

#include <cerrno>
#include <cstring>

#include "base/log.h"
#include "base/own_process.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/threads/inherited.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {

bool concerns_all_nodes() {
  static const pid_t process = base::own_process();  // before any child of vfork can call
  return Elsewhere::get() != nullptr && is_in_program() && base::own_process() == process;
}

void tell_refusal(std::atomic_flag& said, int error, const char* call, const char* sentence) {
  Private ours;
  if (!said.test_and_set())
    base::log("{}: {}. The call fails with {}", call, sentence, ::strerrorname_np(error));
  errno = error;
}

void ended(const char* call, const char* sentence) {
  Private ours;
  Program::get()->node().fail(fmt::format("{}: {}", call, sentence));
}

namespace {

using Step = bool (*)(Change&);

// On another node; an error number, or 0.
int step_on(std::uint32_t node, Step step, Change& change) {
  struct Asked {
    Step step;
    Change* change;
    int error;
  } asked{step, &change, 0};
  int error = run_on(
      node,
      [](void* raw) -> void* {
        auto& one = *static_cast<Asked*>(raw);
        one.error = one.step(*one.change) ? 0 : errno;
        remember_rights();
        return nullptr;
      },
      &asked);
  return error != 0 ? error : asked.error;
}

bool all_others_may(const char* call, Change& change) {
  static std::atomic_flag said;
  Program& program = *Program::get();
  for (std::uint32_t n = 0; n < program.node().nodes(); ++n) {
    int error = n == program.self() ? 0 : step_on(n, change.may, change);
    if (error == 0) continue;
    Private ours;
    if (!said.test_and_set())
      base::log("{}: node {} ({}) cannot do it: {}. No node has changed", call, n,
                program.node().host_name(NodeId{n}), std::strerror(error));
    errno = error;
    return false;
  }
  return true;
}

}  // namespace

bool change_all_nodes(const char* call, Change& change) {
  if (change.may != nullptr && !all_others_may(call, change)) return false;
  if (!change.make(change)) return false;
  remember_rights();
  int before = errno;
  Program& program = *Program::get();
  for (std::uint32_t n = 0; n < program.node().nodes(); ++n) {
    int error = n == program.self() ? 0 : step_on(n, change.make, change);
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
