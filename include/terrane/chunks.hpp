// Terrane chunks for C++20: <terrane/chunks.h> with scopes that end by themselves. Header only.
//
//   terrane::chunks::Job job;                                  // joins, and leaves at its end
//   terrane::chunks::Chunk<float> field = job.create<float>("field", 1024);
//   {
//     auto scope = field.write();                              // a std::span<float>
//     std::fill(scope.begin(), scope.end(), 1.0f);
//   }                                                          // a version is made here
//
// What cannot be done throws Error, with the status and the sentence; a try answers std::nullopt.
#ifndef TERRANE_CHUNKS_HPP
#define TERRANE_CHUNKS_HPP
#if __cplusplus < 202002L && !(defined(__GNUC__) && __cplusplus >= 201709L)
#error "<terrane/chunks.hpp> needs C++20: compile with -std=c++20, or use <terrane/chunks.h>"
#else

#include <cxxabi.h>
#include <terrane/chunks.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <utility>

namespace terrane::chunks {

// A call that failed.
class Error : public std::runtime_error {
 public:
  explicit Error(int status) : std::runtime_error(terrane_chunks_error()), status_(status) {}
  int status() const { return status_; }  // a terrane_status

 private:
  int status_;
};

inline void check(int status) {
  if (status < 0) throw Error(status);
}

enum class Coherence {
  kInvalidate = TERRANE_CHUNK_INVALIDATE,
  kUpdate = TERRANE_CHUNK_UPDATE,
  kStream = TERRANE_CHUNK_STREAM,
  kOnce = TERRANE_CHUNK_ONCE
};
enum class Policy {
  kBlock = TERRANE_CHUNK_BLOCK,
  kLatest = TERRANE_CHUNK_LATEST,
  kDrop = TERRANE_CHUNK_DROP
};

// The name of a type for terrane_chunk_state_type; "" where the program has no type information
// (-fno-rtti).
template <typename T>
std::string type_name() {
#ifdef __cpp_rtti
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : typeid(T).name();
#else
  return {};
#endif
}

// Elements that mean bytes of any type: their type is not stated.
template <typename T>
inline constexpr bool kIsByte =
    std::is_same_v<std::remove_cv_t<T>, std::byte> || std::is_same_v<std::remove_cv_t<T>, char> ||
    std::is_same_v<std::remove_cv_t<T>, unsigned char>;

// An open scope: a view of the chunk's elements, until its end. Scope<const T> looks, Scope<T>
// changes, and makes a version when it ends.
template <typename T>
class Scope : public std::span<T> {
 public:
  explicit Scope(const terrane_scope& open)
      : std::span<T>(static_cast<T*>(open.data), open.bytes / sizeof(T)), open_(open) {}
  Scope(Scope&& other) noexcept
      : std::span<T>(other), open_(std::exchange(other.open_, terrane_scope{})) {}
  Scope& operator=(Scope&& other) noexcept {
    if (this == &other) return *this;
    finish();
    std::span<T>::operator=(other);
    open_ = std::exchange(other.open_, terrane_scope{});
    return *this;
  }
  ~Scope() { finish(); }

  // That it shows, or that the one to be written follows.
  std::uint64_t version() const { return open_.version; }
  // Of a version that was taken: how many were left out before it.
  std::uint64_t missed() const { return open_.missed; }
  // Of a version that was taken: the first element that may differ from the one taken before, by
  // its place in the chunk, and how many may.
  std::size_t changed_first() const { return open_.changed_offset / sizeof(T); }
  std::size_t changed_count() const {
    if (open_.changed_bytes == 0) return 0;
    return (open_.changed_offset + open_.changed_bytes - 1) / sizeof(T) + 1 - changed_first();
  }
  // Ends it before its time; the view must not be used any more.
  void release() {
    if (open_.id != 0) check(terrane_chunk_release(&open_));
  }

 private:
  void finish() noexcept {
    if (open_.id != 0) terrane_chunk_release(&open_);
  }
  terrane_scope open_;
};

// A subscription to a chunk; ends with this object, which its own handler may end, too. Move-only.
template <typename T>
class Subscription {
 public:
  using Handler = std::function<void(std::span<const T>, std::uint64_t version)>;

  // To these bytes of the chunk.
  Subscription(terrane_chunk chunk, std::size_t offset, std::size_t bytes, Policy policy,
               std::uint32_t window, Handler handler = {})
      : chunk_(chunk), handler_(handler ? std::make_shared<Kept>(std::move(handler)) : nullptr) {
    check(terrane_chunk_subscribe_range(chunk, offset, bytes,
                                        static_cast<terrane_chunk_policy>(policy), window,
                                        handler_ ? &Subscription::call : nullptr, handler_.get()));
    active_ = true;
  }
  Subscription(Subscription&& other) noexcept
      : chunk_(other.chunk_),
        handler_(std::move(other.handler_)),
        active_(std::exchange(other.active_, false)) {}
  Subscription& operator=(Subscription&&) = delete;
  ~Subscription() {
    if (active_) terrane_chunk_unsubscribe(chunk_);
  }

  // The next version that came; waits for it.
  Scope<const T> take() const {
    terrane_scope open;
    check(terrane_chunk_take(chunk_, TERRANE_FOREVER, &open));
    return Scope<const T>(open);
  }
  // Nothing: no version has come, or (TERRANE_EFULL) the window has no room for another one.
  std::optional<Scope<const T>> try_take() const { return take_within(TERRANE_TRY); }
  std::optional<Scope<const T>> take_for(std::chrono::nanoseconds time) const {
    return take_within(time.count());
  }
  // For poll(2); see terrane_chunk_descriptor.
  int descriptor() const {
    int fd = terrane_chunk_descriptor(chunk_);
    check(fd);
    return fd;
  }

 private:
  // The handler, and what it has captured, which stay until it has returned: it may end its own
  // subscription.
  struct Kept : std::enable_shared_from_this<Kept> {
    explicit Kept(Handler given) : handler(std::move(given)) {}
    Handler handler;
  };

  static void call(const terrane_scope* scope, void* context) {
    std::shared_ptr<Kept> kept = static_cast<Kept*>(context)->shared_from_this();
    kept->handler({static_cast<const T*>(scope->data), scope->bytes / sizeof(T)}, scope->version);
  }
  std::optional<Scope<const T>> take_within(std::int64_t timeout_ns) const {
    terrane_scope open;
    int status = terrane_chunk_take(chunk_, timeout_ns, &open);
    if (status == TERRANE_EBUSY || status == TERRANE_ETIMEDOUT || status == TERRANE_EFULL)
      return std::nullopt;
    check(status);
    return Scope<const T>(open);
  }

  terrane_chunk chunk_;
  std::shared_ptr<Kept> handler_;
  bool active_ = false;
};

// A chunk of elements that can be copied byte by byte, or a part of one. Copies name the same
// chunk.
template <typename T>
class Chunk {
  static_assert(std::is_trivially_copyable_v<T>, "a chunk holds plain bytes");

 public:
  explicit Chunk(terrane_chunk chunk) : chunk_(chunk), bytes_(terrane_chunk_bytes(chunk)) {}

  terrane_chunk handle() const { return chunk_; }
  std::size_t size() const { return bytes_ / sizeof(T); }
  // `count` elements from `first` on: its scopes show these, its subscriptions tell of changes
  // there. The chunk is held as a whole all the same: see terrane_chunk_open_range.
  Chunk part(std::size_t first, std::size_t count) const {
    if (count == 0 || first >= size() || count > size() - first)
      throw std::out_of_range("a part that is not in the chunk");
    return Chunk(chunk_, offset_ + first * sizeof(T), count * sizeof(T));
  }
  // Makes a version of these elements, which are all of the chunk or of the part.
  void publish(std::span<const T> elements) const {
    if (elements.size() != size()) throw std::length_error("as many elements as there are");
    check(terrane_chunk_publish(chunk_, offset_, bytes_, elements.data(), TERRANE_FOREVER));
  }

  Scope<const T> read() const { return Scope<const T>(open(TERRANE_CHUNK_READ)); }
  // Every element will be written; what the view holds before is not defined.
  Scope<T> write() const { return Scope<T>(open(TERRANE_CHUNK_WRITE)); }
  Scope<T> read_write() const { return Scope<T>(open(TERRANE_CHUNK_READ_WRITE)); }

  std::optional<Scope<const T>> try_read() const {
    return within<const T>(TERRANE_CHUNK_READ, TERRANE_TRY);
  }
  std::optional<Scope<T>> try_write() const { return within<T>(TERRANE_CHUNK_WRITE, TERRANE_TRY); }
  std::optional<Scope<T>> try_read_write() const {
    return within<T>(TERRANE_CHUNK_READ_WRITE, TERRANE_TRY);
  }
  std::optional<Scope<const T>> read_for(std::chrono::nanoseconds time) const {
    return within<const T>(TERRANE_CHUNK_READ, time.count());
  }
  std::optional<Scope<T>> write_for(std::chrono::nanoseconds time) const {
    return within<T>(TERRANE_CHUNK_WRITE, time.count());
  }
  std::optional<Scope<T>> read_write_for(std::chrono::nanoseconds time) const {
    return within<T>(TERRANE_CHUNK_READ_WRITE, time.count());
  }

  // See terrane_chunk_subscribe.
  Subscription<T> subscribe(Policy policy = Policy::kBlock, std::uint32_t window = 0) const {
    return Subscription<T>(chunk_, offset_, bytes_, policy, window);
  }
  Subscription<T> subscribe(Policy policy, std::uint32_t window,
                            typename Subscription<T>::Handler handler) const {
    return Subscription<T>(chunk_, offset_, bytes_, policy, window, std::move(handler));
  }
  // See terrane_chunk_hint.
  void hint(Coherence coherence) const {
    check(terrane_chunk_hint(chunk_, static_cast<terrane_chunk_coherence>(coherence),
                             TERRANE_FOREVER));
  }
  void drop() const { check(terrane_chunk_drop(chunk_)); }

 private:
  terrane_scope open(terrane_chunk_mode mode) const {
    terrane_scope scope;
    check(terrane_chunk_open_range(chunk_, mode, offset_, bytes_, TERRANE_FOREVER, &scope));
    return scope;
  }
  template <typename U>
  std::optional<Scope<U>> within(terrane_chunk_mode mode, std::int64_t timeout_ns) const {
    terrane_scope scope;
    int status = terrane_chunk_open_range(chunk_, mode, offset_, bytes_, timeout_ns, &scope);
    if (status == TERRANE_EBUSY || status == TERRANE_ETIMEDOUT) return std::nullopt;
    check(status);
    return Scope<U>(scope);
  }
  Chunk(terrane_chunk chunk, std::size_t offset, std::size_t bytes)
      : chunk_(chunk), offset_(offset), bytes_(bytes) {}

  terrane_chunk chunk_;
  std::size_t offset_ = 0, bytes_ = 0;
};

// Large data in pieces, which are chunks; see terrane_chain_create. Copies name the same chain.
template <typename T>
class Chain {
 public:
  explicit Chain(terrane_chain chain) : chain_(chain) {}

  // Elements, and pieces; others may append.
  std::size_t size() const { return look().bytes / sizeof(T); }
  std::size_t pieces() const { return look().pieces; }
  Chunk<T> piece(std::size_t index) const {
    terrane_chunk chunk;
    check(terrane_chain_piece(chain_, index, &chunk));
    return Chunk<T>(chunk);
  }
  // The first of the new pieces.
  std::size_t append(std::size_t count) const {
    if (count > SIZE_MAX / sizeof(T)) throw std::length_error("so many elements more");
    std::size_t first = 0;
    check(terrane_chain_append(chain_, count * sizeof(T), &first));
    return first;
  }

 private:
  terrane_chain_shape look() const {
    terrane_chain_shape shape;
    check(terrane_chain_look(chain_, &shape));
    return shape;
  }
  terrane_chain chain_;
};

// A lock, as long as this object lives.
class Lock {
 public:
  explicit Lock(const std::string& name) {
    check(terrane_chunk_lock(name.c_str(), TERRANE_FOREVER, &scope_));
  }
  Lock(const Lock&) = delete;
  ~Lock() { terrane_chunk_release(&scope_); }

 private:
  terrane_scope scope_;
};

// Waits until `count` threads have come; see terrane_chunk_barrier.
inline void barrier(const std::string& name, std::uint32_t count) {
  check(terrane_chunk_barrier(name.c_str(), count, TERRANE_FOREVER));
}
// How many signals there have been, this one among them.
inline std::uint64_t signal(const std::string& name) {
  std::uint64_t now = 0;
  check(terrane_chunk_signal(name.c_str(), &now));
  return now;
}
// Waits until there have been `count`.
inline std::uint64_t await(const std::string& name, std::uint64_t count) {
  std::uint64_t now = 0;
  check(terrane_chunk_await(name.c_str(), count, TERRANE_FOREVER, &now));
  return now;
}

// The job, joined as long as this object lives; once per process. It leaves at its end, as
// terrane_chunks_finalize does; where an exception ends it the process is to exit.
class Job {
 public:
  Job() { check(terrane_chunks_init()); }
  Job(const Job&) = delete;
  ~Job() {
    if (std::uncaught_exceptions() == exceptions_) terrane_chunks_finalize();
  }

  int node() const { return terrane_chunks_node(); }
  int nodes() const { return terrane_chunks_nodes(); }

  // `count` elements; made now, or found where it exists just so. Creating and finding a chunk
  // compares T with the type that the first node stated: its name, size and alignment (Error with
  // TERRANE_EMISMATCH). std::byte, char and unsigned char fit every chunk. `home`: a node, or
  // TERRANE_HOME_AT_FIRST_SUBSCRIBER; see terrane_chunk_create_at.
  template <typename T>
  Chunk<T> create(const std::string& name, std::size_t count,
                  Coherence coherence = Coherence::kInvalidate,
                  int home = TERRANE_HOME_BY_NAME) const {
    if (count > SIZE_MAX / sizeof(T)) throw std::length_error("a chunk of so many elements");
    terrane_chunk chunk;
    check(terrane_chunk_create_at(name.c_str(), count * sizeof(T),
                                  static_cast<terrane_chunk_coherence>(coherence), home, &chunk,
                                  nullptr));
    return typed<T>(chunk);
  }
  // Waits until somebody creates it.
  template <typename T>
  Chunk<T> find(const std::string& name) const {
    terrane_chunk chunk;
    check(terrane_chunk_find(name.c_str(), TERRANE_FOREVER, &chunk));
    return typed<T>(chunk);
  }
  template <typename T>
  std::optional<Chunk<T>> try_find(const std::string& name) const {
    terrane_chunk chunk;
    int status = terrane_chunk_find(name.c_str(), TERRANE_TRY, &chunk);
    if (status == TERRANE_EUNKNOWN) return std::nullopt;
    check(status);
    return typed<T>(chunk);
  }

  // `count` elements in pieces of `each`; made now, or found where it was made so.
  template <typename T>
  Chain<T> create_chain(const std::string& name, std::size_t count, std::size_t each,
                        Coherence coherence = Coherence::kInvalidate) const {
    if (count > SIZE_MAX / sizeof(T) || each > SIZE_MAX / sizeof(T))
      throw std::length_error("a chain of so many elements");
    terrane_chain chain;
    check(terrane_chain_create(name.c_str(), count * sizeof(T), each * sizeof(T),
                               static_cast<terrane_chunk_coherence>(coherence), &chain, nullptr));
    return typed<T>(chain);
  }
  // Waits until somebody has made it.
  template <typename T>
  Chain<T> find_chain(const std::string& name) const {
    terrane_chain chain;
    check(terrane_chain_find(name.c_str(), TERRANE_FOREVER, &chain));
    return typed<T>(chain);
  }

 private:
  template <typename T>
  static Chunk<T> typed(terrane_chunk chunk) {
    if constexpr (!kIsByte<T>)
      check(terrane_chunk_state_type(chunk, type_name<T>().c_str(), sizeof(T), alignof(T)));
    return Chunk<T>(chunk);
  }
  template <typename T>
  static Chain<T> typed(terrane_chain chain) {
    if constexpr (!kIsByte<T>)
      check(terrane_chain_state_type(chain, type_name<T>().c_str(), sizeof(T), alignof(T)));
    return Chain<T>(chain);
  }

  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace terrane::chunks

#include <terrane/work.hpp>

#endif
#endif
