#pragma once

#include <aliases.h>
#include <argz.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <envz.h>
#include <execinfo.h>
#include <fcntl.h>
#include <fmtmsg.h>
#include <fstab.h>
#include <fts.h>
#include <grp.h>
#include <gshadow.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <printf.h>
#include <pthread.h>
#include <pty.h>
#include <pwd.h>
#include <regex.h>
#include <rpc/netdb.h>
#include <search.h>
#include <shadow.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <syslog.h>
#include <termios.h>
#include <ttyent.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

extern "C" {
#include <sys/pidfd.h>  // which does not say that it is C
}

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <mutex>
#include <type_traits>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"
#include "runtime/program/own_stack.h"

// What the C library keeps and hands to its caller (localtime, getpwnam, strerror ...) lies in
// private memory. The program gets a copy in shared memory, with all that it points to.
namespace terrane::frontend::threads {

// Puts a structure and what it points to one behind the other: into a block, or (nullptr) nowhere,
// to see how many bytes that takes.
class Layout {
 public:
  explicit Layout(std::byte* block) : block_(block) {}
  std::size_t bytes() const { return used_; }

  // A copy of `count` of them; nullptr where there is no block.
  template <typename T>
  T* copy(const T* from, std::size_t count = 1) {
    used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    auto* to = block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + used_);
    used_ += count * sizeof(T);
    if (to != nullptr) std::memcpy(static_cast<void*>(to), from, count * sizeof(T));
    return to;
  }
  // Has a member point to the copy.
  template <typename Text>
  void text(Text*& member) {
    if (member != nullptr) member = copy(member, std::strlen(member) + 1);
  }
  // A list of texts, or (bytes != 0) of things of that size, that ends with a null pointer.
  void list(char**& member, std::size_t bytes = 0);

 private:
  std::byte* block_;
  std::size_t used_ = 0;
};

// The copy of each structure: what it points to, then itself.
inline char* place(Layout& at, const char* from) { return at.copy(from, std::strlen(from) + 1); }
inline tm* place(Layout& at, const tm* from) {
  tm own = *from;
  at.text(own.tm_zone);
  return at.copy(&own);
}
inline ether_addr* place(Layout& at, const ether_addr* from) { return at.copy(from); }
inline utmp* place(Layout& at, const utmp* from) { return at.copy(from); }
inline utmpx* place(Layout& at, const utmpx* from) { return at.copy(from); }
passwd* place(Layout& at, const passwd* from);
group* place(Layout& at, const group* from);
hostent* place(Layout& at, const hostent* from);
netent* place(Layout& at, const netent* from);
protoent* place(Layout& at, const protoent* from);
servent* place(Layout& at, const servent* from);
rpcent* place(Layout& at, const rpcent* from);
aliasent* place(Layout& at, const aliasent* from);
spwd* place(Layout& at, const spwd* from);
sgrp* place(Layout& at, const sgrp* from);
mntent* place(Layout& at, const mntent* from);
fstab* place(Layout& at, const fstab* from);
ttyent* place(Layout& at, const ttyent* from);
lconv* place(Layout& at, const lconv* from);
inline dirent* place(Layout& at, const dirent* from) {
  return reinterpret_cast<dirent*>(
      at.copy(reinterpret_cast<const std::uint64_t*>(from), (from->d_reclen + 7u) / 8));
}

// The last result of a function, in shared memory; the next one takes its place.
class SharedResult {
 public:
  ~SharedResult();
  // The copy; nullptr where there is no memory (errno).
  template <typename Result>
  Result* keep(Result* from) {
    Layout count(nullptr);
    place(count, from);
    std::byte* block = reserve(count.bytes());
    if (block == nullptr) return nullptr;
    Layout layout(block);
    return place(layout, from);
  }

 private:
  std::byte* reserve(std::size_t bytes);

  std::byte* block_ = nullptr;
  std::size_t room_ = 0;
};

// The same text in shared memory; equal texts have one copy, for ever. A text that every node has
// at the same address (shared memory, constants of the C library) is its own copy.
char* shared_text(const char* text);

// function(arguments...) of the C library, on the thread's own stack, where the kernel may write to
// what the C library has there. What it allocates is the C library's own.
template <typename Result, typename... Parameters>
Result in_library(Result (*function)(Parameters...),
                  std::type_identity_t<Parameters>... arguments) {
  return runtime::on_own_stack([=] {
    Private ours;
    return function(arguments...);
  });
}

// The same of a call of the program, where memory is shared.
template <Name kCall, typename Result, typename... Parameters>
Result on_private_stack(Result (*)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  auto* function = Next<kCall, Result(Parameters...)>::get();
  if (Program::get() == nullptr || !is_in_program()) return function(arguments...);
  return in_library(function, arguments...);
}

enum Keeps { kForProcess, kForThread };

// A function whose result is the C library's, until the next call: the program has a copy.
template <Name kCall, Keeps kKeeps, typename Result, typename... Parameters>
Result* copied(Result* (*)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  auto* function = Next<kCall, Result*(Parameters...)>::get();
  if (!concerns_all_nodes()) return function(arguments...);
  auto* found = in_library(function, arguments...);
  if (found == nullptr || SharedRange::contains(found)) return found;
  int before = errno;
  Result* copy = nullptr;
  if constexpr (kKeeps == kForThread) {
    static thread_local SharedResult last;
    copy = last.keep(found);
  } else {
    static auto* mutex = new std::mutex();
    static auto* last = new SharedResult();
    std::lock_guard hold(*mutex);
    copy = last->keep(found);
  }
  if (copy != nullptr) errno = before;
  return copy;
}

template <typename Argument>
bool is_at(const char* text, Argument argument) {
  if constexpr (std::is_convertible_v<Argument, const char*>) {
    return text == argument;
  } else {
    return false;
  }
}

// A function whose result is a text for ever: gettext and its kin give back what they were given.
template <Name kCall, typename Result, typename... Parameters>
Result* text_of(Result* (*)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  auto* function = Next<kCall, Result*(Parameters...)>::get();
  if (!concerns_all_nodes()) return function(arguments...);
  auto* found = in_library(function, arguments...);
  int before = errno;
  Result* text = (is_at(found, arguments) || ...) ? found : shared_text(found);
  errno = before;
  return text;
}

// Whether a call is the program's and made on another node than 0.
inline bool is_for_node_0() { return concerns_all_nodes() && Program::get()->self() != 0; }

// A function that goes through what node 0 keeps for the whole program: its own form here is called
// there.
template <Name kCall, typename Result, typename... Parameters>
Result at_node_0(Result (*own)(Parameters...), std::type_identity_t<Parameters>... arguments) {
  if (is_for_node_0()) return call_on(0, own, arguments...);
  return Next<kCall, Result(Parameters...)>::get()(arguments...);
}

}  // namespace terrane::frontend::threads
