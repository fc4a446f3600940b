// Frames that come in by UCX from peers that send what they like, in any order, whole or announced:
// UCX itself is played.
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "transport/ucx/inbox.h"

namespace terrane::fuzz {
namespace {

using namespace transport;

constexpr std::uint32_t kNodes = 4;
constexpr std::uint64_t kToken = 0x746f6b656e;
constexpr std::uint32_t kMostAnnounced = 1 << 20;

// What comes by announcement, until UCX says that it is here.
struct Coming {
  ucp_am_recv_data_nbx_callback_t done;
  void* user_data;
  std::byte* to;
  std::size_t bytes;
};

// UCX as far as the inbox calls it. One at a time: its functions have no argument of ours.
struct PlayedUcx {
  ucp_am_handler_param_t handler{};
  std::deque<Coming> coming;
  std::size_t held = 0;  // pieces of memory that the inbox keeps
};
PlayedUcx* played = nullptr;

ucs_status_t set_handler(ucp_worker_h, const ucp_am_handler_param_t* param) {
  played->handler = *param;
  return UCS_OK;
}

ucs_status_ptr_t receive_data(ucp_worker_h, void*, void* to, std::size_t bytes,
                              const ucp_request_param_t* param) {
  if (bytes % 2 == 0) {  // at once
    std::memset(to, 1, bytes);
    return nullptr;
  }
  auto* at = static_cast<std::byte*>(to);
  played->coming.push_back({param->cb.recv_am, param->user_data, at, bytes});
  return &played->coming;
}

void release_data(ucp_worker_h, void* data) {
  TERRANE_CHECK(played->held > 0, "what is released was kept");
  --played->held;
  std::free(data);
}

void free_request(void*) {}
const char* name_status(ucs_status_t) { return "status"; }

ucx::UcxApi played_api() {
  ucx::UcxApi api{};
  api.worker_set_am_recv_handler = set_handler;
  api.am_recv_data_nbx = receive_data;
  api.am_data_release = release_data;
  api.request_free = free_request;
  api.status_string = name_status;
  return api;
}

// Reads every byte of what it is given.
class ReadingReceiver final : public Receiver {
 public:
  void received(NodeId from, Bytes message) override {
    TERRANE_CHECK(from.value < kNodes, "a sender is a node of the job");
    std::uint32_t sum = 0;
    for (std::byte byte : message) sum += static_cast<std::uint32_t>(byte);
    sum_ = sum;
  }
  void lost(NodeId, std::string_view) override {}

 private:
  volatile std::uint32_t sum_ = 0;
};

// One frame: whole in UCX's memory or on loan, or announced.
void send_frame(InputReader& reader) {
  wire::NetworkFrame frame{};
  frame.token = reader.below(16) == 0 ? reader.take<std::uint64_t>() : kToken;
  frame.sequence = reader.below(8) == 0 ? reader.take<std::uint64_t>() : reader.below(32);
  frame.from = reader.below(8) == 0 ? reader.take<std::uint32_t>() : 1 + reader.below(kNodes - 1);
  frame.kind = static_cast<wire::NetworkFrameKind>(
      reader.below(8) == 0 ? reader.take<std::uint32_t>() : 1 + reader.below(4));
  std::uint32_t way = reader.below(4);
  std::span<const std::byte> data = reader.take_part();
  frame.bytes = reader.below(8) == 0 ? reader.take<std::uint64_t>() : data.size();
  std::size_t bytes = data.size();
  ucp_am_recv_param_t param{};
  if (way == 0) {
    param.recv_attr = UCP_AM_RECV_ATTR_FLAG_RNDV;
    if (frame.bytes <= kMostAnnounced || frame.bytes > PTRDIFF_MAX) bytes = frame.bytes;
  }
  // Of its exact size, and its own: UCX may lend it.
  auto* memory = static_cast<std::byte*>(std::malloc(data.size() + 1));
  std::copy(data.begin(), data.end(), memory);
  if (way == 1) param.recv_attr = UCP_AM_RECV_ATTR_FLAG_DATA;
  std::size_t header_bytes = reader.below(16) == 0 ? reader.below(64) : sizeof frame;
  std::vector<std::byte> header(header_bytes);
  std::copy_n(reinterpret_cast<const std::byte*>(&frame), std::min(header_bytes, sizeof frame),
              header.begin());
  auto status =
      played->handler.cb(played->handler.arg, header.data(), header_bytes, memory, bytes, &param);
  if (status == UCS_INPROGRESS && way == 1) {
    ++played->held;
  } else {
    std::free(memory);
  }
}

void finish_one(InputReader& reader) {
  if (played->coming.empty()) return;
  Coming coming = played->coming.front();
  played->coming.pop_front();
  ucs_status_t status = reader.below(4) == 0 ? UCS_ERR_CONNECTION_RESET : UCS_OK;
  if (status == UCS_OK) std::memset(coming.to, 2, coming.bytes);
  coming.done(nullptr, status, coming.bytes, coming.user_data);
}

void act(InputReader& reader, ucx::Inbox& inbox, ReadingReceiver& receiver) {
  switch (reader.below(10)) {
    case 0:
      return inbox.receive_by(reader.below(2) == 0 ? nullptr : &receiver);
    case 1:
      inbox.receive_by(&receiver);
      return inbox.deliver();
    case 2:
      return inbox.close(NodeId{1 + reader.below(kNodes - 1)});
    case 3:
    case 4:
      return finish_one(reader);
    case 5:
      for (NodeId broken : inbox.take_broken()) inbox.close(broken);
      inbox.take_newcomers();
      inbox.take_farewells();
      return;
    default:
      return send_frame(reader);
  }
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  PlayedUcx library;
  played = &library;
  InputReader reader(input);
  ucx::Worker worker(played_api());
  ParcelPool pool;
  ReadingReceiver receiver;
  {
    ucx::Inbox inbox(worker, pool, kToken, NodeId{0}, kNodes);
    TERRANE_CHECK(inbox.listen().ok(), "the played library takes every handler");
    while (!reader.empty()) act(reader, inbox, receiver);
    for (std::uint32_t peer = 0; peer < kNodes; ++peer) inbox.close(NodeId{peer});
    while (!library.coming.empty()) finish_one(reader);
  }
  TERRANE_CHECK(library.held == 0, "what UCX lent was given back");
}

std::vector<Input> seeds() {
  std::vector<Input> all;
  std::byte data[9] = {};
  const auto frame = [&](InputWriter& out, std::uint32_t number, std::uint32_t from,
                         std::uint32_t kind, std::uint32_t way, std::size_t bytes) {
    out.byte(6).byte(1).byte(1).byte(number).byte(1).byte(from - 1).byte(1).byte(kind - 1);
    out.byte(way).part(std::span(data).first(bytes)).byte(1).byte(1);
  };
  for (std::uint32_t way = 0; way < 3; ++way) {
    InputWriter in_order;
    in_order.byte(0).byte(1);
    InputWriter overtaking;
    frame(in_order, 0, 1, 2, 2, 0);
    for (std::uint32_t number = 1; number < 6; ++number) {
      frame(in_order, number, 1, 1, way, number);
      frame(overtaking, 5 - number, 2, 1, way, 8 + number % 2);
    }
    overtaking.byte(3).byte(1).byte(1).byte(3).byte(1);
    in_order.byte(5).byte(2).byte(0);
    all.push_back(in_order.input());
    all.push_back(overtaking.input());
  }
  InputWriter not_fetched;
  frame(not_fetched, 0, 1, 1, 0, 9);
  all.push_back(not_fetched.byte(3).byte(0).input());
  return all;
}

}  // namespace terrane::fuzz
