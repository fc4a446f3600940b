// Each call of the kernel that src/frontend/process_state.txt has copies made for: first with all
// its arguments in private memory, then with all of them on shared pages that its node does not
// have. Both must end alike. Most fail (names of nothing, values that are wrong), after the kernel
// has read what they are given. Says "good" on every node, or which call ended how. Usage:
// each_call_program
#include <dirent.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <string>
#include <string_view>
#include <type_traits>

#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr const char* kNothing = "/terrane.nothing/x";
constexpr const char* kRoot = "/";
constexpr std::size_t kBytes = 16;
constexpr std::size_t kSlot = 2 * kPage;
constexpr std::size_t kSlots = 8;

char* shared = nullptr;  // home: node 1

// Makes the arguments of one call.
class Arguments {
 public:
  Arguments(std::string_view call, bool are_shared) : call_(call), are_shared_(are_shared) {
    std::memset(shared, 0, kSlots * kSlot);
  }
  ~Arguments() {
    if (fd_ >= 0) close(fd_);
  }
  Arguments(const Arguments&) = delete;

  const char* text(const char* content) { return fill(std::strlen(content) + 1, content); }
  template <typename T>
  const T* from(std::size_t count = 1) {
    std::string wrong(count * sizeof(T), '\xff');
    return reinterpret_cast<const T*>(fill(wrong.size(), wrong.data()));
  }
  template <typename T>
  T* to(std::size_t count = 1) {
    std::string room(count * sizeof(T), '\0');
    return reinterpret_cast<T*>(fill(room.size(), room.data()));
  }
  // One that the call takes.
  int fd() { return fd_ = open_for_call(); }
  // All pages are node 1's from now on.
  void leave() const {
    EXPECT(terrane_lock(1) == TERRANE_OK && terrane_unlock(1) == TERRANE_OK);
    EXPECT(terrane_evict(shared, kSlots * kSlot) == TERRANE_OK);
  }

 private:
  // Over a boundary of pages.
  char* fill(std::size_t bytes, const char* content) {
    EXPECT(used_ < kSlots && bytes <= kPage);
    char* slot = (are_shared_ ? shared : own_) + kSlot * used_++ + kPage - 8;
    std::memcpy(slot, content, bytes);
    return slot;
  }
  int open_for_call() const {
    if (call_.starts_with("timerfd")) return timerfd_create(CLOCK_MONOTONIC, 0);
    if (call_.starts_with("eventfd")) return eventfd(1, 0);
    if (call_.starts_with("inotify")) return inotify_init1(0);
    if (call_ == "bind" || call_ == "connect" || call_ == "setsockopt")
      return socket(AF_UNIX, SOCK_DGRAM, 0);
    if (call_.starts_with("mq_")) {
      int opened = mq_open("/terrane.each.call", O_RDWR | O_CREAT, 0600, nullptr);
      mq_unlink("/terrane.each.call");
      return opened;
    }
    return open("/tmp", O_RDWR | O_TMPFILE, 0600);
  }

  static inline char own_[kSlots * kSlot];
  std::string_view call_;
  bool are_shared_;
  std::size_t used_ = 0;
  int fd_ = -1;
};

struct Ended {
  bool failed;
  int error;
};

template <typename Result, typename... Parameters>
Ended call(Arguments& made, Result (*function)(Parameters...),
           std::type_identity_t<Parameters>... arguments) {
  made.leave();
  errno = 0;
  Result result = function(arguments...);
  bool failed = false;
  if constexpr (std::is_pointer_v<Result>) {
    failed = result == nullptr;
  } else {
    failed = result == static_cast<Result>(-1);
  }
  return {failed, failed ? errno : 0};
}

struct Call {
  const char* name;
  Ended (*make)(Arguments&);
};

#include "table_calls.h"

void make_calls() {
  for (const Call& each : kCalls) {
    Ended ended[2];
    for (bool are_shared : {false, true}) {
      Arguments arguments(each.name, are_shared);
      ended[are_shared] = each.make(arguments);
    }
    if (ended[0].failed == ended[1].failed && ended[0].error == ended[1].error) continue;
    std::string what = std::string(each.name) + ": " + std::to_string(ended[0].error) +
                       " with private arguments, " + std::to_string(ended[1].error) +
                       " with shared ones";
    bad(what.c_str(), __LINE__);
  }
}

}  // namespace

int main() {
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  shared = allocate_all<char>(kSlots * kSlot, 1);
  if (terrane_node() == 0) make_calls();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
