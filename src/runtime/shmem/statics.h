#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/modules.h"
#include "runtime/shmem/segment_directory.h"

namespace terrane::runtime::shmem {

// The static data of this process's program and libraries, moved into a memory file that peers can
// map. Owns the file and the directory of what lies where. The data stay at their addresses; in a
// child of fork() they are copies of its own.
class Statics {
 public:
  // Where a module that was loaded after the start is to lie: the same offset on every PE.
  class Places {
   public:
    virtual ~Places() = default;
    // `identity`: of the module; the offset of `bytes` for it, or nullopt where no room is left.
    virtual std::optional<std::uint64_t> place(std::uint64_t identity, std::uint64_t bytes) = 0;
  };

  static Statics& of_process();

  // Takes in all modules that are loaded now. Once, before main, while nobody else runs; a failure
  // is kept for error().
  void take_at_start();
  // Takes in what has been loaded since. Any thread.
  base::Result<> take_new(Places& places);
  // The program opens a library, which will soon be there: from now on may_have_new() says so.
  void note_opening() { opened_.store(true, std::memory_order_relaxed); }
  bool may_have_new() const { return opened_.load(std::memory_order_relaxed); }

  const std::string& error() const { return error_; }
  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  // The offsets below belong to what was there at start, those from here on to Places.
  std::uint64_t start_bytes() const { return start_bytes_; }
  const SegmentDirectory& directory() const { return directory_; }
  // The program's own data; no bytes where it has none.
  const Segment& program() const { return program_; }
  // Equal on two PEs only where the same modules lie at the same offsets.
  std::uint64_t program_identity() const { return program_identity_; }
  std::uint64_t start_identity() const { return start_identity_; }

  // Around fork(): copies what the data hold, and gives them to the child as its own memory.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Taken {
    Segment segment;
    int protection;
    std::byte* copy = nullptr;  // around a fork
  };

  Statics() = default;
  base::Result<> start();
  base::Result<> take(const platform::WritablePages& pages, std::uint64_t offset);
  // False: it could not be read.
  bool copy_present(const Taken& one) const;

  std::string error_;
  base::UniqueFd fd_;
  std::uint64_t bytes_ = 0, start_bytes_ = 0;
  std::uint64_t program_identity_ = 0, start_identity_ = 0;
  std::uint64_t modules_seen_ = 0;
  Segment program_;
  std::atomic<bool> opened_{false};
  std::vector<Taken> taken_;
  SegmentDirectory directory_;
  std::mutex mutex_;  // of take_new() and of fork
};

}  // namespace terrane::runtime::shmem
