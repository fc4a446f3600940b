#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "routing/frame.h"
#include "routing/instrument.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// What an end of the network receives: puts each peer's frames together again to messages, each
// once and in order. By the thread that delivers, which need not be the one that sends (Outbound).
class Inbound {
 public:
  // Called inside of frame(); the bytes are valid during the call.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void message(Address from, std::uint16_t tag, Bytes message) = 0;
    virtual void bye(Address from) = 0;
    // The peer's frames contradict each other. Nothing of it is delivered any more, nor said to be
    // taken: it is to be given up (Outbound::lose). Its way is not to blame.
    virtual void broken(Address from) = 0;
  };
  struct Taken {
    Address peer;
    std::uint64_t position;
  };

  // `window`: as of the peers' Outbound.
  Inbound(Address self, std::uint64_t window);

  // Of kind kData or kBye. False: it makes no sense, and its way is to be closed. Frames that came
  // before are dropped, as are those behind a gap (they come again).
  bool frame(const FrameHeader& header, Bytes payload, Receiver& receiver);
  // Positions to be told to peers (Outbound::tell_taken), since the last call.
  std::vector<Taken> take_taken();

 private:
  static constexpr std::size_t kKeptCapacity = 1 << 20;  // of an empty buffer

  struct Peer {
    std::uint64_t position = 0;  // all before has been taken
    std::uint64_t told = 0;      // and so much was given to take_taken()
    bool tells = false;          // it is in tells_
    bool broken = false, bye = false;
    std::uint16_t tag = 0;           // of the message that comes in several frames
    std::uint64_t rest = 0;          // bytes that are missing of it; 0: there is none
    std::vector<std::byte> message;  // what has come of it
  };

  // Whether the next frame of the peer's stream goes on as those before say.
  static bool continues(const Peer& peer, const FrameHeader& header);
  void take(Peer& peer, const FrameHeader& header, Bytes payload, Receiver& receiver);
  void tell(Address address, Peer& peer);

  Address self_;
  std::uint64_t window_;
  std::map<Address, Peer> peers_;
  std::vector<Address> tells_;
};

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
