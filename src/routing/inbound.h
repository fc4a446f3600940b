#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "routing/frame.h"
#include "routing/instrument.h"

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {

// The receiving side of an end of the network: joins each peer's frames into messages, and delivers
// each message once and in order. The delivering thread uses it, which need not be the thread that
// sends (Outbound).
class Inbound {
 public:
  // Called inside frame(); the bytes are valid during the call.
  class Receiver {
   public:
    virtual ~Receiver() = default;
    virtual void message(Address from, std::uint16_t tag, Bytes message) = 0;
    virtual void bye(Address from) = 0;
    // The peer's frames contradict each other. No more of its frames are delivered or confirmed as
    // taken; the caller has to give the peer up (Outbound::lose). The way that they came on is not
    // closed.
    virtual void broken(Address from) = 0;
  };
  struct Taken {
    Address peer;
    std::uint64_t position;
  };

  // `window`: the same as in the Outbound of the peers.
  Inbound(Address self, std::uint64_t window);

  // A frame of kind kData or kBye has come. False: it is malformed, and the caller has to close its
  // way. A frame that came before is dropped, and a frame behind a gap, which its sender sends
  // again.
  bool frame(const FrameHeader& header, Bytes payload, Receiver& receiver);
  // Positions that have to be sent to peers (Outbound::tell_taken), collected since the last call.
  std::vector<Taken> take_taken();

 private:
  static constexpr std::size_t kKeptCapacity = 1 << 20;  // of an empty buffer, in bytes

  struct Peer {
    std::uint64_t position = 0;  // everything before it has been taken
    std::uint64_t told = 0;      // the last position that take_taken() has returned
    bool tells = false;          // the peer is in tells_
    bool broken = false, bye = false;
    std::uint16_t tag = 0;           // of the incomplete message
    std::uint64_t rest = 0;          // bytes that it lacks; 0: no message is incomplete
    std::vector<std::byte> message;  // its bytes so far
  };

  // Whether the frame fits those before it in the peer's stream.
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
