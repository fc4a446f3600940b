#include "transport/ucx/inbox.h"

#include <cstring>
#include <utility>

#include "base/check.h"

namespace terrane::transport::ucx {
namespace {

using wire::NetworkFrame;
using wire::NetworkFrameKind;

// More than senders let their messages overtake each other.
constexpr std::uint64_t kMostAhead = 4096;

// A frame that carries news between the transports themselves.
bool is_notice(const NetworkFrame& frame) {
  bool known = frame.kind == NetworkFrameKind::kHello ||
               frame.kind == NetworkFrameKind::kFarewell ||
               frame.kind == NetworkFrameKind::kFarewellHeard;
  return known && frame.bytes == 0;
}

}  // namespace

Inbox::Inbox(Worker& worker, ParcelPool& pool, std::uint64_t token, NodeId self,
             std::uint32_t nodes, Traffic traffic)
    : worker_(worker),
      pool_(pool),
      token_(token),
      self_(self),
      traffic_(traffic),
      sources_(nodes) {}

Inbox::~Inbox() {
  for (Source& source : sources_) {
    for (Slot& slot : source.slots) release(slot);
  }
}

base::Result<> Inbox::listen() {
  ucp_am_handler_param_t param{};
  param.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                     UCP_AM_HANDLER_PARAM_FIELD_ARG;
  param.id = static_cast<unsigned>(traffic_);
  param.cb = &Inbox::on_message;
  param.arg = this;
  ucs_status_t status = worker_.api().worker_set_am_recv_handler(worker_.handle(), &param);
  if (status == UCS_OK) return {};
  return base::error("ucx: the message handler: {}", worker_.text_of(status));
}

NodeId Inbox::id_of(const Source& source) const {
  return NodeId{static_cast<std::uint32_t>(&source - sources_.data())};
}

bool Inbox::is_ours(const NetworkFrame& frame) const {
  return frame.token == token_ && frame.from < sources_.size() && frame.from != self_.value;
}

// A frame without our word comes from a stranger, whatever name it gives: it counts against nobody.
ucs_status_t Inbox::on_message(void* user_data, const void* header, std::size_t header_bytes,
                               void* data, std::size_t bytes, const ucp_am_recv_param_t* param) {
  auto& inbox = *static_cast<Inbox*>(user_data);
  NetworkFrame frame{};
  if (header_bytes != sizeof frame) return UCS_OK;
  std::memcpy(&frame, header, sizeof frame);
  if (!inbox.is_ours(frame)) return UCS_OK;
  return inbox.arrive({frame, data, bytes, param->recv_attr});
}

ucs_status_t Inbox::arrive(const Arrival& arrival) {
  const NetworkFrame& frame = arrival.frame;
  Source& source = sources_[frame.from];
  if (source.closed) return UCS_OK;
  std::uint64_t ahead = frame.sequence - source.expected;
  bool known = ahead < source.slots.size() && source.slots[ahead].state != State::kAbsent;
  bool notice = traffic_ == Traffic::kMessages && is_notice(frame);
  if (ahead > kMostAhead || known || frame.bytes != arrival.bytes ||
      (frame.kind != kind_of(traffic_) && !notice)) {
    refuse(source);
    return UCS_OK;
  }
  if (!std::exchange(source.heard, true)) newcomers_.push_back(id_of(source));
  bool whole = (arrival.attributes & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0;
  if (ahead == 0 && whole && (receiver_ != nullptr || notice)) {
    ++source.expected;
    if (!source.slots.empty()) source.slots.pop_front();
    hand_over(source, frame.kind, {static_cast<const std::byte*>(arrival.data), arrival.bytes});
    deliver_ready(source);
    return UCS_OK;
  }
  if (ahead >= source.slots.size()) source.slots.resize(ahead + 1);
  Slot& slot = source.slots[ahead];
  slot.kind = frame.kind;
  slot.bytes = arrival.bytes;
  kept_bytes_ += arrival.bytes;
  return whole ? keep(source, slot, arrival) : fetch(source, slot, arrival);
}

// It is here, but not its turn, or nobody receives.
ucs_status_t Inbox::keep(Source& source, Slot& slot, const Arrival& arrival) {
  slot.state = State::kReady;
  count(source);
  if ((arrival.attributes & UCP_AM_RECV_ATTR_FLAG_DATA) != 0) {
    slot.held = arrival.data;
    return UCS_INPROGRESS;
  }
  slot.parcel = pool_.take(arrival.bytes);
  if (arrival.bytes != 0) std::memcpy(slot.parcel->data(), arrival.data, arrival.bytes);
  return UCS_OK;
}

// It is announced: UCX copies it into our memory.
ucs_status_t Inbox::fetch(Source& source, Slot& slot, const Arrival& arrival) {
  Parcel* parcel = pool_.try_take(arrival.bytes);
  if (parcel == nullptr) {  // nobody sends so much
    kept_bytes_ -= arrival.bytes;
    slot = {};
    refuse(source);
    return UCS_OK;
  }
  slot.state = State::kComing;
  slot.parcel = parcel;
  parcel->frame = arrival.frame;
  parcel->owner = this;
  ucp_request_param_t param{};
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.recv_am = &Inbox::on_fetched;
  param.user_data = parcel;
  ucs_status_ptr_t request = worker_.api().am_recv_data_nbx(worker_.handle(), arrival.data,
                                                            parcel->data(), arrival.bytes, &param);
  if (!UCS_PTR_IS_PTR(request)) fetched(source, parcel, UCS_PTR_STATUS(request));
  return UCS_INPROGRESS;
}

void Inbox::on_fetched(void* request, ucs_status_t status, std::size_t, void* user_data) {
  auto* parcel = static_cast<Parcel*>(user_data);
  auto& inbox = *static_cast<Inbox*>(parcel->owner);
  inbox.worker_.api().request_free(request);
  inbox.fetched(inbox.sources_[parcel->frame.from], parcel, status);
}

void Inbox::fetched(Source& source, Parcel* parcel, ucs_status_t status) {
  if (source.closed) return pool_.give(parcel);
  Slot& slot = source.slots[parcel->frame.sequence - source.expected];
  // What does not arrive in full leaves a gap, behind which nothing is delivered; UCX reports the
  // connection.
  if (status != UCS_OK) {
    slot.parcel = nullptr;
    return pool_.give(parcel);
  }
  slot.state = State::kReady;
  if (receiver_ != nullptr) return deliver_ready(source);
  count(source);
}

// Called when the message is no longer in the slots: the receiver may close the source.
void Inbox::hand_over(Source& source, NetworkFrameKind kind, Bytes message) {
  if (kind == NetworkFrameKind::kHello) return;
  if (kind == NetworkFrameKind::kFarewell) return farewells_.push_back(id_of(source));
  if (kind == NetworkFrameKind::kFarewellHeard) {
    source.farewell_heard = true;
    return;
  }
  ++delivered_;
  receiver_->received(id_of(source), message);
}

void Inbox::deliver_ready(Source& source) {
  while (!source.slots.empty() && source.slots.front().state == State::kReady) {
    bool notice = source.slots.front().kind != kind_of(traffic_);
    if (receiver_ == nullptr && !notice) break;
    Slot slot = source.slots.front();
    source.slots.pop_front();
    ++source.expected;
    auto* data = slot.held != nullptr ? static_cast<std::byte*>(slot.held)
                                      : (slot.parcel == nullptr ? nullptr : slot.parcel->data());
    hand_over(source, slot.kind, {data, slot.bytes});
    release(slot);
  }
  count(source);
}

void Inbox::deliver() {
  for (Source& source : sources_) {
    if (source.counted) deliver_ready(source);
  }
}

// Keeps deliverable_ right after a change of the source's first slot.
void Inbox::count(Source& source) {
  bool ready = !source.slots.empty() && source.slots.front().state == State::kReady;
  if (ready == source.counted) return;
  source.counted = ready;
  deliverable_.fetch_add(ready ? 1u : ~0u);
}

void Inbox::release(Slot& slot) {
  if (slot.state == State::kAbsent) return;
  kept_bytes_ -= slot.bytes;
  if (slot.held != nullptr) worker_.api().am_data_release(worker_.handle(), slot.held);
  // What is still coming belongs to UCX until it says so.
  if (slot.parcel != nullptr && slot.state == State::kReady) pool_.give(slot.parcel);
  slot = {};
}

void Inbox::refuse(Source& source) {
  source.closed = true;
  broken_.push_back(id_of(source));
}

void Inbox::close(NodeId from) {
  Source& source = sources_[from.value];
  if (receiver_ != nullptr) deliver_ready(source);
  source.closed = true;
  for (Slot& slot : source.slots) release(slot);
  source.slots.clear();
  count(source);
}

}  // namespace terrane::transport::ucx
