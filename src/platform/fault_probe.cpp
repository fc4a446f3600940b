#include <fmt/format.h>
#include <sys/mman.h>

#include "platform/fault_source.h"
#include "platform/page_scan.h"
#include "platform/page_size.h"
#include "platform/userfault.h"

namespace terrane::platform {
namespace {

constexpr const char* kNewerKernel =
    "(Debian 12: apt install -t bookworm-backports linux-image-amd64)";

base::Result<void> try_mode(bool async_protect) {
  auto mapping = DualMapping::create(page_bytes(), nullptr, "terrane-probe");
  if (!mapping) return mapping.error();
  auto userfault = Userfault::open(async_protect);
  if (!userfault) return userfault.error();
  if (auto done = userfault.value().watch(mapping.value().app(), page_bytes()); !done) {
    return done.error();
  }
  if (!mapping.value().populate({0, page_bytes()})) return base::errno_error("no memory");
  // Entering a page first and protecting it after would lose the writes in between: there is no way
  // around this.
  auto page = reinterpret_cast<std::uintptr_t>(mapping.value().app());
  if (!userfault.value().can_enter_protected(page)) {
    return base::error(
        "this kernel cannot enter a page write-protected; it takes Linux 6.4 or later {}",
        kNewerKernel);
  }
  if (async_protect && !PageScan().available()) {
    return base::error(
        "this kernel lacks PAGEMAP_SCAN, or /proc is not mounted; it takes Linux 6.7 or later {}",
        kNewerKernel);
  }
  return {};
}

FaultSourceSupport probe() {
  FaultSourceSupport support;
  auto sync = try_mode(false);
  support.userfaultfd = sync.ok();
  auto async_protect = sync.ok() ? try_mode(true) : sync;
  support.async_protect = async_protect.ok();
  if (!async_protect) support.reason = async_protect.error().message;
  return support;
}

}  // namespace

FaultSourceSupport probe_fault_sources() {
  static const FaultSourceSupport support = probe();
  return support;
}

base::Result<FaultSourceKind> parse_fault_source(std::string_view text) {
  if (text == "auto") return FaultSourceKind::kAutomatic;
  if (text == "uffd-async") return FaultSourceKind::kUserfaultfdAsync;
  if (text == "uffd-sync") return FaultSourceKind::kUserfaultfdSync;
  return base::error("unknown fault source \"{}\": auto, uffd-async and uffd-sync are known", text);
}

}  // namespace terrane::platform
