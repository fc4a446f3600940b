#pragma once

namespace terrane::platform {

// Asks the scheduler to let the calling thread run as soon as it wakes, before threads that compute
// (Linux 6.12: a short slice makes an early deadline). For threads that run briefly and seldom.
// Where the kernel knows nothing of it, nothing changes.
void ask_for_short_slices();

}  // namespace terrane::platform
