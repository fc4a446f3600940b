#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "platform/mapping.h"

namespace terrane::bench {

enum class Detection { kAsync, kSync };

// The bare mechanisms under a shared space, without Terrane's fault sources or runtime: a dual
// mapping, a userfaultfd, and a SIGBUS handler of a few lines. Owns them; the handler is installed
// only while a RawSpace::Handler lives, so that a program that uses Terrane's own can measure both
// in one run. What the kernel refuses ends the program.
class RawSpace {
 public:
  static base::Result<std::unique_ptr<RawSpace>> create(Detection detection, std::size_t pages);
  ~RawSpace();
  RawSpace(const RawSpace&) = delete;
  RawSpace& operator=(const RawSpace&) = delete;

  // What a missing page takes: nothing (its memory is right already), a copy of `peer()` through
  // the runtime view, or a copy of it straight into a hole (UFFDIO_COPY). Write faults on present
  // pages lift the protection.
  enum class Fill { kNothing, kCopy, kCopyIntoHole };
  class Handler {
   public:
    Handler(RawSpace& space, Fill fill);
    ~Handler();
    Handler(const Handler&) = delete;
    Handler& operator=(const Handler&) = delete;

   private:
    struct sigaction before_;
  };

  void enter(std::size_t page, std::size_t count, bool write_protected);
  void set_protection(std::size_t page, std::size_t count, bool on);
  // Finds and protects the written pages; returns how many runs there were.
  std::size_t scan(std::size_t page, std::size_t count);
  void zap(std::size_t page, std::size_t count);
  void punch(std::size_t page, std::size_t count);
  void populate(std::size_t page, std::size_t count);

  std::size_t pages() const { return pages_; }
  volatile unsigned char& app(std::size_t page);
  std::byte* runtime(std::size_t page);
  // Another memory file of the same size, populated: the home that pages are fetched from.
  const std::byte* peer(std::size_t page) const;

 private:
  RawSpace() = default;

  static void on_sigbus(int, siginfo_t* info, void* context);
  void resolve(std::size_t page, bool wants_write);

  platform::DualMapping mapping_;
  platform::DualMapping peer_;
  std::size_t pages_ = 0;
  int userfault_ = -1;
  int pagemap_ = -1;
  Fill fill_ = Fill::kNothing;
};

}  // namespace terrane::bench
