#include "frontend/threads/inherited.h"

#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <type_traits>

#include "frontend/interpose/for_kernel.h"
#include "frontend/interpose/next.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uint64_t kMostCapabilities = 63;
constexpr std::uint64_t kUnchanged = ~0ull;  // a user or a group that a call leaves

Rights of_process{};
std::atomic<bool> bounding_set_counts{false};

template <typename Argument>
long word(Argument argument) {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<long>(argument);
  } else {
    return static_cast<long>(argument);
  }
}

template <typename... Arguments>
long call(long number, Arguments... arguments) {
  return next<"syscall">(::syscall)(number, word(arguments)...);
}

// prctl(2), whose other arguments must be 0.
int control(int option, std::uint64_t argument = 0) {
  return static_cast<int>(call(SYS_prctl, option, argument, 0, 0, 0));
}

struct Three {
  uid_t id[3];
};

struct Capabilities {
  __user_cap_header_struct head;
  __user_cap_data_struct data[2];
};

void read_ids(long number, std::uint64_t* to) {
  ForKernel<Three> three;
  if (call(number, &three->id[0], &three->id[1], &three->id[2]) != 0) return;
  for (int i = 0; i < 3; ++i) to[i] = three->id[i];
}

void read_capabilities(std::uint64_t* of) {
  ForKernel<Capabilities> own;
  own->head = {_LINUX_CAPABILITY_VERSION_3, 0};
  if (call(SYS_capget, &own->head, own->data) != 0) return;
  auto both = [&](auto field) {
    return own->data[0].*field | std::uint64_t{own->data[1].*field} << 32;
  };
  of[Rights::kEffective] = both(&__user_cap_data_struct::effective);
  of[Rights::kPermitted] = both(&__user_cap_data_struct::permitted);
  of[Rights::kInheritable] = both(&__user_cap_data_struct::inheritable);
}

std::uint64_t bounding_set() {
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i <= kMostCapabilities; ++i)
    if (control(PR_CAPBSET_READ, i) == 1) all |= 1ull << i;
  return all;
}

Rights rights_here() {
  Rights now{};
  read_ids(SYS_getresgid, &now.of[Rights::kGroup]);
  read_ids(SYS_getresuid, &now.of[Rights::kUser]);
  now.of[Rights::kFileGroup] = static_cast<std::uint32_t>(call(SYS_setfsgid, -1));
  now.of[Rights::kFileUser] = static_cast<std::uint32_t>(call(SYS_setfsuid, -1));
  read_capabilities(now.of);
  now.of[Rights::kSecureBits] = static_cast<std::uint64_t>(control(PR_GET_SECUREBITS));
  now.of[Rights::kNoNewPrivileges] = static_cast<std::uint64_t>(control(PR_GET_NO_NEW_PRIVS));
  now.of[Rights::kNice] = static_cast<std::uint64_t>(call(SYS_getpriority, PRIO_PROCESS, 0));
  if (bounding_set_counts.load()) now.of[Rights::kBoundingSet] = bounding_set();
  return now;
}

// Gives up the capabilities that the creator does not have, and takes none.
bool give_up_capabilities(const Rights& from, const Rights& now) {
  auto kept = [&](Rights::Field field) { return from.of[field] & now.of[field]; };
  ForKernel<Capabilities> own;
  own->head = {_LINUX_CAPABILITY_VERSION_3, 0};
  for (int half = 0; half < 2; ++half) {
    auto part = [&](Rights::Field field) {
      return static_cast<std::uint32_t>(kept(field) >> (32 * half));
    };
    own->data[half] = {part(Rights::kEffective), part(Rights::kPermitted),
                       part(Rights::kInheritable)};
  }
  return call(SYS_capset, &own->head, own->data) == 0;
}

bool lower_bounding_set(std::uint64_t kept) {
  for (std::uint64_t i = 0; i <= kMostCapabilities; ++i) {
    bool has = control(PR_CAPBSET_READ, i) == 1;
    if (has && (kept >> i & 1) == 0 && control(PR_CAPBSET_DROP, i) != 0) return false;
  }
  return true;
}

// Of the calling thread alone: the C library's own functions would change all of the process.
bool set_ids(const Rights& from, const Rights& now) {
  auto wanted = [&](std::uint32_t field) {
    bool same = (from.changed >> field & 1) == 0 || from.of[field] == now.of[field];
    return static_cast<long>(static_cast<std::int32_t>(same ? kUnchanged : from.of[field]));
  };
  auto any = [&](std::uint32_t first) {
    return wanted(first) != -1 || wanted(first + 1) != -1 || wanted(first + 2) != -1;
  };
  if (any(Rights::kGroup) &&
      call(SYS_setresgid, wanted(Rights::kGroup), wanted(Rights::kEffectiveGroup),
           wanted(Rights::kSavedGroup)) != 0)
    return false;
  if (wanted(Rights::kFileGroup) != -1) call(SYS_setfsgid, wanted(Rights::kFileGroup));
  if (any(Rights::kUser) && call(SYS_setresuid, wanted(Rights::kUser),
                                 wanted(Rights::kEffectiveUser), wanted(Rights::kSavedUser)) != 0)
    return false;
  if (wanted(Rights::kFileUser) != -1) call(SYS_setfsuid, wanted(Rights::kFileUser));
  return true;
}

const char* inherit_rights(const Rights& from) {
  auto changed = [&](Rights::Field field) { return (from.changed >> field & 1) != 0; };
  // While it still may. The kernel's answer is 20 less the priority, so that it is positive.
  if (changed(Rights::kNice))
    call(SYS_setpriority, PRIO_PROCESS, 0, 20 - static_cast<long>(from.of[Rights::kNice]));
  if (changed(Rights::kBoundingSet)) {
    inherit_bounding_set();
    if (!lower_bounding_set(from.of[Rights::kBoundingSet])) return "its bounding set";
  }
  if (changed(Rights::kSecureBits) && control(PR_SET_SECUREBITS, from.of[Rights::kSecureBits]) != 0)
    return "its securebits";
  if (!set_ids(from, rights_here())) return "its user or group";
  bool capabilities =
      changed(Rights::kEffective) || changed(Rights::kPermitted) || changed(Rights::kInheritable);
  if (capabilities && !give_up_capabilities(from, rights_here())) return "its capabilities";
  if (changed(Rights::kNoNewPrivileges) && control(PR_SET_NO_NEW_PRIVS, 1) != 0)
    return "no new privileges";
  return nullptr;
}

}  // namespace

void remember_rights() { of_process = rights_here(); }

void inherit_bounding_set() {
  if (bounding_set_counts.exchange(true)) return;
  of_process.of[Rights::kBoundingSet] = bounding_set();
}

Inherited inherited_from_here() {
  int before = errno;
  Inherited own{platform::floating_point::capture(), rights_here()};
  for (std::uint32_t field = 0; field < Rights::kFields; ++field)
    if (own.rights.of[field] != of_process.of[field]) own.rights.changed |= 1u << field;
  errno = before;
  return own;
}

const char* inherit(const Inherited& from) {
  platform::floating_point::apply(from.floating_point);
  return from.rights.changed == 0 ? nullptr : inherit_rights(from.rights);
}

}  // namespace terrane::frontend::threads
