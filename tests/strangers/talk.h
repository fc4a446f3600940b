#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stream/secret.h"

namespace terrane::strangers {

using Bytes = std::vector<std::byte>;

// What a program says to a port of a job to be let in: the proof of the hub's port, or TLS.
class Talk {
 public:
  enum class State { kGoingOn, kLetIn, kRefused };

  virtual ~Talk() = default;
  // To be sent next.
  virtual Bytes take_out() = 0;
  virtual void take(std::span<const std::byte> bytes) = 0;
  virtual State state() const = 0;
};

struct Language {
  bool is_tls = false;
  std::string purpose;  // of the key, with TLS
};

std::unique_ptr<Talk> make_talk(const Language& language, const stream::Secret& secret);

}  // namespace terrane::strangers
