// Which node a descriptor or a stream of the program belongs to: numbers of descriptors are divided
// between the nodes, and streams lie in memory of their node (node_memory.h).
#include "frontend/interpose/elsewhere.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <set>
#include <string>

#include "base/log.h"
#include "base/own_process.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/node_memory.h"
#include "frontend/threads/output.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"
#include "frontend/threads/waiting_texts.h"

namespace terrane::frontend::threads {
namespace {

class Files final : public Elsewhere {
 public:
  explicit Files(const Program& program);

  std::uint32_t node_of(int fd) override;
  std::uint32_t node_of(std::FILE* stream) override;
  std::uint32_t node_of(const void* opened) override;
  bool is_for_node_0() override { return self_ != 0 && asks(); }
  sem_t* own_semaphore(sem_t* semaphore) override { return threads::own_semaphore(semaphore); }
  int adopt(int fd) override;
  void redirected(int fd) override;
  bool append(std::FILE* stream, const void* text, std::size_t bytes) override {
    return append_output(node_of(stream), stream, text, bytes);
  }
  bool is_common(std::FILE* stream) override {
    return stream == stdout_ && nodes_ > 1 && Program::get() != nullptr;
  }
  std::size_t put(std::FILE* stream, const void* text, std::size_t bytes) override {
    return put_output(stream, text, bytes);
  }
  bool set_buffer(std::FILE* stream, int mode, std::size_t bytes) override;
  bool flush_all() override;
  int refuse(const char* call, int fd) override;
  bool refuses_system_call(long number) override;
  bool copy_actions(const posix_spawn_file_actions_t& from,
                    posix_spawn_file_actions_t& to) override {
    return copy_spawn_actions(from, to);
  }
  bool run(std::uint32_t node, Task& task) override;
  void* allocate(std::size_t bytes) override { return Program::get()->heap().allocate(bytes); }
  void free(void* block) override { Program::get()->heap().free(block); }

 private:
  static constexpr int kLow = 1024;  // numbers that may stay where they are

  // A call of the program's that may be about another node: not of a child of vfork, which has its
  // own descriptors.
  bool asks() const { return is_in_program() && base::own_process() == process_; }
  std::uint32_t output_node(int fd) const;

  const std::uint32_t self_, nodes_;
  std::FILE* const stdout_ = stdout;  // the variables are shared memory
  std::FILE* const stderr_ = stderr;
  std::FILE* const stdin_ = stdin;
  bool is_apart_[3] = {};  // by number: this node's output leads to another file than node 0's
  const pid_t process_ = base::own_process();
  int first_ = 0, each_ = 0;  // numbers of node 0 end at first_; each other node has each_
  std::array<std::atomic<bool>, kLow> kept_{};  // ours, with a number of node 0
};

Files::Files(const Program& program) : self_(program.self()), nodes_(program.node().nodes()) {
  int most = 1 << 20;
  for (std::uint32_t n = 0; n < nodes_; ++n)
    most = std::min(most, static_cast<int>(program.control().cards[n].most_files));
  const Control::Card* cards = program.control().cards;
  for (int fd : {STDOUT_FILENO, STDERR_FILENO}) {
    bool same_host = program.node().host_name(NodeId{0}) == program.node().host_name(NodeId{self_});
    is_apart_[fd] =
        self_ != 0 && !is_same_output(cards[0].outputs[fd], cards[self_].outputs[fd], same_host);
  }
  first_ = most / 2;
  each_ = nodes_ == 1 ? 0 : std::min((most - first_) / static_cast<int>(nodes_ - 1), 1 << 14);
  rlimit limit{};
  if (next<"getrlimit">(::getrlimit)(RLIMIT_NOFILE, &limit) == 0) {
    if (self_ == 0) program.control().files = {limit.rlim_cur, limit.rlim_max};
    limit.rlim_cur = limit.rlim_max;
    if (self_ != 0) next<"setrlimit">(::setrlimit)(RLIMIT_NOFILE, &limit);
  }
  if (nodes_ > 1) set(this);
}

std::uint32_t Files::output_node(int fd) const {
  std::uint32_t node = Program::get()->control().output_of[fd];
  if (node == Control::kEachNode) return is_apart_[fd] ? 0 : kHere;
  return node - 1 == self_ ? kHere : node - 1;
}

std::uint32_t Files::node_of(int fd) {
  if (fd < 0 || !is_in_program()) return kHere;
  if (fd == STDOUT_FILENO || fd == STDERR_FILENO) return output_node(fd);
  std::uint32_t node = 0;
  if (fd >= first_ && each_ != 0) node = 1 + static_cast<std::uint32_t>((fd - first_) / each_);
  if (node == self_ || node >= nodes_) return kHere;
  if (fd < kLow && kept_[static_cast<std::size_t>(fd)].load()) return kHere;
  if (!asks()) return kHere;
  // Node 0 may have opened more files than it has numbers.
  return self_ == 0 && next<"fcntl">(::fcntl)(fd, F_GETFD) >= 0 ? kHere : node;
}

std::uint32_t Files::node_of(const void* opened) {
  if (!node_memory::contains(opened) || !is_in_program()) return kHere;
  std::uint32_t node = node_memory::node_of(opened);
  return node == self_ ? kHere : node;
}

std::uint32_t Files::node_of(std::FILE* stream) {
  if (node_memory::contains(stream)) {
    std::uint32_t node = node_memory::node_of(stream);
    if (!is_in_program()) return kHere;
    if (node != self_) return node;
    write_waiting_texts(stream);
    return kHere;
  }
  if (!is_in_program()) return kHere;
  if (stream == stdout_) return output_node(STDOUT_FILENO);
  if (stream == stderr_) return output_node(STDERR_FILENO);
  return stream == stdin_ && self_ != 0 ? 0 : kHere;
}

int Files::adopt(int fd) {
  if (fd <= STDERR_FILENO || self_ == 0 || !asks()) return fd;
  int first = first_ + static_cast<int>(self_ - 1) * each_;
  if (fd >= first && fd < first + each_) return fd;
  auto* control = next<"fcntl">(::fcntl);
  bool closes = (control(fd, F_GETFD) & FD_CLOEXEC) != 0;
  int moved = each_ == 0 ? -1 : control(fd, closes ? F_DUPFD_CLOEXEC : F_DUPFD, first);
  if (moved >= 0) {
    next<"close">(::close)(fd);
    return moved;
  }
  if (fd < kLow) kept_[static_cast<std::size_t>(fd)].store(true);
  return fd;
}

void Files::redirected(int fd) {
  bool is_output = fd == STDOUT_FILENO || fd == STDERR_FILENO;
  if (is_output && asks()) Program::get()->control().output_of[fd] = self_ + 1;
}

bool Files::set_buffer(std::FILE* stream, int mode, std::size_t bytes) {
  bool is_output = stream == stdout_ || stream == stderr_;
  if (!is_output || !is_in_program()) return false;
  struct Asked {
    std::FILE* stream;
    int mode;
    std::size_t bytes;
  } asked{stream, mode, bytes};
  set_buffer_of_output(stream, mode, bytes);
  run_on_others(
      [](void* raw) -> void* {
        auto& one = *static_cast<Asked*>(raw);
        set_buffer_of_output(one.stream, one.mode, one.bytes);
        return nullptr;
      },
      &asked);
  return true;
}

bool Files::flush_all() {
  if (!asks()) return true;
  int error = send_output(nullptr) ? 0 : errno;
  write_all_waiting_texts();
  run_on_others(
      [](void* raw) -> void* {
        write_all_waiting_texts();
        if (next<"fflush">(::fflush)(nullptr) != 0) *static_cast<int*>(raw) = errno;
        return nullptr;
      },
      &error);
  if (error != 0) errno = error;
  return error == 0;
}

int Files::refuse(const char* call, int fd) {
  static auto* mutex = new std::mutex();
  static auto* said = new std::set<std::string>();
  std::uint32_t node = node_of(fd);
  Private ours;
  std::lock_guard hold(*mutex);
  if (said->insert(call).second)
    base::log(
        "{}: descriptor {} belongs to node {}, and the call works on that node alone: open the "
        "file in the thread that uses it. The call fails with EBADF",
        call, fd, node);
  errno = EBADF;
  return -1;
}

bool Files::refuses_system_call(long number) {
  bool one_nodes = number == SYS_seccomp || number == SYS_unshare || number == SYS_setns ||
                   number == SYS_setgroups || number == SYS_chroot;
  if (!one_nodes || !asks()) return false;
  refused<"syscall(2) about rights or namespaces", int>(
      EPERM, "the threads of other nodes would stay as they are");
  return true;
}

bool Files::run(std::uint32_t node, Task& task) {
  int error = run_interruptibly_on(
      node,
      [](void* raw) -> void* {
        auto& made = *static_cast<Task*>(raw);
        made.run(made);
        return nullptr;
      },
      &task);
  if (error != 0) errno = error;
  return error == 0;
}

}  // namespace

void share_files(const Program& program) {
  static auto* files = new Files(program);
  static_cast<void>(files);
}

}  // namespace terrane::frontend::threads
