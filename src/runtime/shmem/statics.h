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
// map. Owns the file and the directory of its segments. The data stay at their addresses. In a
// child of fork() they are private copies.
class Statics {
 public:
  // Gives a module that was loaded after the start its offset, which is the same on every PE.
  class Places {
   public:
    virtual ~Places() = default;
    // The offset of the module `identity`, which has `bytes`; nullopt: no room is left.
    virtual std::optional<std::uint64_t> place(std::uint64_t identity, std::uint64_t bytes) = 0;
  };

  static Statics& of_process();

  // Moves the data of all modules that are loaded now. Called once, before main, while there is no
  // other thread. A failure is kept for error().
  void take_at_start();
  // Moves the data of modules that were loaded since. Any thread may call.
  base::Result<> take_new(Places& places);
  // Called when code at `caller` is about to open a library; from then on may_have_new() is true. A
  // library that Terrane opens itself is none of the program's.
  void note_opening(const char* file, const void* caller);
  bool may_have_new() const { return opened_.load(std::memory_order_relaxed); }

  const std::string& error() const { return error_; }
  int fd() const { return fd_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  // Offsets below this one are those of modules at start; later ones belong to Places.
  std::uint64_t start_bytes() const { return start_bytes_; }
  const SegmentDirectory& directory() const { return directory_; }
  // The program's own data; 0 bytes if it has none.
  const Segment& program() const { return program_; }
  // Equal on two PEs only if the same modules have the same offsets.
  std::uint64_t program_identity() const { return program_identity_; }
  std::uint64_t start_identity() const { return start_identity_; }

  // Called around fork(): copies the data, and gives the copies to the child as private memory.
  void before_fork();
  void after_fork_in_parent();
  void after_fork_in_child();

 private:
  struct Taken {
    Segment segment;
    int protection;
    std::byte* copy = nullptr;  // only during a fork
  };

  Statics() = default;
  base::Result<> start();
  base::Result<> take(const platform::WritablePages& pages, std::uint64_t offset);
  std::vector<platform::Module> programs_modules();
  // False: the file could not be read.
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
  std::mutex mutex_;  // held by take_new() and during a fork
  std::mutex opening_;
  std::vector<std::string> opened_by_us_;  // names of files; under opening_
};

}  // namespace terrane::runtime::shmem
