#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "base/unique_fd.h"
#include "stream/tls_session.h"

namespace terrane::strangers {

// A port of this process that speaks TLS, and closes each connection that it refuses. Serves in a
// thread of its own while the object lives.
class TlsPort {
 public:
  explicit TlsPort(const stream::TlsKey& key);
  ~TlsPort();
  TlsPort(const TlsPort&) = delete;

  std::uint16_t port() const { return port_; }

 private:
  void serve();

  stream::TlsKey key_;
  base::UniqueFd listener_, stop_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace terrane::strangers
