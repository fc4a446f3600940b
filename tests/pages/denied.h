#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <initializer_list>
#include <vector>

namespace terrane::cluster_test {

// A system call that a seccomp filter denies, as containers do.
struct Denied {
  long call;
  int error;
  unsigned flag = 0;  // only with this bit in the first argument; 0: always
};

// For Launched::Options::before_exec: the process and its children are denied these.
inline void deny(std::initializer_list<Denied> all) {
  std::vector<sock_filter> code;
  auto add = [&](sock_filter one) { code.push_back(one); };
  auto load = [](std::size_t offset) -> sock_filter {
    return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset));
  };
  for (const Denied& one : all) {
    auto answer = SECCOMP_RET_ERRNO | static_cast<unsigned>(one.error);
    add(load(offsetof(seccomp_data, nr)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(one.call), 0,
                 static_cast<unsigned char>(one.flag == 0 ? 1 : 3)));
    if (one.flag != 0) {
      add(load(offsetof(seccomp_data, args)));  // its lower half: the machine is little-endian
      add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, one.flag, 0, 1));
    }
    add(BPF_STMT(BPF_RET | BPF_K, answer));
  }
  add(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(97);
}

// Threads: the C library asks by clone3 first, whose flags a filter cannot see.
inline void deny_threads() { deny({{SYS_clone3, ENOSYS}, {SYS_clone, EAGAIN, CLONE_THREAD}}); }

}  // namespace terrane::cluster_test
