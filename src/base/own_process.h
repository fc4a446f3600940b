#pragma once

#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

namespace terrane::base {

// This process's number, as the kernel knows it: getpid() is one number on all nodes for the
// threads of a program that runs on several.
inline pid_t own_process() { return static_cast<pid_t>(::syscall(SYS_getpid)); }

}  // namespace terrane::base
