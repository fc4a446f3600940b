// Terrane work streams for C++20: a part of <terrane/chunks.hpp>, which includes this.
//
//   terrane::chunks::Work<std::byte> frames(job, "frames", frame_bytes, {.home = 0});
//   auto input = frames.subscribe(2 * frame_bytes);             // credits in bytes
//   while (auto frame = input.take()) {                         // nothing: the stream has ended
//     auto result = results.write();
//     convolve(*frame, result.elements());
//     result.publish(frame->size(), frame->tag());              // before the frame is released
//   }
#ifndef TERRANE_WORK_HPP
#define TERRANE_WORK_HPP

#include <terrane/work.h>

#include <terrane/chunks.hpp>

namespace terrane::chunks {

// See terrane_work_options.
struct WorkOptions {
  int home = TERRANE_HOME_BY_NAME;
  bool in_order = false;
  std::uint64_t capacity = 0;  // bytes
};

// A version that was taken; released at the end of this object. Move-only.
template <typename T>
class TakenVersion : public std::span<const T> {
 public:
  explicit TakenVersion(const terrane_work_version& open)
      : std::span<const T>(static_cast<const T*>(open.data), open.bytes / sizeof(T)), open_(open) {}
  TakenVersion(TakenVersion&& other) noexcept
      : std::span<const T>(other), open_(std::exchange(other.open_, terrane_work_version{})) {}
  TakenVersion& operator=(TakenVersion&& other) noexcept {
    if (this == &other) return *this;
    finish();
    std::span<const T>::operator=(other);
    open_ = std::exchange(other.open_, terrane_work_version{});
    return *this;
  }
  ~TakenVersion() { finish(); }

  std::uint64_t tag() const { return open_.tag; }
  std::uint64_t number() const { return open_.number; }
  std::uint32_t writer() const { return open_.writer; }
  // A subscriber that died or left had it before.
  bool again() const { return open_.again != 0; }
  // Before its time; the view must not be used any more.
  void release() {
    if (open_.id != 0) check(terrane_work_release(&open_));
  }

 private:
  void finish() noexcept {
    if (open_.id != 0) terrane_work_release(&open_);
  }
  terrane_work_version open_;
};

// A version that is being written; given up at the end of this object unless it was published.
template <typename T>
class NewVersion {
 public:
  explicit NewVersion(const terrane_work_version& open) : open_(open) {}
  NewVersion(NewVersion&& other) noexcept
      : open_(std::exchange(other.open_, terrane_work_version{})) {}
  NewVersion& operator=(NewVersion&&) = delete;
  ~NewVersion() {
    if (open_.id != 0) terrane_work_release(&open_);
  }

  // All that it may have room for.
  std::span<T> elements() const { return {static_cast<T*>(open_.data), open_.bytes / sizeof(T)}; }
  // With the first `count` elements.
  void publish(std::size_t count, std::uint64_t tag) {
    if (count > open_.bytes / sizeof(T)) throw std::length_error("more elements than there are");
    check(terrane_work_publish(&open_, count * sizeof(T), tag));
  }

 private:
  terrane_work_version open_;
};

// A subscription to a work stream; ends with this object. Move-only.
template <typename T>
class WorkSubscription {
 public:
  WorkSubscription(terrane_work work, std::uint64_t credit_bytes) : work_(work) {
    check(terrane_work_subscribe(work, credit_bytes));
    active_ = true;
  }
  WorkSubscription(WorkSubscription&& other) noexcept
      : work_(other.work_), active_(std::exchange(other.active_, false)) {}
  WorkSubscription& operator=(WorkSubscription&&) = delete;
  ~WorkSubscription() {
    if (active_) terrane_work_unsubscribe(work_);
  }

  // The next version; nothing: the stream has ended, and all its versions are done.
  std::optional<TakenVersion<T>> take() const {
    terrane_work_version open;
    int status = terrane_work_take(work_, TERRANE_FOREVER, &open);
    if (status == TERRANE_EENDED) return std::nullopt;
    check(status);
    return TakenVersion<T>(open);
  }
  // Nothing: none has come in time (TERRANE_TRY: now), or the stream has ended, which `ended` says.
  std::optional<TakenVersion<T>> take_for(std::chrono::nanoseconds time, bool& ended) const {
    terrane_work_version open;
    int status = terrane_work_take(work_, time.count(), &open);
    ended = status == TERRANE_EENDED;
    if (ended || status == TERRANE_EBUSY || status == TERRANE_ETIMEDOUT) return std::nullopt;
    check(status);
    return TakenVersion<T>(open);
  }
  // For poll(2); see terrane_work_descriptor.
  int descriptor() const {
    int fd = terrane_work_descriptor(work_);
    check(fd);
    return fd;
  }

 private:
  terrane_work work_;
  bool active_ = false;
};

// A work stream of elements that can be copied byte by byte. Copies name the same stream.
template <typename T>
class Work {
  static_assert(std::is_trivially_copyable_v<T>, "a version holds plain bytes");

 public:
  // Made now, or found where it exists just so: versions of at most `count` elements.
  Work(const Job&, const std::string& name, std::size_t count, const WorkOptions& options = {}) {
    if (count > SIZE_MAX / sizeof(T)) throw std::length_error("versions of so many elements");
    terrane_work_options given{.size = sizeof(terrane_work_options),
                               .home = options.home,
                               .in_order = options.in_order ? 1u : 0u,
                               .capacity = options.capacity};
    check(terrane_work_create(name.c_str(), count * sizeof(T), &given, &work_, nullptr));
  }
  // Waits until a node has created it.
  Work(const Job&, const std::string& name) {
    check(terrane_work_find(name.c_str(), TERRANE_FOREVER, &work_));
  }

  terrane_work handle() const { return work_; }
  // The greatest number of elements of a version.
  std::size_t size() const { return terrane_work_bytes(work_) / sizeof(T); }
  NewVersion<T> write() const {
    terrane_work_version open;
    check(terrane_work_write(work_, TERRANE_FOREVER, &open));
    return NewVersion<T>(open);
  }
  // Nothing: there was no room in time (TERRANE_TRY: now).
  std::optional<NewVersion<T>> write_for(std::chrono::nanoseconds time) const {
    terrane_work_version open;
    int status = terrane_work_write(work_, time.count(), &open);
    if (status == TERRANE_EBUSY || status == TERRANE_ETIMEDOUT) return std::nullopt;
    check(status);
    return NewVersion<T>(open);
  }
  WorkSubscription<T> subscribe(std::uint64_t credit_bytes) const {
    return WorkSubscription<T>(work_, credit_bytes);
  }
  // No more versions are written, by any node.
  void end() const { check(terrane_work_end(work_)); }
  // For poll(2); see terrane_work_writable_descriptor.
  int writable_descriptor() const {
    int fd = terrane_work_writable_descriptor(work_);
    check(fd);
    return fd;
  }

 private:
  terrane_work work_{};
};

// The next node that joined, left or died; nothing: none in time. See terrane_chunks_member.
inline std::optional<terrane_member_change> next_member_change(std::chrono::nanoseconds time) {
  terrane_member_change change;
  int status = terrane_chunks_member(time.count(), &change);
  if (status == TERRANE_EBUSY || status == TERRANE_ETIMEDOUT) return std::nullopt;
  check(status);
  return change;
}

inline terrane_chunk_counters counters() {
  terrane_chunk_counters read;
  check(terrane_chunks_counters(&read));
  return read;
}

}  // namespace terrane::chunks

#endif
