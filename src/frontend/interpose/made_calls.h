#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/cancelling.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"

// What the functions do that scripts/process_state.py makes: they call the C library's, with copies
// of what the kernel reads and writes where that lies in shared memory, on the node that the call
// is about. Attributes inline all of it: a compiler that has hundreds of such functions in one file
// stops inlining by itself, which costs two nanoseconds a call.
namespace terrane::frontend::made {

// Kinds of arguments, as the program gives them. Of: a descriptor, a stream or a folder, on whose
// node the call is made.
template <typename T>
struct Of {
  T given;
};
// A text or a path that the kernel reads.
struct Path {
  const char* given;
};
// Something that the kernel reads, two of them, or bytes.
template <typename T>
struct From {
  const T* given;
};
template <typename T>
struct Two {
  const T* given;
};
template <typename T>
struct Bytes {
  const T* given;
  std::size_t bytes;
};
// Something that the kernel writes; Both: and reads before.
template <typename T>
struct To {
  T* given;
};
template <typename T>
struct Both {
  T* given;
};
// Bytes that the kernel writes, as many as its result says; 0 bytes of room: how many there are.
template <typename T>
struct Filled {
  T* given;
  std::size_t room;
};
template <typename T>
Of(T) -> Of<T>;
template <typename T>
From(const T*) -> From<T>;
template <typename T>
Two(const T*) -> Two<T>;
template <typename T>
Bytes(const T*, std::size_t) -> Bytes<T>;
template <typename T>
Filled(T*, std::size_t) -> Filled<T>;
template <typename T>
To(T*) -> To<T>;
template <typename T>
Both(T*) -> Both<T>;

template <typename T>
T given(T number) {
  return number;
}
template <typename T>
requires requires(T kind) { kind.given; }
auto given(T kind) { return kind.given; }

// An argument that is handed on as it is.
template <typename T>
class Plain {
 public:
  explicit Plain(T value) : value_(value) {}
  T get() const { return value_; }

 private:
  T value_;
};

template <typename T>
class OwnTwo {
 public:
  explicit OwnTwo(const T* from) : own_(reinterpret_cast<const Pair*>(from)) {}
  const T* get() const { return reinterpret_cast<const T*>(own_.get()); }

 private:
  struct Pair {
    T both[2];
  };
  In<Pair> own_;
};

template <typename T>
class OwnBytes {
 public:
  explicit OwnBytes(Bytes<T> from) : own_(from.given, from.bytes) {}
  const T* get() const { return static_cast<const T*>(own_.get()); }

 private:
  InBytes own_;
};

template <typename T>
class OwnFilled {
 public:
  explicit OwnFilled(Filled<T> to)
      : own_(to.given, std::min(to.room, kMostBytes)), asks_(to.room == 0) {}
  T* get() const { return static_cast<T*>(own_.get()); }
  ssize_t done(ssize_t result) {
    return own_.done(result, asks_ || result < 0 ? 0 : static_cast<std::size_t>(result));
  }

 private:
  static constexpr std::size_t kMostBytes = 65536;  // XATTR_SIZE_MAX, XATTR_LIST_MAX

  OutBytes own_;
  bool asks_;
};

// What the C library's function gets of each kind.
template <typename T>
Plain<T> own(T number) {
  return Plain<T>(number);
}
template <typename T>
Plain<T> own(Of<T> of) {
  return Plain<T>(of.given);
}
inline InPath own(Path path) { return InPath(path.given); }
template <typename T>
In<T> own(From<T> from) {
  return In<T>(from.given);
}
template <typename T>
OwnTwo<T> own(Two<T> from) {
  return OwnTwo<T>(from.given);
}
template <typename T>
OwnBytes<T> own(Bytes<T> from) {
  return OwnBytes<T>(from);
}
template <typename T>
OwnFilled<T> own(Filled<T> to) {
  return OwnFilled<T>(to);
}
template <typename T>
Out<T> own(To<T> to) {
  return Out<T>(to.given);
}
template <typename T>
InOut<T> own(Both<T> both) {
  return InOut<T>(both.given);
}

// Hands what the kernel has written to the program. The call's result.
template <typename Own, typename Result>
[[gnu::always_inline]] inline Result done(Own& own, Result result) {
  if constexpr (requires { own.done(result); }) return own.done(result);
  return result;
}

// function(arguments...) with copies where they are needed.
template <typename Function, typename... Owns>
[[gnu::always_inline]] inline auto with_own(Function function, Owns&&... owns) {
  if constexpr (std::is_void_v<decltype(function(owns.get()...))>) {
    function(owns.get()...);
  } else {
    auto result = function(owns.get()...);
    ((result = done(owns, result)), ...);
    return result;
  }
}

// What the call is about: the one argument Of; a number: nothing.
inline int about() { return -1; }
template <typename T, typename... More>
auto about(Of<T> of, More...) {
  return of;
}
template <typename First, typename... More>
auto about(First, More... more) {
  return about(more...);
}

// The function on the node of what it is about, or `here`.
template <typename Result, typename... Parameters, typename Here, typename... Kinds>
[[gnu::always_inline]] inline Result on_its_node(Result (*function)(Parameters...), Here here,
                                                 Kinds... kinds) {
  auto of = about(kinds...);
  if constexpr (requires { of.given; }) {
    if (is_elsewhere(of.given)) return call_elsewhere(of.given, function, given(kinds)...);
  }
  return here();
}

struct ForNobody {};

// The C library's function of that name. Memory: whose memory it allocates.
template <Name kName, typename Memory = ForNobody, typename Result, typename... Parameters,
          typename... Kinds>
[[gnu::always_inline]] inline Result called(Result (*function)(Parameters...), Kinds... kinds) {
  return on_its_node(
      function,
      [=]() __attribute__((always_inline)) {
        [[maybe_unused]] Memory memory;
        return with_own(Next<kName, Result(Parameters...)>::get(), own(kinds)...);
      },
      kinds...);
}

// The same of a function that opens a descriptor or a stream, whose number says its node.
template <Name kName, typename Memory = ForNobody, typename Result, typename... Parameters,
          typename... Kinds>
[[gnu::always_inline]] inline Result opened(Result (*function)(Parameters...), Kinds... kinds) {
  return on_its_node(
      function,
      [=]() __attribute__((always_inline)) {
        [[maybe_unused]] Memory memory;
        return adopt(with_own(Next<kName, Result(Parameters...)>::get(), own(kinds)...));
      },
      kinds...);
}

// The same of a function that waits, in which threads can be cancelled.
template <Name kName, typename Result, typename... Parameters, typename... Kinds>
[[gnu::always_inline]] inline Result waited(Result (*function)(Parameters...), Kinds... kinds) {
  auto of = about(kinds...);
  if constexpr (requires { of.given; }) {
    if (is_elsewhere(of.given))
      return cancellable([=] { return call_elsewhere(of.given, function, given(kinds)...); });
  }
  return with_own(
      [](Parameters... arguments) {
        return cancellable([&] { return Next<kName, Result(Parameters...)>::get()(arguments...); });
      },
      own(kinds)...);
}

}  // namespace terrane::frontend::made
