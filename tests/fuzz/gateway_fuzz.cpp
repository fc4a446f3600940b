// What a neighbour may send to a gateway once it has proved the secret: a hello, and frames behind
// it, as a stream that is cut anywhere.
#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "routing/router.h"
#include "routing/splitter.h"
#include "transport/routed/hello.h"

namespace terrane::fuzz {
namespace {

using namespace routing;
using transport::routed::Hello;

constexpr std::uint64_t kWindow = 4096;
constexpr Address kSelf = Address::of_gateway(0);

// As tools/gateway takes a neighbour in, and what it sends.
class Neighbour {
 public:
  void receive(std::span<const std::byte> piece) {
    came_ += piece.size();
    waiting_.insert(waiting_.end(), piece.begin(), piece.end());
    Splitter splitter(waiting_);
    while (auto frame = splitter.next()) {
      TERRANE_CHECK(splitter.used() <= waiting_.size(), "a frame is whole");
      closed_ = closed_ || !take(*frame);
      if (closed_) return;
    }
    closed_ = splitter.malformed();
    waiting_.erase(waiting_.begin(),
                   waiting_.begin() + static_cast<std::ptrdiff_t>(splitter.used()));
    TERRANE_CHECK(closed_ || waiting_.size() < frame_bytes(kMaxPayloadBytes), "no more is kept");
    TERRANE_CHECK(router_.counters().held_bytes <= 2 * came_, "no more than came");
  }
  bool closed() const { return closed_; }

 private:
  bool take(const Splitter::Frame& frame) {
    if (is_in_) return router_.received(0, frame.header, frame.payload);
    auto hello = transport::routed::decode_hello(frame.header, frame.payload);
    if (!hello) return false;
    std::vector<std::byte> again;
    append_hello(*hello, again);
    Splitter splitter(again);
    auto same = splitter.next();
    TERRANE_CHECK(same && splitter.used() == again.size(), "a hello is one frame");
    auto decoded = transport::routed::decode_hello(same->header, same->payload);
    TERRANE_CHECK(decoded && decoded->address == hello->address && decoded->name == hello->name &&
                      decoded->window == hello->window,
                  "a hello that is repeated says the same");
    Hello ours = transport::routed::hello_of(kSelf, kWindow, "ours");
    if (!transport::routed::compare_hellos(ours, *hello).empty() || hello->address == kSelf)
      return false;
    is_in_ = router_.open(0, hello->address);
    return is_in_;
  }

  Router router_{kSelf, {kWindow}};
  std::vector<std::byte> waiting_;
  std::uint64_t came_ = 0;
  bool is_in_ = false, closed_ = false;
};

Input in_pieces(std::span<const std::byte> bytes, std::uint8_t piece) {
  InputWriter out;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    out.byte(piece).raw(bytes.subspan(at, std::min<std::size_t>(piece, bytes.size() - at)));
  return out.input();
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  Neighbour neighbour;
  while (!reader.empty() && !neighbour.closed()) {
    std::uint8_t piece = reader.take<std::uint8_t>();
    neighbour.receive(piece == 255 ? reader.rest() : reader.take_bytes(piece));
  }
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  for (Address address : {Address::of_node(1), Address::of_gateway(1), Address::of_engine(2)}) {
    std::vector<std::byte> bytes, payload(40, std::byte{7});
    append_hello(transport::routed::hello_of(address, kWindow, "west-1"), bytes);
    Links links{.gateway = address, .version = 3};
    std::vector<std::byte> told(sizeof links + 2 * sizeof(Address));
    std::memcpy(told.data(), &links, sizeof links);
    Address neighbours[] = {Address::of_node(2), kSelf};
    std::memcpy(told.data() + sizeof links, neighbours, sizeof neighbours);
    append_frame(bytes,
                 {.payload_bytes = static_cast<std::uint32_t>(told.size()),
                  .kind = FrameKind::kLinks,
                  .from = address,
                  .to = kSelf},
                 told);
    append_frame(bytes,
                 {.payload_bytes = 40,
                  .kind = FrameKind::kData,
                  .tag = 1,
                  .from = address,
                  .to = Address::of_node(2)},
                 payload);
    append_frame(bytes, {.kind = FrameKind::kBeat, .from = address}, {});
    append_frame(
        bytes,
        {.kind = FrameKind::kBye, .from = address, .to = Address::of_node(2), .position = 72}, {});
    all.push_back(in_pieces(bytes, 200));
    all.push_back(in_pieces(bytes, 13));
  }
  Hello refusal = transport::routed::hello_of(Address::of_gateway(2), 0, "x");
  refusal.refusal = "this is not the port for it";
  std::vector<std::byte> bytes;
  append_hello(refusal, bytes);
  all.push_back(in_pieces(bytes, 254));
  return all;
}

}  // namespace terrane::fuzz
