// Made by scripts/process_state.py --write from src/frontend/process_state.txt: change that.
// clang-format off
#include "frontend/threads/state_calls.h"

using namespace terrane::frontend::threads;
using terrane::frontend::next;

#pragma GCC visibility push(default)
extern "C" {

int setuid(uid_t user) noexcept {
  return on_every_node("setuid", next<"setuid">(::setuid), user);
}

int setgid(gid_t group) noexcept {
  return on_every_node("setgid", next<"setgid">(::setgid), group);
}

int setreuid(uid_t real, uid_t effective) noexcept {
  return on_every_node("setreuid", next<"setreuid">(::setreuid), real, effective);
}

int setregid(gid_t real, gid_t effective) noexcept {
  return on_every_node("setregid", next<"setregid">(::setregid), real, effective);
}

int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return on_every_node("setresuid", next<"setresuid">(::setresuid), real, effective, saved);
}

int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  return on_every_node("setresgid", next<"setresgid">(::setresgid), real, effective, saved);
}

int seteuid(uid_t user) noexcept {
  return on_every_node("seteuid", next<"seteuid">(::seteuid), user);
}

int setegid(gid_t group) noexcept {
  return on_every_node("setegid", next<"setegid">(::setegid), group);
}

int unshare(int flags) noexcept {
  if (!concerns_all_nodes()) return next<"unshare">(::unshare)(flags);
  return refused<"unshare", int>(EPERM,
      "the threads of other nodes would stay in the old namespaces");
}

int setns(int fd, int kind) noexcept {
  if (!concerns_all_nodes()) return next<"setns">(::setns)(fd, kind);
  return refused<"setns", int>(EPERM,
      "the threads of other nodes would stay in the old namespaces");
}

int setdomainname(const char* name, size_t bytes) noexcept {
  if (!concerns_all_nodes()) return next<"setdomainname">(::setdomainname)(name, bytes);
  return refused<"setdomainname", int>(EPERM,
      "the nodes may be on several hosts, which cannot have one name");
}

}  // extern "C"
#pragma GCC visibility pop
