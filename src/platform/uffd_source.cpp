#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "platform/fault_signal.h"
#include "platform/kernel_refused.h"
#include "platform/make_source.h"
#include "platform/page_size.h"
#include "platform/userfault.h"

namespace terrane::platform {
namespace {

// What both userfaultfd modes share: entering, zapping and protecting. Owns the descriptor and the
// signal route; the mapping is the caller's and outlives it.
class UffdSource : public FaultSource {
 public:
  UffdSource(Userfault userfault, FaultRoute route, DualMapping& mapping, Span part)
      : userfault_(std::move(userfault)),
        route_(std::move(route)),
        mapping_(mapping),
        part_(part),
        view_(reinterpret_cast<std::uintptr_t>(mapping.app_at(part.offset)) - part.offset) {}

  void map(Span span, Access allowed) override {
    userfault_.enter(address(span), span.bytes, allowed == Access::kRead);
  }

  void remap(Span span) override { map(span, Access::kRead); }

  bool fill(Span span, const std::byte* source, Access allowed) override {
    bool write_protected = allowed == Access::kRead;
    std::uint64_t done = 0;
    while (done < span.bytes) {
      done += userfault_.copy_into_hole(address(span) + done, source + done, span.bytes - done,
                                        write_protected);
      if (done == span.bytes) break;
      if (errno != EEXIST) return false;
      // This page has memory from before.
      std::memcpy(mapping_.runtime() + span.offset + done, source + done, page_bytes());
      userfault_.enter(address(span) + done, page_bytes(), write_protected);
      done += page_bytes();
    }
    return true;
  }

  void protect(Span span) override {
    userfault_.set_write_protection(address(span), span.bytes, true);
  }

  void unprotect(Span span) override {
    userfault_.set_write_protection(address(span), span.bytes, false);
  }

  void zap(Span span) override {
    bool unlocked = false;
    while (madvise(reinterpret_cast<void*>(address(span)), span.bytes, MADV_DONTNEED) != 0) {
      if (errno == EAGAIN || errno == EINTR) continue;
      // The program has locked memory, past our mlock.
      if (errno != EINVAL || std::exchange(unlocked, true) ||
          munlock(reinterpret_cast<void*>(address(part_)), part_.bytes) != 0)
        kernel_refused("MADV_DONTNEED", address(span), errno);
    }
  }

 protected:
  // Where the application would see offset 0 if all lay as this part does.
  std::uintptr_t view() const { return view_; }

 private:
  std::uintptr_t address(Span span) const { return view() + span.offset; }

  Userfault userfault_;
  FaultRoute route_;
  DualMapping& mapping_;
  Span part_;
  std::uintptr_t view_;
};

// The kernel notes writes (WP_ASYNC) and scan() asks for them (PAGEMAP_SCAN).
class UffdAsyncSource final : public UffdSource {
 public:
  UffdAsyncSource(Userfault userfault, FaultRoute route, DualMapping& mapping, Span part,
                  PageScan pages)
      : UffdSource(std::move(userfault), std::move(route), mapping, part),
        pages_(std::move(pages)) {}

  std::string_view name() const override { return "uffd-async"; }
  WriteDetection detection() const override { return WriteDetection::kScan; }
  bool enters_protected() const override { return true; }

  // The kernel keeps the protection of an entry that it removes. Nobody stores to such a page
  // before it is entered again.
  void remap(Span span) override {
    Span left = span;
    while (left.bytes > 0) {
      Span kept = pages_.first_protected_gap(view(), left);
      if (kept.offset > left.offset) map({left.offset, kept.offset - left.offset}, Access::kWrite);
      if (kept.bytes > 0) map(kept, Access::kRead);
      std::uint64_t done = kept.offset + kept.bytes - left.offset;
      left = {left.offset + done, left.bytes - done};
    }
  }

  void scan(Span span, std::vector<Span>& written) override {
    pages_.take_written(view(), span, written);
  }
  void look(Span span, std::vector<Span>& written) override {
    pages_.look_written(view(), span, written);
  }

 private:
  PageScan pages_;
};

// The first write to a protected page faults.
class UffdSyncSource final : public UffdSource {
 public:
  UffdSyncSource(Userfault userfault, FaultRoute route, DualMapping& mapping, Span part,
                 bool enters_protected)
      : UffdSource(std::move(userfault), std::move(route), mapping, part),
        enters_protected_(enters_protected) {}

  std::string_view name() const override { return enters_protected_ ? "uffd-sync" : "uffd-late"; }
  WriteDetection detection() const override { return WriteDetection::kFault; }
  bool enters_protected() const override { return enters_protected_; }

  void map(Span span, Access allowed) override {
    if (!enters_protected_ && allowed == Access::kRead)
      kernel_refused("entering a page protected", view() + span.offset, ENOTSUP);
    UffdSource::map(span, allowed);
  }

  void look(Span span, std::vector<Span>& written) override { scan(span, written); }
  void scan(Span span, std::vector<Span>&) override {
    kernel_refused("a scan in uffd-sync mode", view() + span.offset, ENOTSUP);
  }

 private:
  bool enters_protected_;
};

}  // namespace

base::Result<std::unique_ptr<FaultSource>> make_uffd_source(FaultSourceKind kind,
                                                            DualMapping& mapping, Span part,
                                                            FaultHandler handler, void* context) {
  bool async_protect = kind == FaultSourceKind::kUserfaultfdAsync;
  auto userfault = Userfault::open(async_protect);
  if (!userfault) return userfault.error();
  auto route = FaultRoute::open(mapping, part, FaultSignal::kBus, handler, context);
  if (!route) return route.error();
  if (auto done = userfault.value().watch(mapping.app_at(part.offset), part.bytes); !done) {
    return done.error();
  }
  if (!async_protect) {
    return std::unique_ptr<FaultSource>(
        std::make_unique<UffdSyncSource>(std::move(userfault).value(), std::move(route).value(),
                                         mapping, part, kind == FaultSourceKind::kUserfaultfdSync));
  }
  return std::unique_ptr<FaultSource>(std::make_unique<UffdAsyncSource>(
      std::move(userfault).value(), std::move(route).value(), mapping, part, PageScan()));
}

}  // namespace terrane::platform
