#include "platform/fault_source.h"

#include "platform/make_source.h"

namespace terrane::platform {
namespace {

// The best that the machine has, or what was asked for.
FaultSourceKind choose(FaultSourceKind kind, const FaultSourceSupport& support) {
  if (kind != FaultSourceKind::kAutomatic) return kind;
  if (support.async_protect) return FaultSourceKind::kUserfaultfdAsync;
  if (support.enter_protected) return FaultSourceKind::kUserfaultfdSync;
  return support.userfaultfd ? FaultSourceKind::kUserfaultfdLate : FaultSourceKind::kSigsegv;
}

}  // namespace

bool FaultSourceSupport::has(FaultSourceKind kind) const {
  if (kind == FaultSourceKind::kUserfaultfdAsync) return async_protect;
  if (kind == FaultSourceKind::kUserfaultfdSync) return enter_protected;
  return userfaultfd || kind != FaultSourceKind::kUserfaultfdLate;
}

FaultSourceKind synchronous_kind(FaultSourceKind kind) {
  const FaultSourceSupport support = probe_fault_sources();
  bool mprotects = choose(kind, support) == FaultSourceKind::kSigsegv || !support.enter_protected;
  return mprotects ? FaultSourceKind::kSigsegv : FaultSourceKind::kUserfaultfdSync;
}

base::Result<std::unique_ptr<FaultSource>> make_fault_source(FaultSourceKind kind,
                                                             DualMapping& mapping, Span part,
                                                             FaultHandler handler, void* context,
                                                             FaultSource* beside) {
  const FaultSourceSupport support = probe_fault_sources();
  kind = choose(kind, support);
  if (!support.has(kind)) {
    return base::error("this fault source is not to be had here: {}", support.reason);
  }
  return kind == FaultSourceKind::kSigsegv
             ? make_sigsegv_source(mapping, part, handler, context)
             : make_uffd_source(kind, mapping, part, handler, context, beside);
}

}  // namespace terrane::platform
