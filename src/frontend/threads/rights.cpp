// The rights of a process whose calls take more than numbers: changed on every node. Those of a
// thread alone (capset, prctl) are changed in the calling thread, and new threads inherit them
// (inherited.h).
#include <grp.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>

#include "frontend/interpose/arguments.h"
#include "frontend/threads/copies.h"
#include "frontend/threads/inherited.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::In;
using terrane::frontend::InBytes;
using terrane::frontend::InPath;
using terrane::frontend::next;
using terrane::frontend::Out;
using namespace terrane::frontend::threads;

namespace {

// Bytes behind a change, in shared memory.
struct Bytes : Change {
  std::size_t count;
  alignas(16) char bytes[];
};

// The change `make` of a call that takes bytes, on all nodes; 0 or -1.
int change_by_bytes(const char* call, bool (*make)(Change&), const void* from, std::size_t count) {
  terrane::runtime::Heap& heap = Program::get()->heap();
  auto* change = static_cast<Bytes*>(heap.allocate(sizeof(Bytes) + count));
  if (change == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  change->make = make;
  change->may = nullptr;
  change->count = count;
  std::memcpy(change->bytes, from, count);
  bool done = change_all_nodes(call, *change);
  int error = errno;
  heap.free(change);
  errno = error;
  return done ? 0 : -1;
}

int set_groups_here(size_t count, const gid_t* groups) {
  InBytes own(groups, count * sizeof *groups);
  return next<"setgroups">(::setgroups)(count, static_cast<const gid_t*>(own.get()));
}

int change_root_here(const char* path) { return next<"chroot">(::chroot)(InPath(path).get()); }

int set_name_here(const char* name, std::size_t bytes) {
  InBytes own(name, bytes);
  return next<"sethostname">(::sethostname)(static_cast<const char*>(own.get()), bytes);
}

struct Capabilities {
  __user_cap_data_struct half[2];
};

int control_here(int option, unsigned long b, unsigned long c, unsigned long d, unsigned long e) {
  return next<"prctl">(::prctl)(option, b, c, d, e);
}

// Whether the option changes the process and not the calling thread alone.
bool is_of_process(int option) {
  return option == PR_SET_DUMPABLE || option == PR_SET_THP_DISABLE ||
         option == PR_SET_CHILD_SUBREAPER;
}

struct ThreadName {
  char text[16];
};

}  // namespace

extern "C" {
int capget(cap_user_header_t, cap_user_data_t) noexcept;
int capset(cap_user_header_t, const cap_user_data_t) noexcept;
}

#pragma GCC visibility push(default)
extern "C" {

int setgroups(size_t count, const gid_t* groups) noexcept {
  constexpr std::size_t kMost = 65536;
  if (!concerns_all_nodes() || count > kMost) return set_groups_here(count, groups);
  auto make = [](Change& change) {
    Bytes& own = static_cast<Bytes&>(change);
    return set_groups_here(own.count / sizeof(gid_t), reinterpret_cast<gid_t*>(own.bytes)) == 0;
  };
  return change_by_bytes("setgroups", make, groups, count * sizeof *groups);
}

int initgroups(const char* user, gid_t group) {
  if (!concerns_all_nodes()) return next<"initgroups">(::initgroups)(user, group);
  auto list = +[](const char* name, gid_t own, gid_t* to, int* count) {
    return ::getgrouplist(name, own, to, count);
  };
  int count = 65536;
  terrane::runtime::Heap& heap = Program::get()->heap();
  auto* groups = static_cast<gid_t*>(heap.allocate(static_cast<size_t>(count) * sizeof(gid_t)));
  if (groups == nullptr) return -1;
  int result = in_library(list, user, group, groups, &count);
  if (result >= 0) result = setgroups(static_cast<size_t>(count), groups);
  int error = errno;
  heap.free(groups);
  errno = error;
  return result < 0 ? -1 : 0;
}

int chroot(const char* path) noexcept {
  if (!concerns_all_nodes()) return change_root_here(path);
  auto make = [](Change& change) {
    return change_root_here(static_cast<Bytes&>(change).bytes) == 0;
  };
  return change_by_bytes("chroot", make, path, std::strlen(path) + 1);
}

int sethostname(const char* name, size_t bytes) noexcept {
  if (!concerns_all_nodes()) return set_name_here(name, bytes);
  return refused<"sethostname", int>(
      EPERM, "the nodes may be on several hosts, which cannot have one name");
}

// The kernel knows rights of threads: that of another one is none of the caller's.
int capget(cap_user_header_t head, cap_user_data_t data) noexcept {
  terrane::frontend::InOut<__user_cap_header_struct> own_head(head);
  Out<Capabilities> own(reinterpret_cast<Capabilities*>(data));
  auto* to = data == nullptr ? nullptr : own.get()->half;
  int result = next<"capget">(::capget)(own_head.get(), to);
  return data == nullptr ? own_head.done(result) : own.done(own_head.done(result));
}

int capset(cap_user_header_t head, const cap_user_data_t data) noexcept {
  terrane::frontend::InOut<__user_cap_header_struct> own_head(head);
  In<Capabilities> own(reinterpret_cast<const Capabilities*>(data));
  auto* from = const_cast<__user_cap_data_struct*>(own.get()->half);
  return own_head.done(next<"capset">(::capset)(own_head.get(), from));
}

int prctl(int option, ...) noexcept {
  unsigned long words[4];
  va_list more;
  va_start(more, option);
  for (unsigned long& word : words) word = va_arg(more, unsigned long);
  va_end(more);
  auto [b, c, d, e] = words;
  if (option == PR_SET_NAME) {
    In<ThreadName> name(reinterpret_cast<const ThreadName*>(b));
    return control_here(option, reinterpret_cast<unsigned long>(name.get()), c, d, e);
  }
  if (option == PR_GET_NAME) {
    Out<ThreadName> name(reinterpret_cast<ThreadName*>(b));
    return name.done(
        control_here(option, reinterpret_cast<unsigned long>(name.get()->text), c, d, e));
  }
  if (!concerns_all_nodes()) return control_here(option, b, c, d, e);
  if (option == PR_SET_SECCOMP)
    return refused<"prctl(PR_SET_SECCOMP)", int>(
        EPERM, "the threads of other nodes would run without the filter");
  if (option == PR_CAPBSET_DROP) inherit_bounding_set();
  if (!is_of_process(option)) return control_here(option, b, c, d, e);
  return on_every_node<int, int, unsigned long, unsigned long, unsigned long, unsigned long>(
      "prctl", control_here, option, b, c, d, e);
}

}  // extern "C"
#pragma GCC visibility pop
