#pragma once

#include <cstdint>

#include "platform/wait.h"

namespace terrane::waiting {

// When the waiting thread reports a long wait: after the limit, and again each time that the wait
// has lasted twice as long. One object for each wait; the wait begins with the first call of due(),
// and costs nothing before. The limit holds for the process: TERRANE_PATIENCE, set when the options
// are read.
class Patience {
 public:
  static void set_ms(std::uint64_t ms) { limit_ms() = ms; }  // 0: no wait is reported
  static std::uint64_t limit_ns() { return limit_ms() * 1'000'000; }

  // The seconds that the wait has lasted, if they are to be reported now; otherwise 0.
  double due() {
    std::uint64_t now = platform::now_ns();
    if (due_ns_ == 0) {
      begin_ns_ = now;
      due_ns_ = limit_ms() == 0 ? ~0ull : now + limit_ms() * 1'000'000;
    }
    if (now < due_ns_) return 0;
    due_ns_ = begin_ns_ + 2 * (due_ns_ - begin_ns_);
    return static_cast<double>(now - begin_ns_) * 1e-9;
  }

 private:
  static std::uint64_t& limit_ms() {
    static std::uint64_t one = 30'000;
    return one;
  }

  std::uint64_t begin_ns_ = 0, due_ns_ = 0;
};

}  // namespace terrane::waiting
