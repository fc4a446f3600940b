#include "platform/fault_cost.h"

#include <time.h>

#include <algorithm>
#include <memory>

#include "platform/page_size.h"

namespace terrane::platform {
namespace {

struct Measured {
  FaultSource* source = nullptr;
  std::uint64_t inside_ns = 0;

  static FaultVerdict on_fault(void* context, std::uint64_t offset, Access) {
    auto& self = *static_cast<Measured*>(context);
    std::uint64_t from = processor_ns();
    self.source->map({offset / page_bytes() * page_bytes(), page_bytes()}, Access::kWrite);
    self.inside_ns += processor_ns() - from;
    return FaultVerdict::kRetry;
  }
};

}  // namespace

std::uint64_t processor_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

base::Result<std::uint64_t> fault_cost_ns(FaultSourceKind kind) {
  constexpr std::uint64_t kPages = 256;
  const std::uint64_t bytes = kPages * page_bytes();
  auto mapping = DualMapping::create(bytes, nullptr, "terrane-cost");
  if (!mapping) return mapping.error();
  DualMapping& pages = mapping.value();
  Measured measured;
  auto source = make_fault_source(kind, pages, &Measured::on_fault, &measured);
  if (!source) return source.error();
  measured.source = source.value().get();
  if (!pages.populate({0, bytes})) return base::errno_error("no memory");
  std::uint64_t best = ~0ull;
  for (int round = 0; round < 3; ++round) {
    measured.inside_ns = 0;
    std::uint64_t from = processor_ns();
    for (std::uint64_t at = 0; at < bytes; at += page_bytes())
      (void)*reinterpret_cast<volatile std::byte*>(pages.app() + at);
    std::uint64_t all = processor_ns() - from;
    if (all > measured.inside_ns) best = std::min(best, (all - measured.inside_ns) / kPages);
    measured.source->zap({0, bytes});
  }
  return best == ~0ull ? 0 : best;
}

}  // namespace terrane::platform
