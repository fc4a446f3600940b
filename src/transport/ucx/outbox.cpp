#include "transport/ucx/outbox.h"

#include <mutex>
#include <utility>

#include "base/check.h"

namespace terrane::transport::ucx {
namespace {

// Beyond, a message may go in several parts, which others overtake.
constexpr std::size_t kShortBytes = std::size_t{8} << 10;
// Up to here a message is sent from where it lies, if UCX can do so at once. By sockets sixteen
// pages and what goes before them are one segment (worker.cpp).
constexpr std::size_t kAtOnceBySockets = std::size_t{72} << 10;
// What UCX is given of one peer's messages before it has finished with them.
constexpr std::uint32_t kMostInFlight = 64;
constexpr std::size_t kMostInFlightBytes = std::size_t{8} << 20;
// A caller that has more of its own waiting here waits itself.
constexpr std::uint32_t kCrowd = 16;
// What may overtake a long message; below the receiver's limit.
constexpr std::uint32_t kMostBehind = 1024;
constexpr std::size_t kMostBehindBytes = std::size_t{8} << 20;

constexpr unsigned handler_of(wire::NetworkFrameKind kind) {
  return static_cast<unsigned>(traffic_of(kind));
}
std::size_t index_of(wire::NetworkFrameKind kind) {
  return static_cast<std::size_t>(traffic_of(kind));
}

}  // namespace

Outbox::Outbox(Worker& worker, ParcelPool& pool, NodeId self, std::uint32_t nodes,
               bool sockets_alone)
    : worker_(worker),
      pool_(pool),
      self_(self),
      lanes_(nodes),
      scratch_(sockets_alone ? kAtOnceBySockets : kShortBytes) {
  for (std::uint32_t node = 0; node < nodes; ++node) {
    lanes_[node].outbox = this;
    lanes_[node].peer = NodeId{node};
  }
}

Outbox::~Outbox() {
  for (Lane& lane : lanes_) drop(lane.peer);
}

void Outbox::add(NodeId peer, std::vector<std::byte> address, std::uint64_t token) {
  Lane& lane = lanes_[peer.value];
  lane.token = token;
  lane.address = std::move(address);
}

void Outbox::connect(NodeId peer) {
  Lane& lane = lanes_[peer.value];
  if (lane.address.empty()) return;
  std::vector<std::byte> address = std::exchange(lane.address, {});
  ucp_ep_params_t params{};
  params.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER;
  params.address = reinterpret_cast<const ucp_address_t*>(address.data());
  params.err_mode = UCP_ERR_HANDLING_MODE_PEER;
  params.err_handler = {&Outbox::on_failure, &lane};
  ucs_status_t status = worker_.api().ep_create(worker_.handle(), &params, &lane.endpoint);
  if (status == UCS_OK) return advance(lane);
  lane.endpoint = nullptr;
  on_failure(&lane, nullptr, status);
}

void Outbox::send(NodeId to, Bytes head, Bytes tail, Traffic traffic) {
  Lane& lane = lanes_[to.value];
  Gather message(head, tail);
  wire::NetworkFrameKind kind = kind_of(traffic);
  bool within = worker_.inside();
  if (!within && !worker_.try_enter()) {
    submit(lane, kind, message);
    submitted_.store(true);
    return settle();  // the thread that was inside may have left without seeing it
  }
  if (!lane.lost) {
    std::size_t bytes = message.left();
    bool sent = false;
    if (bytes <= scratch_.size() && lane.queued.load() == 0 && has_room(lane, bytes)) {
      Bytes whole = tail.empty() ? head : tail;
      if (!head.empty() && !tail.empty()) {
        Gather(head, tail).copy_to(scratch_.data(), bytes);
        whole = Bytes(scratch_.data(), bytes);
      }
      sent = send_at_once(lane, kind, whole);
    }
    if (!sent && !lane.lost) {
      submit(lane, kind, message);
      advance(lane);
    }
  }
  if (!within) leave_worker();
}

void Outbox::leave_worker() {
  worker_.leave();
  settle();
}

bool Outbox::is_crowded(NodeId peer) const {
  const Lane& lane = lanes_[peer.value];
  return !lane.lost && lane.queued.load() >= kCrowd;
}

void Outbox::settle() {
  while (submitted_.load() && worker_.try_enter()) {
    submitted_.store(false);
    advance();
    worker_.leave();
  }
}

void Outbox::submit(Lane& lane, wire::NetworkFrameKind kind, Gather message) {
  std::size_t bytes = message.left();
  Parcel* parcel = pool_.take(bytes);
  parcel->owner = &lane;
  parcel->frame.kind = kind;
  message.copy_to(parcel->data(), bytes);
  push(lane, parcel);
}

void Outbox::push(Lane& lane, Parcel* parcel) {
  std::lock_guard hold(lane.lock);
  lane.queue.push(parcel);
  lane.queued.fetch_add(1);
  queued_.fetch_add(1);
}

bool Outbox::has_room(const Lane& lane, std::size_t bytes) const {
  if (lane.endpoint == nullptr) return false;
  if (lane.in_flight != 0 &&
      (lane.in_flight >= kMostInFlight || lane.in_flight_bytes + bytes > kMostInFlightBytes)) {
    return false;
  }
  return lane.long_in_flight == 0 ||
         (lane.behind < kMostBehind && lane.behind_bytes + bytes <= kMostBehindBytes);
}

wire::NetworkFrame Outbox::next_frame(const Lane& lane, wire::NetworkFrameKind kind,
                                      std::size_t bytes) const {
  return {lane.token, lane.next_sequence[index_of(kind)], bytes, self_.value, kind};
}

// False when UCX would have to keep it: it has no room now, or sends nothing so long at once.
bool Outbox::send_at_once(Lane& lane, wire::NetworkFrameKind kind, Bytes message) {
  wire::NetworkFrame frame = next_frame(lane, kind, message.size());
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FLAG_FORCE_IMM_CMPL;
  ucs_status_ptr_t sent =
      worker_.api().am_send_nbx(lane.endpoint, handler_of(kind), &frame, sizeof frame,
                                message.data(), message.size(), &param);
  if (sent == nullptr) {
    account_sent(lane, kind, message.size());
    return true;
  }
  TERRANE_CHECK(UCS_PTR_IS_ERR(sent), "what must be done at once leaves no request");
  if (UCS_PTR_STATUS(sent) != UCS_ERR_NO_RESOURCE) {
    on_failure(&lane, lane.endpoint, UCS_PTR_STATUS(sent));
  }
  return false;
}

void Outbox::account_sent(Lane& lane, wire::NetworkFrameKind kind, std::size_t bytes) {
  ++lane.next_sequence[index_of(kind)];
  if (lane.long_in_flight == 0) return;
  ++lane.behind;
  lane.behind_bytes += bytes;
}

void Outbox::send_notice(NodeId to, wire::NetworkFrameKind kind) {
  Lane& lane = lanes_[to.value];
  if (lane.lost) return;
  Parcel* parcel = pool_.take(0);
  parcel->owner = &lane;
  parcel->frame.kind = kind;
  push(lane, parcel);
  advance(lane);
}

// Hands a parcel to UCX, which has it until on_sent().
void Outbox::start(Lane& lane, Parcel* parcel) {
  parcel->frame = next_frame(lane, parcel->frame.kind, parcel->bytes);
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &Outbox::on_sent;
  param.user_data = parcel;
  // What UCX does not send at once makes it exchange the endpoints' names first. So this is over
  // when the other side has the greeting.
  if (parcel->frame.kind == wire::NetworkFrameKind::kHello) {
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
  }
  ucs_status_ptr_t sent =
      worker_.api().am_send_nbx(lane.endpoint, handler_of(parcel->frame.kind), &parcel->frame,
                                sizeof parcel->frame, parcel->data(), parcel->bytes, &param);
  if (UCS_PTR_IS_ERR(sent)) {
    pool_.give(parcel);
    return on_failure(&lane, lane.endpoint, UCS_PTR_STATUS(sent));
  }
  account_sent(lane, parcel->frame.kind, parcel->bytes);
  if (sent == nullptr) return pool_.give(parcel);
  ++lane.in_flight;
  ++in_flight_;
  lane.in_flight_bytes += parcel->bytes;
  if (parcel->bytes > kShortBytes) ++lane.long_in_flight;
}

void Outbox::on_sent(void* request, ucs_status_t, void* user_data) {
  auto* parcel = static_cast<Parcel*>(user_data);
  Lane& lane = *static_cast<Lane*>(parcel->owner);
  Outbox& outbox = *lane.outbox;
  outbox.worker_.api().request_free(request);
  outbox.completed(lane, parcel->bytes);
  outbox.pool_.give(parcel);
}

void Outbox::completed(Lane& lane, std::size_t bytes) {
  --lane.in_flight;
  --in_flight_;
  lane.in_flight_bytes -= bytes;
  if (bytes > kShortBytes && --lane.long_in_flight == 0) lane.behind = lane.behind_bytes = 0;
}

void Outbox::advance() {
  for (Lane& lane : lanes_) {
    if (lane.queued.load() != 0) advance(lane);
  }
}

void Outbox::advance(Lane& lane) {
  while (!lane.lost) {
    Parcel* parcel = nullptr;
    {
      std::lock_guard hold(lane.lock);
      if (lane.queue.empty() || !has_room(lane, lane.queue.front()->bytes)) return;
      parcel = lane.queue.pop();
    }
    start(lane, parcel);
    lane.queued.fetch_sub(1);
    queued_.fetch_sub(1);
  }
  drop(lane.peer);
}

void Outbox::on_failure(void* user_data, ucp_ep_h, ucs_status_t status) {
  Lane& lane = *static_cast<Lane*>(user_data);
  if (lane.lost) return;
  lane.lost = true;
  lane.outbox->failures_.push_back({lane.peer, status});
  lane.outbox->has_failures_.store(true);
}

std::vector<Outbox::Failure> Outbox::take_failures() {
  has_failures_.store(false);
  return std::exchange(failures_, {});
}

void Outbox::drop(NodeId peer) {
  Lane& lane = lanes_[peer.value];
  lane.lost = true;
  lane.address.clear();
  std::lock_guard hold(lane.lock);
  while (!lane.queue.empty()) {
    pool_.give(lane.queue.pop());
    lane.queued.fetch_sub(1);
    queued_.fetch_sub(1);
  }
}

void Outbox::close(NodeId peer) {
  Lane& lane = lanes_[peer.value];
  if (lane.endpoint == nullptr) return;
  ucp_request_param_t param{};
  param.op_attr_mask =
      UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.flags = UCP_EP_CLOSE_FLAG_FORCE;
  param.cb.send = &Outbox::on_closed;
  param.user_data = this;
  ucs_status_ptr_t closed =
      worker_.api().ep_close_nbx(std::exchange(lane.endpoint, nullptr), &param);
  if (UCS_PTR_IS_PTR(closed)) ++closing_;
}

void Outbox::on_closed(void* request, ucs_status_t, void* user_data) {
  auto* outbox = static_cast<Outbox*>(user_data);
  outbox->worker_.api().request_free(request);
  --outbox->closing_;
}

}  // namespace terrane::transport::ucx
