#pragma once

#include <cstdint>

#include "base/result.h"
#include "platform/modules.h"

namespace terrane::platform {

// Copies what private pages of this process hold to `offset` of a memory file. What nobody has
// touched stays a hole. No other thread may write to them meanwhile.
base::Result<> copy_pages(const WritablePages& pages, int fd, std::uint64_t offset);

// Moves private pages of this process into a memory file without moving their addresses: copies
// what they hold to `offset` of the file and maps the file over them. What nobody has touched stays
// a hole. No other thread may write to them meanwhile. Nothing in between is a call that a
// sanitizer or a tool interposes on, for its own data may lie in these pages.
base::Result<> share_pages(const WritablePages& pages, int fd, std::uint64_t offset);

}  // namespace terrane::platform
