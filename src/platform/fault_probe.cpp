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

enum class Mode { kPlain, kEnterProtected, kAsyncProtect };

base::Result<void> try_mode(Mode mode) {
  auto mapping = DualMapping::create(page_bytes(), nullptr, "terrane-probe");
  if (!mapping) return mapping.error();
  auto userfault = Userfault::open(mode == Mode::kAsyncProtect);
  if (!userfault) return userfault.error();
  if (auto done = userfault.value().watch(mapping.value().app(), page_bytes()); !done) {
    return done.error();
  }
  if (!mapping.value().populate({0, page_bytes()})) return base::errno_error("no memory");
  auto page = reinterpret_cast<std::uintptr_t>(mapping.value().app());
  if (mode != Mode::kPlain && !userfault.value().can_enter_protected(page)) {
    return base::error(
        "this kernel cannot enter a page write-protected; it takes Linux 6.4 or later {}",
        kNewerKernel);
  }
  if (mode == Mode::kAsyncProtect && !PageScan().available()) {
    return base::error(
        "this kernel lacks PAGEMAP_SCAN, or /proc is not mounted; it takes Linux 6.7 or later {}",
        kNewerKernel);
  }
  return {};
}

// Each mode asks for more than the one before.
FaultSourceSupport probe() {
  FaultSourceSupport support;
  bool* const found[] = {&support.userfaultfd, &support.enter_protected, &support.async_protect};
  for (Mode mode : {Mode::kPlain, Mode::kEnterProtected, Mode::kAsyncProtect}) {
    auto tried = try_mode(mode);
    if (!tried) {
      support.reason = tried.error().message;
      return support;
    }
    *found[static_cast<int>(mode)] = true;
  }
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
  if (text == "uffd-late") return FaultSourceKind::kUserfaultfdLate;
  if (text == "sigsegv") return FaultSourceKind::kSigsegv;
  return base::error(
      "unknown fault source \"{}\": auto, uffd-async, uffd-sync, uffd-late and sigsegv are known",
      text);
}

}  // namespace terrane::platform
