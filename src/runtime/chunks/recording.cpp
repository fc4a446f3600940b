#include "runtime/chunks/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/result.h"
#include "platform/wait.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::array<char, 8> kMagic = {'T', 'R', 'N', 'R', 'E', 'C', 'R', 'D'};
constexpr std::array<char, 8> kMark = {'v', 'e', 'r', 's', 'i', 'o', 'n', '\0'};
constexpr std::uint32_t kForm = 1;
constexpr std::uint64_t kAlignment = 8;

// Both are little-endian, as all machines are that Terrane runs on.
struct FileHead {
  std::array<char, 8> magic = kMagic;
  std::uint32_t form = kForm;
  std::uint32_t description_bytes = 0;
  std::uint64_t version_bytes = 0;
  std::uint64_t begin_ns = 0;
  std::array<std::uint64_t, 4> reserved = {};
};
static_assert(sizeof(FileHead) == 64);

struct VersionHead {
  std::array<char, 8> mark = kMark;
  std::uint64_t number = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(VersionHead) == 32);

std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// Writes head, body and the zeros that align what follows.
bool write_at(int fd, std::uint64_t offset, std::span<const std::byte> head,
              std::span<const std::byte> body) {
  std::array<std::byte, kAlignment> zeros = {};
  std::array<std::span<const std::byte>, 3> parts = {
      head, body, std::span(zeros).first(padded(body.size()) - body.size())};
  for (;;) {
    std::array<iovec, 3> left = {};
    std::size_t sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      left[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
      sum += parts[i].size();
    }
    if (sum == 0) return true;
    ssize_t done = ::pwritev(fd, left.data(), left.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    offset += static_cast<std::uint64_t>(done);
    auto rest = static_cast<std::size_t>(done);
    for (auto& part : parts) {
      std::size_t from_this = std::min(rest, part.size());
      part = part.subspan(from_this);
      rest -= from_this;
    }
  }
}

}  // namespace

Outcome Recording::bad(Status status, std::string what) const {
  return {status, fmt::format("'{}' {}", path_, what)};
}

Outcome Recording::create(const std::string& path, std::uint64_t bytes, std::string description) {
  path_ = path;
  if (bytes == 0) return bad(Status::kInvalid, "is to have versions of 0 bytes: at least 1");
  if (description.size() > kMaxDescription)
    return bad(Status::kInvalid, fmt::format("is to have a description of {} bytes: at most {}",
                                             description.size(), kMaxDescription));
  fd_.reset(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!fd_) return bad(Status::kSystem, base::errno_error("cannot be written").message);
  is_written_ = true;
  bytes_ = bytes;
  description_ = std::move(description);
  begin_ns_ = static_cast<std::uint64_t>(
      std::chrono::nanoseconds(std::chrono::system_clock::now().time_since_epoch()).count());
  begin_monotonic_ = platform::now_ns();
  FileHead head{.description_bytes = static_cast<std::uint32_t>(description_.size()),
                .version_bytes = bytes_,
                .begin_ns = begin_ns_};
  if (!write_at(fd_.get(), 0, std::as_bytes(std::span(&head, 1)),
                std::as_bytes(std::span(description_))))
    return bad(Status::kSystem, base::errno_error("cannot be written").message);
  end_ = sizeof head + padded(description_.size());
  return {};
}

Outcome Recording::append(std::uint64_t number, std::span<const std::byte> data) {
  if (!is_written_) return bad(Status::kState, "was opened to be read");
  if (data.size() > bytes_)
    return bad(Status::kInvalid, fmt::format("has versions of at most {} bytes, and version {} has "
                                             "{}",
                                             bytes_, number, data.size()));
  VersionHead head{
      .number = number, .time_ns = platform::now_ns() - begin_monotonic_, .bytes = data.size()};
  if (!write_at(fd_.get(), end_, std::as_bytes(std::span(&head, 1)), data)) {
    Outcome outcome =
        bad(Status::kSystem,
            base::errno_error(fmt::format("has no room for version {}, and ends before it", number))
                .message);
    if (::ftruncate(fd_.get(), static_cast<off_t>(end_)) != 0)
      outcome.message += "; it could not be cut there, and ends within that version";
    return outcome;
  }
  end_ += sizeof head + padded(data.size());
  return {};
}

Outcome Recording::read_at(std::uint64_t offset, std::span<std::byte> room,
                           std::size_t& got) const {
  got = 0;
  while (got < room.size()) {
    ssize_t done =
        ::pread(fd_.get(), room.data() + got, room.size() - got, static_cast<off_t>(offset + got));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return bad(Status::kSystem, base::errno_error("cannot be read").message);
    if (done == 0) break;
    got += static_cast<std::size_t>(done);
  }
  return {};
}

Outcome Recording::open(const std::string& path) {
  path_ = path;
  fd_.reset(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd_) return bad(Status::kSystem, base::errno_error("cannot be read").message);
  FileHead head;
  std::size_t got;
  Outcome outcome = read_at(0, std::as_writable_bytes(std::span(&head, 1)), got);
  if (!outcome.ok()) return outcome;
  if (got != sizeof head || head.magic != kMagic)
    return bad(Status::kMismatch, "is no recording of a chunk");
  if (head.form != kForm)
    return bad(Status::kMismatch,
               fmt::format("is a recording of form {}, and this version of Terrane reads form {}",
                           head.form, kForm));
  if (head.description_bytes > kMaxDescription || head.version_bytes == 0)
    return bad(Status::kMismatch, "is a recording whose first 64 bytes are damaged");
  description_.resize(head.description_bytes);
  outcome = read_at(sizeof head, std::as_writable_bytes(std::span(description_)), got);
  if (!outcome.ok()) return outcome;
  if (got != description_.size())
    return bad(Status::kMismatch, "was cut short within its description, before any version");
  bytes_ = head.version_bytes;
  begin_ns_ = head.begin_ns;
  end_ = sizeof head + padded(head.description_bytes);
  return {};
}

Outcome Recording::cut_short(std::uint64_t number, std::uint64_t there,
                             std::uint64_t wanted) const {
  std::string which =
      number == 0 ? "the head of its next version" : fmt::format("version {}", number);
  return bad(Status::kMismatch,
             fmt::format("was cut short: it has {} of {} bytes of {}; the {} versions before it "
                         "are whole",
                         there, wanted, which, count_));
}

// The size is looked at each time: the file may be written still.
Outcome Recording::next(Version& version) {
  if (is_written_) return bad(Status::kState, "was opened to be written");
  data_ = 0;
  struct stat facts {};
  if (::fstat(fd_.get(), &facts) != 0)
    return bad(Status::kSystem, base::errno_error("cannot be read").message);
  auto size = static_cast<std::uint64_t>(facts.st_size);
  if (end_ >= size) return bad(Status::kEnded, fmt::format("has no more than {} versions", count_));
  VersionHead head;
  std::size_t got;
  Outcome outcome = read_at(end_, std::as_writable_bytes(std::span(&head, 1)), got);
  if (!outcome.ok()) return outcome;
  if (got != sizeof head) return cut_short(0, got, sizeof head);
  if (head.mark != kMark || head.bytes > bytes_)
    return bad(Status::kMismatch,
               fmt::format("is damaged at byte {}, where a version should begin; the {} versions "
                           "before it are whole",
                           end_, count_));
  std::uint64_t begin = end_ + sizeof head;
  if (size - begin < head.bytes) return cut_short(head.number, size - begin, head.bytes);
  version = {head.number, head.time_ns, head.bytes};
  data_ = begin;
  length_ = head.bytes;
  end_ = begin + padded(head.bytes);
  ++count_;
  return {};
}

Outcome Recording::read(std::span<std::byte> room) {
  if (data_ == 0) return bad(Status::kState, "has given no version that could be read");
  if (room.size() < length_)
    return bad(Status::kInvalid, fmt::format("has a version of {} bytes, and there is room for {}",
                                             length_, room.size()));
  std::size_t got;
  Outcome outcome = read_at(data_, room.first(length_), got);
  if (outcome.ok() && got != length_) return cut_short(0, got, length_);
  return outcome;
}

}  // namespace terrane::runtime::chunks
