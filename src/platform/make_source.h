#pragma once

#include <memory>

#include "platform/fault_source.h"

namespace terrane::platform {

// The sources behind make_fault_source(); the parameters are the same.
base::Result<std::unique_ptr<FaultSource>> make_uffd_source(FaultSourceKind kind,
                                                            DualMapping& mapping, Span part,
                                                            FaultHandler handler, void* context,
                                                            FaultSource* beside);
base::Result<std::unique_ptr<FaultSource>> make_sigsegv_source(DualMapping& mapping, Span part,
                                                               FaultHandler handler, void* context);

}  // namespace terrane::platform
