#include "transport/ucx/remote_memory.h"

#include <algorithm>
#include <utility>

namespace terrane::transport::ucx {
RemoteMemory::RemoteMemory(Worker& worker, Outbox& outbox,
                           std::vector<std::vector<UcxCard::Region>> regions)
    : worker_(worker), outbox_(outbox), lanes_(regions.size()) {
  for (std::size_t node = 0; node < regions.size(); ++node) {
    lanes_[node].memory = this;
    for (UcxCard::Region& region : regions[node]) {
      lanes_[node].regions.push_back({std::move(region)});
    }
  }
}

void RemoteMemory::release_keys() {
  for (Lane& lane : lanes_) {
    for (Region& region : lane.regions) {
      if (region.key == nullptr) continue;
      worker_.api().rkey_destroy(std::exchange(region.key, nullptr));
    }
  }
}

std::uint64_t RemoteMemory::bytes(NodeId peer, std::uint32_t region) const {
  if (peer.value >= lanes_.size() || region >= lanes_[peer.value].regions.size()) return 0;
  return lanes_[peer.value].regions[region].card.bytes;
}

bool RemoteMemory::is_served(NodeId peer, std::uint32_t region) const {
  return bytes(peer, region) != 0 && lanes_[peer.value].regions[region].card.base != 0;
}

bool RemoteMemory::has_key(NodeId peer, std::uint32_t region) const {
  return bytes(peer, region) != 0 && !lanes_[peer.value].regions[region].card.key.empty();
}

RemoteMemory::Target RemoteMemory::find(NodeId peer, RemoteAddress at) {
  Region& region = lanes_[peer.value].regions[at.region];
  Target target;
  target.endpoint = outbox_.endpoint(peer);
  target.address = region.card.base + at.offset;
  if (target.endpoint == nullptr) {
    target.status = UCS_ERR_CONNECTION_RESET;
  } else if (region.key == nullptr) {
    target.status =
        worker_.api().ep_rkey_unpack(target.endpoint, region.card.key.data(), &region.key);
  }
  target.key = region.key;
  return target;
}

void RemoteMemory::prepare(ucp_request_param_t& param, Lane& lane, Waits waits) {
  if (waits == Waits::kCaller) return;
  param.op_attr_mask |= UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA;
  param.cb.send = &RemoteMemory::on_done;
  param.user_data = &lane;
}

ucs_status_ptr_t RemoteMemory::begun(Lane& lane, ucs_status_ptr_t request, Waits waits) {
  ++lane.started;
  if (waits == Waits::kCaller || !UCS_PTR_IS_PTR(request)) return request;
  ++lane.under_way;
  return nullptr;
}

// What failed is reported by the connection.
void RemoteMemory::on_done(void* request, ucs_status_t, void* user_data) {
  Lane& lane = *static_cast<Lane*>(user_data);
  --lane.under_way;
  lane.memory->worker_.api().request_free(request);
}

ucs_status_ptr_t RemoteMemory::put(NodeId peer, RemoteAddress to, Bytes from, Waits waits) {
  Target target = find(peer, to);
  if (target.status != UCS_OK) return UCS_STATUS_PTR(target.status);
  Lane& lane = lanes_[peer.value];
  ucp_request_param_t param{};
  prepare(param, lane, waits);
  return begun(lane,
               worker_.api().put_nbx(target.endpoint, from.data(), from.size(), target.address,
                                     target.key, &param),
               waits);
}

ucs_status_ptr_t RemoteMemory::get(NodeId peer, RemoteAddress from, WritableBytes into,
                                   Waits waits) {
  Target target = find(peer, from);
  if (target.status != UCS_OK) return UCS_STATUS_PTR(target.status);
  Lane& lane = lanes_[peer.value];
  ucp_request_param_t param{};
  prepare(param, lane, waits);
  return begun(lane,
               worker_.api().get_nbx(target.endpoint, into.data(), into.size(), target.address,
                                     target.key, &param),
               waits);
}

ucs_status_ptr_t RemoteMemory::flush(NodeId peer) {
  ucp_ep_h endpoint = outbox_.endpoint(peer);
  if (endpoint == nullptr) return UCS_STATUS_PTR(UCS_ERR_CONNECTION_RESET);
  ucp_request_param_t param{};
  return worker_.api().ep_flush_nbx(endpoint, &param);
}

void RemoteMemory::flushed(NodeId peer, std::uint64_t started) {
  Lane& lane = lanes_[peer.value];
  lane.flushed = std::max(lane.flushed, started);
}

}  // namespace terrane::transport::ucx
