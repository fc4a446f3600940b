#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/check.h"
#include "protocol/steps/atomic.h"
#include "protocol/steps/effects.h"
#include "protocol/steps/step_kinds.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {

template <typename T = void>
class Task;

// One operation of one thread, from start to end. It is suspended at a step, which the host
// performs before it resumes the operation. Owns the memory of the operation's coroutine frames: no
// allocation, so an operation may run in a signal handler.
class Strand {
 public:
  explicit Strand(WaiterId waiter) : waiter_(waiter) {}
  Strand(const Strand&) = delete;
  Strand& operator=(const Strand&) = delete;

  WaiterId waiter() const { return waiter_; }

  // Starts an operation of this strand, which runs up to its first step. At most one at a time: the
  // strand knows where one operation goes on.
  template <typename T>
  void start(Task<T>& task) {
    TERRANE_CHECK(frames_in_use_ <= 1, "a thread begins no operation inside another");
    task.handle_.promise().continuation = std::noop_coroutine();
    leaf_ = task.handle_;
    leaf_.resume();
  }
  // The step to perform. The host puts the result into it, and then calls move_on().
  Step& step() { return step_; }
  const Step& step() const { return step_; }
  void move_on() { leaf_.resume(); }

  // The bytes that came with the result of a Call: the host sets them, the operation takes them.
  void set_answer(const std::byte* from, std::size_t bytes) { answer_.assign(from, from + bytes); }
  std::vector<std::byte> take_answer() { return std::exchange(answer_, {}); }
  // Whether a posted difference may be on its way to a home: an AwaitFlush has to follow.
  bool has_posted() const { return posted_; }
  void set_posted(bool posted) { posted_ = posted; }

  // Suspends the coroutine at a step; co_await returns the result of the step, if it has one.
  template <typename Kind>
  struct Awaiter {
    Strand& strand;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> leaf) noexcept { strand.leaf_ = leaf; }
    auto await_resume() const noexcept {
      if constexpr (requires(Kind kind) { kind.result; })
        return std::get_if<Kind>(&strand.step_)->result;
    }
  };
  template <typename Kind>
  Awaiter<Kind> perform(Kind step) {
    step_.template emplace<Kind>(step);
    return {*this};
  }
  auto pause() { return perform(Pause{}); }
  auto yield() { return perform(Pause{.yields = true}); }
  auto wait(std::atomic<std::uint32_t>& word, std::uint32_t value) {
    return perform(Wait{&word, value});
  }
  auto wake(std::atomic<std::uint32_t>& word) { return perform(Wake{&word}); }
  auto call(const Event& event) { return perform(Call{&event}); }
  auto tell(const Event& event) { return perform(Tell{&event}); }

  void* allocate(std::size_t bytes) {
    bytes = (bytes + 15) & ~std::size_t{15};
    TERRANE_CHECK(used_ + bytes <= sizeof frames_, "an operation nests too deep");
    void* at = frames_ + used_;
    used_ += bytes;
    ++frames_in_use_;
    return at;
  }
  void release(std::size_t bytes) {
    used_ -= (bytes + 15) & ~std::size_t{15};
    --frames_in_use_;
  }

 private:
  WaiterId waiter_;
  Step step_;
  std::coroutine_handle<> leaf_;
  std::vector<std::byte> answer_;
  bool posted_ = false;
  std::size_t used_ = 0;
  std::uint32_t frames_in_use_ = 0;
  alignas(16) std::byte frames_[8192];
};

namespace detail {

// What promise_type has for each Task: its frames are in the strand's memory, and `continuation` is
// resumed when the task ends.
struct PromiseBase {
  std::coroutine_handle<> continuation;

  // An operation is a member function whose first argument is its strand.
  template <typename Self, typename... Args>
  static void* operator new(std::size_t bytes, Self&, Strand& strand, Args&&...) {
    void* at = strand.allocate(bytes + kHeader);
    *static_cast<Strand**>(at) = &strand;
    return static_cast<std::byte*>(at) + kHeader;
  }
  static void operator delete(void* frame, std::size_t bytes) {
    auto* at = static_cast<std::byte*>(frame) - kHeader;
    (*reinterpret_cast<Strand**>(at))->release(bytes + kHeader);
  }

  struct Final {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> done) const noexcept {
      return done.promise().continuation;
    }
    void await_resume() const noexcept {}
  };
  std::suspend_always initial_suspend() const noexcept { return {}; }
  Final final_suspend() const noexcept { return {}; }
  [[noreturn]] void unhandled_exception() const {
#ifdef TERRANE_INSTRUMENTED
    throw;  // a broken invariant, on its way to the simulator
#else
    base::check_failed("no exception", __FILE__, __LINE__, "an exception in an operation");
#endif
  }

 private:
  static constexpr std::size_t kHeader = 16;
};

template <typename T>
struct PromiseOf : PromiseBase {
  T value{};
  void return_value(T v) { value = v; }
};
template <>
struct PromiseOf<void> : PromiseBase {
  void return_void() const {}
};

}  // namespace detail

// An operation, or a part of one: a coroutine that is suspended at each step. To await a part runs
// it to its end.
template <typename T>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::PromiseOf<T> {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool done() const { return handle_.done(); }
  T value() const {
    if constexpr (!std::is_void_v<T>) return handle_.promise().value;
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().continuation = caller;
    return handle_;
  }
  T await_resume() const noexcept { return value(); }

 private:
  friend class Strand;
  explicit Task(std::coroutine_handle<promise_type> handle) : handle_(handle) {}

  std::coroutine_handle<promise_type> handle_;
};

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
