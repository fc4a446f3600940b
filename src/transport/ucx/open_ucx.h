#pragma once

namespace terrane::transport::ucx {

// UCX's library, as dlopen gives it: the system's; else the file that TERRANE_UCX names, such as
// that of a package of PyPI. nullptr: neither; dlerror() says why. It stays loaded. Signal handlers
// and the alternate stack of the calling thread are as before.
void* open_ucx();

}  // namespace terrane::transport::ucx
