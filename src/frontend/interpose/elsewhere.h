#pragma once

#include <semaphore.h>
#include <signal.h>
#include <spawn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <tuple>
#include <type_traits>

#include "frontend/interpose/shared_range.h"

// Descriptors and streams of a program whose threads run on several nodes: each belongs to the node
// that opened it, and a call about it by a thread of another node runs there.
namespace terrane::frontend {

// What libterrane_threads knows of them; in other libraries there is none.
class Elsewhere {
 public:
  static constexpr std::uint32_t kHere = ~0u;
  // A call that another node makes. Lies in shared memory.
  struct Task {
    void (*run)(Task&);
  };

  // nullptr: this process is no node of such a program.
  static Elsewhere* get() { return the_.load(std::memory_order_relaxed); }

  // The node that something of the program belongs to; kHere: this one, or it is not the program's.
  // The call that asks is about it: texts of other nodes for a stream of this one are written.
  virtual std::uint32_t node_of(int fd) = 0;
  virtual std::uint32_t node_of(std::FILE* stream) = 0;
  virtual std::uint32_t node_of(const void* opened) = 0;  // a folder, a walk through a tree
  // Whether the call is the program's, made on another node than 0.
  virtual bool is_for_node_0() = 0;
  // What the C library has for a semaphore of this node that the program has opened by its name, or
  // the semaphore itself.
  virtual sem_t* own_semaphore(sem_t* semaphore) = 0;
  // The same file by a number that says its node. A negative number, or one that is not opened by
  // the program, stays.
  virtual int adopt(int fd) = 0;
  // Standard output or error (1, 2) of this node leads to another file now: the program's does.
  virtual void redirected(int fd) = 0;
  // Text for a stream of another node, which writes it before other threads can learn of this call.
  // False: this or an earlier text was not written; errno says why.
  virtual bool append(std::FILE* stream, const void* text, std::size_t bytes) = 0;
  // Whether it is standard output of this node that other nodes write to as well; text for it, in
  // private memory and under the stream's lock: how much is written, not cut in two.
  virtual bool is_common(std::FILE* stream) = 0;
  virtual std::size_t put(std::FILE* stream, const void* text, std::size_t bytes) = 0;
  // setvbuf(3) on all nodes. False: it is none of the streams that all nodes have.
  virtual bool set_buffer(std::FILE* stream, int mode, std::size_t bytes) = 0;
  // fflush(3) of all streams of other nodes. False: errno says why.
  virtual bool flush_all() = 0;
  // Says once for each call that it is not made about a descriptor of another node. -1, errno
  // EBADF.
  virtual int refuse(const char* call, int fd) = 0;
  // Whether syscall(2) may not make that call of the kernel, because it would change the threads of
  // this node alone: said once, errno EPERM.
  virtual bool refuses_system_call(long number) = 0;
  // Makes the C library's list of what a child of posix_spawn(3) does with its files, for the
  // caller to destroy. False: `from` is such a list itself.
  virtual bool copy_actions(const posix_spawn_file_actions_t& from,
                            posix_spawn_file_actions_t& to) = 0;
  // Runs the task on that node. False: it has not run, errno says why.
  virtual bool run(std::uint32_t node, Task& task) = 0;
  // Shared memory; nullptr: there is none.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void free(void* block) = 0;

 protected:
  ~Elsewhere() = default;
  static void set(Elsewhere* one) { the_.store(one, std::memory_order_relaxed); }

 private:
  static constinit inline std::atomic<Elsewhere*> the_{nullptr};
};

// Of: a descriptor, a stream, a folder.
template <typename Of>
bool is_elsewhere(Of of) {
  Elsewhere* elsewhere = Elsewhere::get();
  return elsewhere != nullptr && elsewhere->node_of(of) != Elsewhere::kHere;
}

// Whether one of the two is elsewhere: a call of this node about both is refused then (EBADF).
inline bool refuses_elsewhere(const char* call, int one, int other) {
  if (!is_elsewhere(one) && !is_elsewhere(other)) return false;
  Elsewhere::get()->refuse(call, is_elsewhere(one) ? one : other);
  return true;
}

inline int adopt(int fd) {
  Elsewhere* elsewhere = Elsewhere::get();
  return elsewhere == nullptr ? fd : elsewhere->adopt(fd);
}

// Of a stream that has just been opened; the stream.
inline std::FILE* adopt(std::FILE* stream) {
  if (stream != nullptr && stream->_fileno >= 0) stream->_fileno = adopt(stream->_fileno);
  return stream;
}

// function(arguments...) on another node; what the arguments point to lies in shared memory. -1 (or
// nullptr) and errno where it cannot be.
template <typename Result, typename... Parameters>
Result call_on(std::uint32_t node, Result (*function)(Parameters...),
               std::type_identity_t<Parameters>... arguments) {
  using Kept = std::conditional_t<std::is_void_v<Result>, int, Result>;
  struct Made : Elsewhere::Task {
    Result (*function)(Parameters...);
    std::tuple<Parameters...> arguments;
    Kept result;
    int error;
  };
  Made made;
  made.run = [](Elsewhere::Task& task) {
    Made& one = static_cast<Made&>(task);
    errno = one.error;
    if constexpr (std::is_void_v<Result>) {
      std::apply(one.function, one.arguments);
    } else {
      one.result = std::apply(one.function, one.arguments);
    }
    one.error = errno;
  };
  made.function = function;
  made.arguments = {arguments...};
  made.result = {};
  made.error = errno;
  Elsewhere& elsewhere = *Elsewhere::get();
  bool is_private = !SharedRange::contains(&made);  // a signal handler's stack is
  void* room = is_private ? elsewhere.allocate(sizeof made) : nullptr;
  if (is_private && room == nullptr) errno = ENOMEM;
  Made* there = room == nullptr ? &made : new (room) Made(made);
  bool has_run = (!is_private || room != nullptr) && elsewhere.run(node, *there);
  if (room != nullptr) {
    made = *there;
    elsewhere.free(room);
  }
  if (has_run) errno = made.error;
  if constexpr (std::is_pointer_v<Result>) {
    return has_run ? made.result : nullptr;
  } else if constexpr (!std::is_void_v<Result>) {
    return has_run ? made.result : static_cast<Result>(-1);
  }
}

// The same on the node of a descriptor or stream that is_elsewhere().
template <typename Of, typename Result, typename... Parameters>
Result call_elsewhere(Of of, Result (*function)(Parameters...),
                      std::type_identity_t<Parameters>... arguments) {
  return call_on(Elsewhere::get()->node_of(of), function, arguments...);
}

// dup2(2) or dup3(2) by `duplicate`, where one of the two is elsewhere: on the node of the first,
// unless the second, whose number says its node, is on another.
inline bool duplicates_elsewhere(int from, int to) {
  return is_elsewhere(from) || (to > 2 && is_elsewhere(to)) || (to == 0 && is_elsewhere(to));
}
template <typename... More>
int duplicate_elsewhere(const char* call, int (*duplicate)(int, int, More...), int from, int to,
                        More... more) {
  Elsewhere& elsewhere = *Elsewhere::get();
  bool is_output = to == 1 || to == 2;
  std::uint32_t node = elsewhere.node_of(from);
  if (node == Elsewhere::kHere || (!is_output && elsewhere.node_of(to) != node))
    return elsewhere.refuse(call, node == Elsewhere::kHere ? to : from);
  return call_elsewhere(from, duplicate, from, to, more...);
}
// Of dup2(2) or dup3(2) on this node.
inline int duplicated(int fd) {
  Elsewhere* elsewhere = Elsewhere::get();
  if (elsewhere != nullptr && fd >= 0) elsewhere->redirected(fd);
  return fd;
}

// Bytes that another node reads: where they lie, or a copy in shared memory. get() is nullptr where
// there is no memory (errno ENOMEM).
class InShared {
 public:
  InShared(const void* from, std::size_t bytes) : use_(from) {
    if (SharedRange::contains(from)) return;
    use_ = copy_ = Elsewhere::get()->allocate(bytes == 0 ? 1 : bytes);
    if (copy_ == nullptr) {
      errno = ENOMEM;
    } else {
      std::memcpy(copy_, from, bytes);
    }
  }
  ~InShared() {
    if (copy_ != nullptr) Elsewhere::get()->free(copy_);
  }
  InShared(const InShared&) = delete;
  const void* get() const { return use_; }

 private:
  const void* use_;
  void* copy_ = nullptr;
};

// The same for bytes that another node writes: done() hands the first of them to the program.
class OutShared {
 public:
  OutShared(void* to, std::size_t bytes) : to_(to), use_(to) {
    if (SharedRange::contains(to)) return;
    use_ = copy_ = Elsewhere::get()->allocate(bytes == 0 ? 1 : bytes);
    if (copy_ == nullptr) errno = ENOMEM;
  }
  ~OutShared() {
    if (copy_ != nullptr) Elsewhere::get()->free(copy_);
  }
  OutShared(const OutShared&) = delete;
  void* get() const { return use_; }
  void done(std::size_t bytes) {
    if (copy_ != nullptr) std::memcpy(to_, copy_, bytes);
  }

 private:
  void* to_;
  void* use_;
  void* copy_ = nullptr;
};

}  // namespace terrane::frontend
