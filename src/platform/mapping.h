#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "platform/panes.h"

namespace terrane::platform {

// Where the shared space is mapped, the same on every node, and how large it is by default. Chosen
// per build: a sanitizer's shadow memory takes addresses away.
struct SpaceLayout {
  std::uintptr_t base;
  std::uint64_t bytes;
};
SpaceLayout default_space_layout();

// Whether this process could map so many bytes more at once, in any number of pieces.
bool address_space_has(std::uint64_t bytes);
// How much address space one mapping had better take at most: less under tools that shadow memory
// (sanitizers, valgrind).
std::uint64_t comfortable_mapping_bytes();

// mmap(2) of readable and writable memory that never takes memory at once, nor is locked, whatever
// the program has asked for by mlockall(MCL_FUTURE). MAP_FAILED and errno.
void* map_sparse(void* address, std::uint64_t bytes, int flags, int fd) noexcept;

// The process is about to have a limit of the size of files (RLIMIT_FSIZE): from now on memory
// files are written through their mappings, where the kernel does not ask for it.
// Async-signal-safe.
void expect_file_size_limit() noexcept;

// Which pages the kernel may give to a memory file. The file carries it, and every mapping of it,
// by whichever process, obeys it (decision 53).
enum class PageSizes : std::uint8_t {
  kSmall,  // page by page: what is watched, counted and given back by the page, or sparse
  kAny,    // large ones as well, as the machine's settings say or on request: used as a whole
};

// A memfd mapped twice (ArgoDSM-style dual view; design: docs/design/architecture.md). The
// application view sits at a fixed address, starts without any entry and faults; the runtime view
// is always readable and writable, and what is written through it does not make the application
// view dirty. Stretches of the application view may lie elsewhere, as panes. Sparse: only touched
// pages take memory. All views are MADV_DONTFORK, and a core file has of them what was asked to
// show_in_core(). Owns the descriptor and both mappings; panes stay until the process ends.
class DualMapping {
 public:
  DualMapping() = default;
  DualMapping(DualMapping&&) noexcept;
  DualMapping& operator=(DualMapping&&) noexcept;
  ~DualMapping();

  // `app_address`: the fixed address (never over an existing mapping), or nullptr for any.
  static base::Result<DualMapping> create(std::uint64_t bytes, void* app_address, const char* name);

  std::byte* app() const { return app_; }
  // Where the application sees the byte at this offset.
  std::byte* app_at(std::uint64_t offset) const {
    const Pane* pane = panes_.at_offset(offset);
    return pane == nullptr ? app_ + offset : pane->address + (offset - pane->span.offset);
  }
  // The offset of what the application sees at [address, address + bytes); none where that is not
  // one stretch of the view. Async-signal-safe.
  std::optional<std::uint64_t> offset_of(const void* address, std::uint64_t bytes) const;
  std::byte* runtime() const { return runtime_; }
  std::uint64_t bytes() const { return bytes_; }
  int fd() const { return fd_.get(); }

  // From now on the application sees the span at `address`, in place of what was mapped there, and
  // no longer in the view. Whole pages, of which no fault source has entered any yet, and in no
  // other pane. Access to them begins with the pane's fault source; no thread may touch either
  // place before. By one thread at a time.
  base::Result<> place(Span span, void* address);
  const Panes& panes() const { return panes_; }

  // Backs the span with zeroed memory where it has none yet. Fails cleanly (never SIGBUS) when
  // memory is short. Async-signal-safe but for the error's text; `false` and errno.
  bool populate(Span span) noexcept;
  // The same, but nothing is entered in the runtime view, whose first touch of each page then costs
  // a fault: half the cost for what is to be written by write(), or by the application alone.
  bool reserve(Span span) noexcept;
  // A core file has the span of the application view, and what lies beside it in the same 64 MiB:
  // the kernel looks at every page of what it dumps, and makes it, too, in a view that does not
  // fault. Cheap where that was done before. Async-signal-safe, any thread.
  void show_in_core(Span span) noexcept;
  // Writes bytes to memory that was reserved or populated, past the views where it may.
  void write(std::uint64_t offset, const std::byte* from, std::uint64_t bytes) noexcept;
  // Gives the memory of a span that was zapped back to the machine; both views read zeros (runtime)
  // or fault (application) afterwards.
  void punch(Span span) noexcept;

 private:
  std::byte* app_ = nullptr;
  std::byte* runtime_ = nullptr;
  std::uint64_t bytes_ = 0;
  base::UniqueFd fd_;
  Panes panes_;
  bool reserves_large_ = false;           // the kernel reserves large pages for this file
  std::vector<std::atomic<bool>> shown_;  // by 64 MiB
};

// One shared mapping of a descriptor (a peer's memfd, or our own), readable and writable. Owns the
// mapping only; children of fork do not have it, and a core file has what was asked to
// show_in_core().
class SharedMapping {
 public:
  SharedMapping() = default;
  SharedMapping(SharedMapping&&) noexcept;
  SharedMapping& operator=(SharedMapping&&) noexcept;
  ~SharedMapping();

  // The descriptor may come from another process: an error unless it is a memory file of at least
  // so many bytes that nobody can make smaller. At a multiple of `alignment`, a power of two; 0: of
  // a page.
  static base::Result<SharedMapping> map(int fd, std::uint64_t bytes, std::uint64_t alignment = 0);
  std::byte* data() const { return data_; }
  std::uint64_t bytes() const { return bytes_; }
  // A core file has the first so many bytes, from now on. Not thread-safe; cheap where that was
  // done before.
  void show_in_core(std::uint64_t end) noexcept;

 private:
  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t shown_ = 0;
};

// Backs page-aligned shared memory with zeroed memory where it has none yet, and enters it in this
// mapping. False, with errno, when memory is short (never SIGBUS).
bool populate(std::byte* at, std::uint64_t bytes) noexcept;

// What large pages are aligned to, in the mapping and in its file.
inline constexpr std::uint64_t kLargePage = std::uint64_t{2} << 20;
// populate() for memory that is used as a whole: in large pages where `large` says so. One fault
// enters 2 MiB then, in the mapping of each process. `large` becomes false when the kernel has no
// more of them, or they take long; small pages take their place.
bool populate_large(std::byte* at, std::uint64_t bytes, bool& large) noexcept;

// An anonymous sparse memory file of `bytes`, close-on-exec.
base::Result<int> create_memfd(std::uint64_t bytes, const char* name,
                               PageSizes sizes = PageSizes::kSmall);
// Gives the memory of a span of such a file back to the machine: it reads as zeros afterwards.
void punch_hole(int fd, Span span) noexcept;

}  // namespace terrane::platform
