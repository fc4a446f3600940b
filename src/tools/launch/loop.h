#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace terrane::tools {

class Timer;

// Waits for descriptors and times, and calls who asked for them. Owns the handlers, not the
// descriptors. One thread; a handler may watch, change and forget any descriptor.
class Loop {
 public:
  using Handler = std::function<void(std::uint32_t events)>;

  static base::Result<std::unique_ptr<Loop>> create();

  // `events`: EPOLLIN and so on. False, with errno: it cannot be watched (EPERM: a regular file).
  bool watch(int fd, std::uint32_t events, Handler handler);
  void change(int fd, std::uint32_t events);
  // Before the descriptor is closed. Nothing happens where it is not watched.
  void forget(int fd);

  // Waits for the next events or time and handles them: descriptors first, then what is due.
  void turn();

 private:
  friend class Timer;

  // A descriptor's number serves another one as soon as it is closed; what epoll tells is of the
  // watch that it names.
  struct Watch {
    std::uint32_t number;
    std::shared_ptr<Handler> handler;
  };

  bool control(int operation, int fd, std::uint32_t events, std::uint32_t watch);
  int wait_ms() const;
  void fire_due();

  base::UniqueFd epoll_;
  std::unordered_map<int, Watch> watches_;
  std::uint32_t watches_begun_ = 0;
  std::vector<Timer*> timers_;
};

// Calls its handler once at a time that can be moved or taken back. Registered with a loop that
// outlives it.
class Timer {
 public:
  Timer(Loop& loop, std::function<void()> handler);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void set_in(std::uint64_t ms);
  void clear() { at_ms_ = 0; }
  bool is_set() const { return at_ms_ != 0; }

 private:
  friend class Loop;

  Loop& loop_;
  std::function<void()> handler_;
  std::uint64_t at_ms_ = 0;  // 0: never
};

// CLOCK_MONOTONIC.
std::uint64_t now_ms();

}  // namespace terrane::tools
