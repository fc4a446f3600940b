#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "platform/fault_signal.h"
#include "platform/kernel_refused.h"
#include "platform/make_source.h"
#include "platform/page_size.h"
#include "platform/sealed_pages.h"
#include "platform/userfault.h"

namespace terrane::platform {
namespace {

// What sources of one kind share.
struct Descriptors {
  Userfault userfault;
  PageScan pages;
  std::unique_ptr<SealedPages> seals;  // nullptr: a store to a protected page faults anyway
};

// The descriptors of a source: its own, or those of another one, which outlives it. No shared_ptr:
// its count reads a variable of the C library that may lie in a pane that nobody watches yet.
struct Opened {
  std::unique_ptr<const Descriptors> own;
  const Descriptors* used = nullptr;
};

// What both userfaultfd modes share: entering, zapping and protecting. Owns the signal route; the
// mapping is the caller's and outlives it.
class UffdSource : public FaultSource {
 public:
  UffdSource(Opened opened, FaultRoute route, DualMapping& mapping, Span part)
      : own_(std::move(opened.own)),
        used_(opened.used),
        route_(std::move(route)),
        mapping_(mapping),
        part_(part),
        view_(reinterpret_cast<std::uintptr_t>(mapping.app_at(part.offset)) - part.offset) {}

  void map(Span span, Access allowed) override {
    used_->userfault.enter(address(span), span.bytes, allowed == Access::kRead);
  }

  void remap(Span span) override { map(span, Access::kRead); }

  bool fill(Span span, const std::byte* source, Access allowed) override {
    bool write_protected = allowed == Access::kRead;
    std::uint64_t done = 0;
    while (done < span.bytes) {
      done += used_->userfault.copy_into_hole(address(span) + done, source + done,
                                              span.bytes - done, write_protected);
      if (done == span.bytes) break;
      if (errno != EEXIST) return false;
      // This page has memory from before.
      std::memcpy(mapping_.runtime() + span.offset + done, source + done, page_bytes());
      used_->userfault.enter(address(span) + done, page_bytes(), write_protected);
      done += page_bytes();
    }
    return true;
  }

  void protect(Span span) override {
    used_->userfault.set_write_protection(address(span), span.bytes, true);
  }

  void unprotect(Span span) override {
    used_->userfault.set_write_protection(address(span), span.bytes, false);
  }

  void share(Span span) override {
    map(span, Access::kRead);
    protect(span);
  }

  void zap(Span span) override {
    remove_entries({reinterpret_cast<std::byte*>(address(span)), span.bytes},
                   {reinterpret_cast<std::byte*>(address(part_)), part_.bytes});
  }

  int set_rights(Span span, int rights) override {
    return mprotect(reinterpret_cast<void*>(address(span)), span.bytes, rights);
  }

  const Descriptors* descriptors() const { return used_; }

 protected:
  // Where the application would see offset 0 if all lay as this part does.
  std::uintptr_t view() const { return view_; }
  const PageScan& pages() const { return used_->pages; }
  SealedPages& seals() const { return *used_->seals; }

 private:
  std::uintptr_t address(Span span) const { return view() + span.offset; }

  std::unique_ptr<const Descriptors> own_;
  const Descriptors* used_;
  FaultRoute route_;
  DualMapping& mapping_;
  Span part_;
  std::uintptr_t view_;
};

// The kernel notes writes (WP_ASYNC) and scan() asks for them (PAGEMAP_SCAN).
class UffdAsyncSource final : public UffdSource {
 public:
  using UffdSource::UffdSource;

  std::string_view name() const override { return "uffd-async"; }
  WriteDetection detection() const override { return WriteDetection::kScan; }
  bool enters_protected() const override { return true; }

  void map(Span span, Access allowed) override {
    seals().unseal(span);
    UffdSource::map(span, allowed);
  }

  bool fill(Span span, const std::byte* source, Access allowed) override {
    seals().unseal(span);
    return UffdSource::fill(span, source, allowed);
  }

  void unprotect(Span span) override {
    seals().unseal(span);
    UffdSource::unprotect(span);
  }

  void share(Span span) override {
    auto sealed = seals().seal(span);
    UffdSource::map(span, Access::kRead);
  }

  void zap(Span span) override {
    UffdSource::zap(span);
    seals().unseal(span);
  }

  int set_rights(Span span, int rights) override { return seals().set_rights(span, rights); }

  // The kernel keeps the protection of an entry that it removes. Nobody stores to such a page
  // before it is entered again.
  void remap(Span span) override {
    Span left = span;
    while (left.bytes > 0) {
      Span kept = pages().first_protected_gap(view(), left);
      if (kept.offset > left.offset) map({left.offset, kept.offset - left.offset}, Access::kWrite);
      if (kept.bytes > 0) map(kept, Access::kRead);
      std::uint64_t done = kept.offset + kept.bytes - left.offset;
      left = {left.offset + done, left.bytes - done};
    }
  }

  void scan(Span span, std::vector<Span>& written) override {
    pages().take_written(view(), span, written);
  }
  void look(Span span, std::vector<Span>& written) override {
    pages().look_written(view(), span, written);
  }
};

// The first write to a protected page faults.
class UffdSyncSource final : public UffdSource {
 public:
  UffdSyncSource(Opened opened, FaultRoute route, DualMapping& mapping, Span part,
                 bool enters_protected)
      : UffdSource(std::move(opened), std::move(route), mapping, part),
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

base::Result<Opened> open_descriptors(bool async_protect, const DualMapping& mapping,
                                      FaultSource* beside) {
  if (beside != nullptr) return Opened{nullptr, static_cast<UffdSource*>(beside)->descriptors()};
  auto userfault = Userfault::open(async_protect);
  if (!userfault) return userfault.error();
  std::unique_ptr<SealedPages> seals;
  if (async_protect) {
    auto created = SealedPages::create(mapping);
    if (!created) return created.error();
    seals = std::move(created).value();
  }
  auto own = std::make_unique<const Descriptors>(std::move(userfault).value(), PageScan(),
                                                 std::move(seals));
  const Descriptors* used = own.get();
  return Opened{std::move(own), used};
}

base::Result<> watch(const Descriptors& by, DualMapping& mapping, Span part) {
  std::byte* at = mapping.app_at(part.offset);
  if (auto watched = by.userfault.watch(at, part.bytes); !watched) return watched;
  if (mapping.panes().at_offset(part.offset) != nullptr &&
      mprotect(at, part.bytes, PROT_READ | PROT_WRITE) != 0)
    return base::errno_error("access to static data cannot be given (mprotect)");
  return {};
}

}  // namespace

base::Result<std::unique_ptr<FaultSource>> make_uffd_source(FaultSourceKind kind,
                                                            DualMapping& mapping, Span part,
                                                            FaultHandler handler, void* context,
                                                            FaultSource* beside) {
  bool async_protect = kind == FaultSourceKind::kUserfaultfdAsync;
  auto opened = open_descriptors(async_protect, mapping, beside);
  if (!opened) return opened.error();
  auto route = FaultRoute::open(mapping, part, FaultSignal::kBus, handler, context,
                                opened.value().used->seals.get());
  if (!route) return route.error();
  if (auto done = watch(*opened.value().used, mapping, part); !done) return done.error();
  if (async_protect)
    return std::unique_ptr<FaultSource>(std::make_unique<UffdAsyncSource>(
        std::move(opened).value(), std::move(route).value(), mapping, part));
  return std::unique_ptr<FaultSource>(
      std::make_unique<UffdSyncSource>(std::move(opened).value(), std::move(route).value(), mapping,
                                       part, kind == FaultSourceKind::kUserfaultfdSync));
}

}  // namespace terrane::platform
