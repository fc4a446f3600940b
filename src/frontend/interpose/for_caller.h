#pragma once

#include <cstdint>

namespace terrane::frontend {

// Whose memory the C library allocates while a function of it runs; looked at by the malloc of
// libterrane_threads.
enum class Allocates : std::uint8_t {
  kForItself,
  kForCaller,  // what the caller is to free (strdup, getcwd with NULL): in the caller's heap
  kForNode,    // a stream, which is good on this node alone: where other nodes have no memory
};

// While it lives the calling thread's allocations are of that kind.
class Allocating {
 public:
  explicit Allocating(Allocates kind) : before_(now()) { now() = kind; }
  ~Allocating() { now() = before_; }
  Allocating(const Allocating&) = delete;

  static Allocates& now() {
    static thread_local constinit Allocates kind __attribute__((tls_model("initial-exec"))) =
        Allocates::kForItself;
    return kind;
  }

 private:
  Allocates before_;
};

class ForCaller : public Allocating {
 public:
  ForCaller() : Allocating(Allocates::kForCaller) {}
};

class ForNode : public Allocating {
 public:
  ForNode() : Allocating(Allocates::kForNode) {}
};

}  // namespace terrane::frontend
