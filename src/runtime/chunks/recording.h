#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/unique_fd.h"
#include "runtime/outcome.h"

namespace terrane::runtime::chunks {

// A file with versions of a chunk (its form: docs/chunks.md), open to be written or to be read.
// Owns the descriptor. Use: one thread at a time.
class Recording {
 public:
  static constexpr std::size_t kMaxDescription = 65'536;

  struct Version {
    std::uint64_t number = 0;
    std::uint64_t time_ns = 0;  // since the recording began
    std::uint64_t bytes = 0;
  };

  Outcome create(const std::string& path, std::uint64_t bytes, std::string description);
  // After a failure the file ends with the version before.
  Outcome append(std::uint64_t number, std::span<const std::byte> data);

  Outcome open(const std::string& path);
  // kEnded: there is no further one.
  Outcome next(Version& version);
  // Of the version that next() has given; `room` may be larger.
  Outcome read(std::span<std::byte> room);

  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t begin_ns() const { return begin_ns_; }
  const std::string& description() const { return description_; }

 private:
  Outcome bad(Status status, std::string what) const;
  Outcome cut_short(std::uint64_t number, std::uint64_t there, std::uint64_t wanted) const;
  // As many bytes as there are, up to all that were asked for; kSystem if the file cannot be read.
  Outcome read_at(std::uint64_t offset, std::span<std::byte> room, std::size_t& got) const;

  base::UniqueFd fd_;
  bool is_written_ = false;
  std::string path_, description_;
  std::uint64_t bytes_ = 0;              // of the longest version
  std::uint64_t begin_ns_ = 0;           // since 1970
  std::uint64_t begin_monotonic_ = 0;    // of one that is written
  std::uint64_t end_ = 0;                // of the last version that was written or given
  std::uint64_t data_ = 0, length_ = 0;  // of the version that was given; 0: none was
  std::uint64_t count_ = 0;              // of versions that were given
};

}  // namespace terrane::runtime::chunks
