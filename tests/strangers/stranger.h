#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/prng.h"
#include "base/unique_fd.h"
#include "strangers/talk.h"

namespace terrane::strangers {

enum class Kind : std::uint8_t {
  kWrongKey,      // says all that one with the key says, with another key
  kGarbage,       // random bytes
  kHalfOpen,      // half of what one with another key says first, and then nothing
  kSlow,          // as kWrongKey, byte by byte
  kReplay,        // what one with the key has said over another connection
  kClosedAtOnce,  // connects and goes
  kGood           // has the key
};
inline constexpr int kKinds = static_cast<int>(Kind::kGood) + 1;
const char* name_of(Kind kind);

enum class End : std::uint8_t {
  kNone,
  kRefused,  // the port has closed the connection
  kLeft,     // this side has, after its patience
  kLetIn,
};

// What one with the key has said, and how much it had heard by then.
struct Said {
  std::size_t heard;
  Bytes bytes;
};

struct Scene {
  Language language;
  stream::Secret right, wrong;
  std::uint64_t patience_ms;    // of one that is half open
  std::vector<Said> recording;  // empty before a good one has ended
};

// One connection to the port, good or bad. Does not block.
class Stranger {
 public:
  // `socket` is connecting.
  Stranger(Kind kind, base::UniqueFd socket, const Scene& scene, base::Prng& random);

  int socket() const { return socket_.get(); }
  short wants() const;
  // When it is to be called even if the socket is not ready.
  std::uint64_t wake_ms() const;
  End advance(short ready, std::uint64_t now_ms);
  Kind kind() const { return kind_; }
  const std::vector<Said>& said() const { return said_; }

 private:
  End hear();
  bool send_some(std::uint64_t now_ms);
  void say(Bytes bytes);
  void replay();

  Kind kind_;
  base::UniqueFd socket_;
  const Scene& scene_;
  std::unique_ptr<Talk> talk_;  // of those that take part in one
  Bytes out_;
  std::size_t heard_ = 0;
  std::vector<Said> said_;
  std::uint64_t until_ms_, next_byte_ms_ = 0;
};

std::uint64_t now_ms();

}  // namespace terrane::strangers
