#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "platform/mapping.h"

namespace terrane::platform {

enum class Access : std::uint8_t { kRead = 1, kWrite = 2 };

// How the first write to a protected page becomes known: the kernel notes it and scan() finds it
// later, or it faults.
enum class WriteDetection : std::uint8_t { kScan, kFault };

// What a fault handler says of an address of the application view.
enum class FaultVerdict : std::uint8_t {
  kRetry,    // the page is now accessible: run the instruction again
  kForeign,  // not ours to resolve: the program's earlier handler, or death, follows
  kFreed,    // the same; the memory was allocated once
  kGuard,    // the same; it lies below a thread's stack
};

// Called in the faulting thread, inside the signal handler, on the alternate stack where the thread
// has one; errno is saved around it. It must not touch the application view. `offset` is in bytes
// from the view's start.
using FaultHandler = FaultVerdict (*)(void* context, std::uint64_t offset, Access wanted);

// Controls the entries of one application view and turns accesses to missing or protected pages
// into calls of the handler. All operations are async-signal-safe, thread-safe, take ranges (one
// system call each where the range is contiguous), and end the process with a message when the
// kernel refuses what it accepted at start.
class FaultSource {
 public:
  virtual ~FaultSource() = default;

  virtual std::string_view name() const = 0;
  virtual WriteDetection detection() const = 0;
  // Whether map(kRead) enters a page protected in one step. Where not (before Linux 6.4), use
  // map(kWrite) alone and treat the page as written: another thread may write before protect().
  virtual bool enters_protected() const = 0;

  // Lets the application view see the span (which must be populated, or already written through the
  // runtime view). kRead: protected, the first write is detected. kWrite: writes pass unnoticed.
  // Entries that are there stay. Where scan() detects, a page mapped kWrite reads as written until
  // the scan that protects it: a miss that wants to write maps kWrite at once, and saves the 0.8 us
  // of the kernel's own fault on a protected page.
  virtual void map(Span span, Access allowed) = 0;
  // Enters pages again that were mapped kRead and protected again since, or may have been: the
  // kernel removes entries when it moves pages. What it removed protected enters protected. What it
  // removed unprotected may have been written, and scan() reports it. The caller lets no other
  // thread map the span meanwhile.
  virtual void remap(Span span) = 0;
  // Copies `source` (span.bytes; outside the application view) into pages that have no memory yet,
  // and maps them: one system call and no zeroing before. The cheap way to take a page for the
  // first time (measured: 1.9 us against 3.3 for copying through the runtime view and map(); in
  // runs of 16, 1.4 against 2.9 a page). A page that has memory already is copied through the
  // runtime view: right, but dearer than doing so at once. No thread may reach the span meanwhile.
  // False and errno when memory is short.
  virtual bool fill(Span span, const std::byte* source, Access allowed) = 0;
  // Detects the next write to entries that are there (missing ones stay missing).
  virtual void protect(Span span) = 0;
  // Lets writes pass again.
  virtual void unprotect(Span span) = 0;
  // Lets the view read the pages, which have memory: the next store to each faults, whatever
  // detection() says. Until map(kWrite), unprotect() or zap(). The caller lets no other thread
  // change what the view shows of the span meanwhile.
  virtual void share(Span span) = 0;
  // Removes the entries from the application view alone: the data stay in the memfd and in the
  // runtime view. Comes before the mapping's punch().
  virtual void zap(Span span) = 0;
  // kScan only: appends the runs of pages written since they were last protected, and protects them
  // again, in one atomic step a page. Pages mapped kWrite read as written until protected. Never
  // allocates while `written` has capacity left. Missing pages that were not protected when they
  // went, or were never there, are reported too, once: a written page whose entry the kernel
  // removes (to swap it out, to make or split a large page) looks just like them. So the caller
  // asks its own page states.
  virtual void scan(Span span, std::vector<Span>& written) = 0;
  // The same, but protects nothing: what it does not name had not been written when it began.
  virtual void look(Span span, std::vector<Span>& written) = 0;

  // mprotect for the program: what it forbids is no fault of the source, and share() and its end
  // keep it. 0, or -1 and errno: EACCES where rights are what the source works by. Not
  // async-signal-safe.
  virtual int set_rights(Span span, int rights) = 0;
};

enum class FaultSourceKind : std::uint8_t {
  kAutomatic,
  kUserfaultfdAsync,  // Linux 6.7
  kUserfaultfdSync,   // Linux 6.4
  kUserfaultfdLate,   // the same, but pages are protected only after they have entered: Linux 5.19
  kSigsegv,           // mprotect and SIGSEGV: anywhere, but faults cost more
};

// What the machine offers, asked once.
struct FaultSourceSupport {
  bool userfaultfd = false;      // SIGBUS mode + MISSING|MINOR|WP on memfds (Linux 5.19)
  bool enter_protected = false;  // entering pages protected (Linux 6.4)
  bool async_protect = false;    // WP_ASYNC and PAGEMAP_SCAN (Linux 6.7)
  std::string reason;  // why not all, with the command that mends it; empty when all are there

  bool has(FaultSourceKind kind) const;
};
FaultSourceSupport probe_fault_sources();

// Parses TERRANE_FAULT_SOURCE's values: auto, uffd-async, uffd-sync, uffd-late, sigsegv.
base::Result<FaultSourceKind> parse_fault_source(std::string_view text);

// The kind, if its sources enter pages protected and let each write to a protected page fault; else
// the best one here that does so.
FaultSourceKind synchronous_kind(FaultSourceKind kind);

// Registers `part` of the application view of `mapping` (which must outlive the source, and stay
// where it is) and installs the handler. Each part has one source, and is a pane or lies in the
// view; a part in the view may contain stretches that become panes later, with sources of their
// own, whose pages this source is not asked about. Up to 2,100 sources may live at once in a
// process: nullptr, or `beside`, another source of the same kind, whose descriptors it shares.
// Spans and offsets are the mapping's.
base::Result<std::unique_ptr<FaultSource>> make_fault_source(FaultSourceKind kind,
                                                             DualMapping& mapping, Span part,
                                                             FaultHandler handler, void* context,
                                                             FaultSource* beside = nullptr);
// The whole of it.
inline base::Result<std::unique_ptr<FaultSource>> make_fault_source(FaultSourceKind kind,
                                                                    DualMapping& mapping,
                                                                    FaultHandler handler,
                                                                    void* context) {
  return make_fault_source(kind, mapping, {0, mapping.bytes()}, handler, context);
}

// Gives the calling thread an alternate signal stack (sized from AT_MINSIGSTKSZ, with room for the
// protocol), if it has none; freed at thread exit. Cheap when done already.
void ensure_signal_stack();
// Whether the address lies on it. Async-signal-safe.
bool is_on_signal_stack(const void* at);

}  // namespace terrane::platform
