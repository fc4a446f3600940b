#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "transport/one_sided.h"
#include "transport/ucx/card.h"
#include "transport/ucx/outbox.h"
#include "transport/ucx/worker.h"

namespace terrane::transport::ucx {

// The peers' memory by UCX's own puts and gets, which RDMA does without the peers' processors:
// starts them, and knows which of them a flush has covered. Not atomics: those of UCX 1.16 to 1.22
// fail on connections that tell of their peer's end. Owns the keys, until release_keys(). By the
// thread that is inside the worker, except bytes() and has_key().
//
// What is started is described as UCX does: nullptr is done, a request must be waited for and
// freed, or it is an error.
class RemoteMemory {
 public:
  // The regions by node.
  RemoteMemory(Worker& worker, Outbox& outbox, std::vector<std::vector<UcxCard::Region>> regions);
  RemoteMemory(const RemoteMemory&) = delete;

  std::uint64_t bytes(NodeId peer, std::uint32_t region) const;
  // Whether its owner serves calls on the region, in whatever way.
  bool is_served(NodeId peer, std::uint32_t region) const;
  // Whether UCX reaches the region.
  bool has_key(NodeId peer, std::uint32_t region) const;

  // A request that nobody waits for is counted until it is done, and frees itself.
  enum class Waits : std::uint8_t { kCaller, kNobody };
  ucs_status_ptr_t put(NodeId peer, RemoteAddress to, Bytes from, Waits waits);
  ucs_status_ptr_t get(NodeId peer, RemoteAddress from, WritableBytes into, Waits waits);
  std::uint32_t under_way(NodeId peer) const { return lanes_[peer.value].under_way; }

  // How much has been started; a flush from here on covers it.
  std::uint64_t started(NodeId peer) const { return lanes_[peer.value].started; }
  bool is_flushed(NodeId peer) const {
    return lanes_[peer.value].flushed == lanes_[peer.value].started;
  }
  ucs_status_ptr_t flush(NodeId peer);
  void flushed(NodeId peer, std::uint64_t started);

  // The last call before the worker ends. Callbacks may still come.
  void release_keys();

 private:
  struct Region {
    UcxCard::Region card;
    ucp_rkey_h key = nullptr;  // from the first use on
  };
  struct Lane {
    RemoteMemory* memory = nullptr;
    std::vector<Region> regions;
    std::uint64_t started = 0;
    std::uint64_t flushed = 0;
    std::uint32_t under_way = 0;  // that nobody waits for
  };
  struct Target {
    ucp_ep_h endpoint = nullptr;
    ucp_rkey_h key = nullptr;
    std::uint64_t address = 0;
    ucs_status_t status = UCS_OK;
  };

  Target find(NodeId peer, RemoteAddress at);
  void prepare(ucp_request_param_t& param, Lane& lane, Waits waits);
  ucs_status_ptr_t begun(Lane& lane, ucs_status_ptr_t request, Waits waits);
  static void on_done(void* request, ucs_status_t status, void* lane);

  Worker& worker_;
  Outbox& outbox_;
  std::vector<Lane> lanes_;
};

}  // namespace terrane::transport::ucx
