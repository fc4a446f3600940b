#include "protocol/region_table.h"

#include "base/check.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr NodeId kServer{0};

Region region_of(const wire::RegionReply& reply) {
  Region region{RegionId{reply.region},          {reply.first, reply.blocks}, reply.bytes,
                static_cast<Homes>(reply.homes), NodeId{reply.home},          {}};
  std::memcpy(region.name, reply.name, sizeof region.name);
  return region;
}

wire::RegionReply reply_of(const Region& region, std::uint32_t waiter) {
  wire::RegionReply reply;
  reply.homes = static_cast<std::uint8_t>(region.homes);
  reply.waiter = waiter;
  reply.first = region.blocks.first;
  reply.blocks = region.blocks.count;
  reply.bytes = region.bytes;
  reply.home = region.home.value;
  reply.region = region.id.value;
  std::memcpy(reply.name, region.name, sizeof reply.name);
  return reply;
}

const Region* containing(const std::map<std::uint64_t, Region>& regions, std::uint64_t block) {
  auto after = regions.upper_bound(block);
  if (after == regions.begin()) return nullptr;
  const Region& region = std::prev(after)->second;
  return block < region.blocks.end() ? &region : nullptr;
}

}  // namespace

std::uint64_t home_of(const Region& region, std::uint64_t block, std::uint32_t nodes) {
  std::uint64_t index = block - region.blocks.first;
  switch (region.homes) {
    case Homes::kBlock: {
      std::uint64_t part = (region.blocks.count + nodes - 1) / nodes;
      return index / part;
    }
    case Homes::kCyclic:
      return index % nodes;
    case Homes::kExplicit:
      return region.home.value;
    case Homes::kFirstTouch:
      break;
  }
  return kHomeFirstTouch;
}

RegionTable::RegionTable(NodeId self, std::uint32_t nodes, std::uint64_t blocks, Outbox& outbox)
    : self_(self), nodes_(nodes), blocks_(blocks), outbox_(outbox) {
  if (self_ == kServer) space_.emplace(0, blocks);
}

// ---- asking
// ---------------------------------------------------------------------------------------------------------

void RegionTable::allocate(const RegionAllocate& request) {
  wire::RegionAllocate message;
  message.homes = static_cast<std::uint8_t>(request.homes);
  message.waiter = request.waiter.value;
  message.blocks = request.blocks;
  message.bytes = request.bytes;
  message.home = request.home.value;
  message.sequence = request.sequence;
  std::memcpy(message.name, request.name, sizeof message.name);
  if (self_ == kServer) {
    accept(serve_allocate(message));
  } else {
    wire::put(outbox_.begin(), message);
    outbox_.send(kServer);
  }
}

void RegionTable::find(const RegionFind& request) {
  if (const Region* region = known(request.block.value)) {
    mark(Mark::kRegionFoundHere);
    outbox_.resume_plain(request.waiter, home_of(*region, request.block.value, nodes_));
    return;
  }
  mark(Mark::kRegionAsked);
  wire::RegionFind message;
  message.waiter = request.waiter.value;
  message.block = request.block.value;
  asking_[request.waiter.value] = request.block.value;
  if (self_ == kServer) {
    accept(serve_find(message));
  } else {
    wire::put(outbox_.begin(), message);
    outbox_.send(kServer);
  }
}

void RegionTable::free(const RegionFree& request) {
  if (self_ == kServer) {
    wire::RegionStatus status = serve_free(request.first.value);
    outbox_.resume_plain(request.waiter, static_cast<std::uint64_t>(status));
    return;
  }
  wire::RegionFree message;
  message.waiter = request.waiter.value;
  message.first = request.first.value;
  wire::put(outbox_.begin(), message);
  outbox_.send(kServer);
}

void RegionTable::accept(const wire::RegionReply& reply) {
  bool ok = reply.status == wire::RegionStatus::kOk;
  if (ok) known_[reply.first] = region_of(reply);
  auto asked = asking_.find(reply.waiter);
  if (asked == asking_.end()) {  // an allocation
    wire::put(outbox_.begin(), reply);
    outbox_.resume(WaiterId{reply.waiter}, static_cast<std::uint64_t>(reply.status));
    return;
  }
  std::uint64_t block = asked->second;
  asking_.erase(asked);
  if (!ok) mark(Mark::kRegionUnknown);
  outbox_.resume_plain(WaiterId{reply.waiter},
                       ok ? home_of(known_[reply.first], block, nodes_) : kHomeNowhere);
}

const Region* RegionTable::known(std::uint64_t block) const { return containing(known_, block); }

void RegionTable::forget(BlockRange blocks) { known_.erase(blocks.first); }

void RegionTable::dropped(RegionId region, BlockRange blocks) {
  if (self_ == kServer) {
    count_dropped(region);
    return;
  }
  wire::RegionDrop message;
  message.kind = wire::Kind::kRegionDropped;
  message.region = region.value;
  message.first = blocks.first;
  message.blocks = blocks.count;
  wire::put(outbox_.begin(), message);
  outbox_.send(kServer);
}

// ---- node 0
// ---------------------------------------------------------------------------------------------------------

bool RegionTable::take_space(std::uint64_t blocks, std::uint64_t& first) {
  for (auto at = space_.begin(); at != space_.end(); ++at) {  // first fit
    if (at->second < blocks) continue;
    first = at->first;
    std::uint64_t rest = at->second - blocks;
    space_.erase(at);
    if (rest > 0) space_.emplace(first + blocks, rest);
    return true;
  }
  return false;
}

void RegionTable::give_space(BlockRange blocks) {
  auto after = space_.lower_bound(blocks.first);
  if (after != space_.end() && after->first == blocks.end()) {
    blocks.count += after->second;
    after = space_.erase(after);
  }
  if (after != space_.begin()) {
    auto before = std::prev(after);
    if (before->first + before->second == blocks.first) {
      before->second += blocks.count;
      return;
    }
  }
  space_.emplace(blocks.first, blocks.count);
}

wire::RegionReply RegionTable::serve_allocate(const wire::RegionAllocate& request) {
  auto same = [&](const wire::RegionReply& r) {
    return r.bytes == request.bytes && r.homes == request.homes && r.home == request.home;
  };
  if (request.sequence != 0) {
    auto made = collective_.find(request.sequence);
    if (made != collective_.end()) {
      mark(Mark::kRegionCollective);
      wire::RegionReply reply = made->second;
      reply.waiter = request.waiter;
      if (!same(reply)) reply.status = wire::RegionStatus::kMismatch;
      return reply;
    }
  }
  wire::RegionReply reply;
  reply.waiter = request.waiter;
  std::uint64_t first = 0;
  if (!take_space(request.blocks, first)) {
    reply.status = wire::RegionStatus::kNoSpace;
    return reply;
  }
  Region region{RegionId{next_region_++},          {first, request.blocks}, request.bytes,
                static_cast<Homes>(request.homes), NodeId{request.home},    {}};
  std::memcpy(region.name, request.name, sizeof region.name);
  allocated_[first] = region;
  reply = reply_of(region, request.waiter);
  if (request.sequence != 0) collective_[request.sequence] = reply;
  return reply;
}

wire::RegionReply RegionTable::serve_find(const wire::RegionFind& request) const {
  if (const Region* region = containing(allocated_, request.block))
    return reply_of(*region, request.waiter);
  wire::RegionReply reply;
  reply.waiter = request.waiter;
  reply.status = wire::RegionStatus::kUnknown;
  return reply;
}

wire::RegionStatus RegionTable::serve_free(std::uint64_t first) {
  auto at = allocated_.find(first);
  if (at == allocated_.end()) {
    mark(Mark::kRegionFreedTwice);
    return wire::RegionStatus::kUnknown;
  }
  mark(Mark::kRegionFreed);
  Region region = at->second;
  allocated_.erase(at);
  dropping_[region.id.value] = {region.blocks, nodes_};
  wire::RegionDrop message;
  message.region = region.id.value;
  message.first = region.blocks.first;
  message.blocks = region.blocks.count;
  for (std::uint32_t node = 1; node < nodes_; ++node) {
    wire::put(outbox_.begin(), message);
    outbox_.send(NodeId{node});
  }
  forget(region.blocks);
  outbox_.drop(region.id, region.blocks);
  return wire::RegionStatus::kOk;
}

void RegionTable::count_dropped(RegionId region) {
  auto at = dropping_.find(region.value);
  if (at == dropping_.end()) return;
  if (--at->second.missing > 0 && !mutant(Mutant::kReuseEarly)) return;
  give_space(at->second.blocks);
  dropping_.erase(at);
}

// ---- network
// --------------------------------------------------------------------------------------------------------

void RegionTable::reply(NodeId to, const wire::RegionReply& reply) {
  wire::put(outbox_.begin(), reply);
  outbox_.send(to);
}

bool RegionTable::received(NodeId from, Bytes message) {
  auto kind = static_cast<wire::Kind>(message[0]);
  bool server = self_ == kServer;
  wire::RegionAllocate allocate;
  wire::RegionFind find;
  wire::RegionReply answer;
  wire::RegionFree free;
  wire::RegionFreed freed;
  wire::RegionDrop drop;
  if (kind == wire::Kind::kRegionAllocate && server && wire::take(message, allocate) &&
      allocate.blocks > 0 && allocate.homes <= 3 && allocate.home < nodes_) {
    reply(from, serve_allocate(allocate));
  } else if (kind == wire::Kind::kRegionFind && server && wire::take(message, find)) {
    reply(from, serve_find(find));
  } else if (kind == wire::Kind::kRegionReply && from == kServer && wire::take(message, answer) &&
             answer.homes <= 3 && answer.first <= blocks_ &&
             answer.blocks <= blocks_ - answer.first) {
    accept(answer);
  } else if (kind == wire::Kind::kRegionFree && server && wire::take(message, free)) {
    freed.waiter = free.waiter;
    freed.status = serve_free(free.first);
    wire::put(outbox_.begin(), freed);
    outbox_.send(from);
  } else if (kind == wire::Kind::kRegionFreed && from == kServer && wire::take(message, freed)) {
    outbox_.resume_plain(WaiterId{freed.waiter}, static_cast<std::uint64_t>(freed.status));
  } else if (kind == wire::Kind::kRegionDrop && from == kServer && wire::take(message, drop) &&
             drop.first < blocks_ && drop.blocks <= blocks_ - drop.first) {
    forget({drop.first, drop.blocks});
    outbox_.drop(RegionId{drop.region}, {drop.first, drop.blocks});
  } else if (kind == wire::Kind::kRegionDropped && server && wire::take(message, drop)) {
    count_dropped(RegionId{drop.region});
  } else {
    return false;
  }
  return message.empty();
}

void RegionTable::check_invariants() const {
  std::uint64_t end = 0;
  bool first = true;
  for (const auto& [at, count] : space_) {
    TERRANE_CHECK(count > 0 && at + count <= blocks_, "free space lies within the space");
    TERRANE_CHECK(first || at > end, "free space is joined");
    end = at + count;
    first = false;
  }
  end = 0;
  for (const auto& [at, region] : known_) {
    TERRANE_CHECK(at == region.blocks.first && at >= end, "known regions do not overlap");
    end = region.blocks.end();
  }
}

}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
