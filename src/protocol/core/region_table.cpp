#include "protocol/core/region_table.h"

#include <algorithm>

#include "base/check.h"
#include "protocol/sc/sc_instrument.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace {

constexpr NodeId kServer{0};

Region region_of(const wire::RegionReply& reply) {
  Region region{RegionId{reply.region}, {reply.first, reply.blocks}, reply.bytes, reply.policy, {}};
  std::memcpy(region.name, reply.name, sizeof region.name - 1);
  return region;
}

wire::RegionReply reply_of(const Region& region, std::uint32_t waiter) {
  wire::RegionReply reply;
  reply.policy = region.policy;
  reply.waiter = waiter;
  reply.first = region.blocks.first;
  reply.blocks = region.blocks.count;
  reply.bytes = region.bytes;
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

std::uint64_t home_of(const Region& region, std::uint64_t block, const Clusters& clusters) {
  std::uint64_t index = block - region.blocks.first;
  std::uint32_t nodes = clusters.nodes();
  switch (region.policy.homes) {
    case Homes::kBlock: {
      std::uint64_t part = (region.blocks.count + nodes - 1) / nodes;
      return index / part;
    }
    case Homes::kCyclic:
      return index % nodes;
    case Homes::kBlockCyclic:
      return index / region.policy.argument % nodes;
    case Homes::kExplicit:
      return region.policy.argument;
    case Homes::kCluster: {
      auto members = clusters.members(region.policy.argument);
      std::uint64_t part = (region.blocks.count + members.size() - 1) / members.size();
      return members[index / part].value;
    }
    case Homes::kFirstTouch:
      break;
  }
  std::uint32_t directory = region.policy.argument;
  if (region.policy.protocol == Protocol::kSc)
    return directory_of(block, clusters, directory).value;
  return kHomeFirstTouch | directory;
}

std::uint64_t count_together(const Region& region, std::uint64_t block, const Clusters& clusters) {
  std::uint64_t index = block - region.blocks.first;
  std::uint64_t left = region.blocks.count - index;
  auto part_left = [&](std::uint64_t part) { return std::min(left, part - index % part); };
  std::uint64_t parts = clusters.nodes();
  switch (region.policy.homes) {
    case Homes::kCluster:
      parts = clusters.members(region.policy.argument).size();
      [[fallthrough]];
    case Homes::kBlock:
      return part_left((region.blocks.count + parts - 1) / parts);
    case Homes::kCyclic:
      return 1;
    case Homes::kBlockCyclic:
      return part_left(region.policy.argument);
    case Homes::kExplicit:
      return left;
    case Homes::kFirstTouch:
      break;
  }
  return 0;
}

std::uint64_t found(const Region& region, std::uint64_t block, const Clusters& clusters) {
  std::uint64_t together = std::min(count_together(region, block, clusters), kMostFoundTogether);
  if (mutant(Mutant::kNamesOthersHomes) && together > 0) ++together;
  return home_of(region, block, clusters) |
         static_cast<std::uint64_t>(region.policy.protocol) << 40 |
         static_cast<std::uint64_t>(region.policy.propagation) << 44 | together << 48;
}

RegionTable::RegionTable(NodeId self, const Clusters& clusters, std::uint64_t blocks,
                         std::uint64_t sc_first, Outbox& outbox)
    : self_(self),
      clusters_(clusters),
      nodes_(clusters.nodes()),
      blocks_(blocks),
      sc_first_(std::min(sc_first, blocks)),
      outbox_(outbox) {
  for (Protocol protocol : {Protocol::kHlrc, Protocol::kSc}) {
    BlockRange part = part_for(protocol);
    if (self_ == kServer && part.count > 0) space_.emplace(part.first, part.count);
  }
}

BlockRange RegionTable::part_for(Protocol protocol) const {
  if (protocol == Protocol::kSc) return {sc_first_, blocks_ - sc_first_};
  return {0, sc_first_};
}

// ---- requests of this node

void RegionTable::allocate(const RegionAllocate& request) {
  wire::RegionAllocate message;
  message.waiter = request.waiter.value;
  message.blocks = request.blocks;
  message.bytes = request.bytes;
  message.policy = request.policy;
  message.sequence = request.sequence;
  std::memcpy(message.name, request.name, sizeof message.name);
  asking_[message.waiter] = {wire::Kind::kRegionAllocate};
  if (self_ == kServer) {
    wire::RegionReply reply;
    bool served = serve_allocate(self_, message, reply) && accept(reply);
    TERRANE_CHECK(served, "node 0 understands itself");
  } else {
    wire::put(outbox_.begin(), message);
    outbox_.send(kServer);
  }
}

void RegionTable::find(const RegionFind& request) {
  if (const Region* region = known(request.block.value)) {
    mark(Mark::kRegionFoundHere);
    outbox_.resume_plain(request.waiter, found(*region, request.block.value, clusters_));
    return;
  }
  mark(Mark::kRegionAsked);
  wire::RegionFind message;
  message.waiter = request.waiter.value;
  message.block = request.block.value;
  asking_[request.waiter.value] = {wire::Kind::kRegionFind, request.block.value};
  if (self_ == kServer) {
    TERRANE_CHECK(accept(serve_find(message)), "node 0 understands itself");
  } else {
    wire::put(outbox_.begin(), message);
    outbox_.send(kServer);
  }
}

void RegionTable::extent(const RegionExtent& request) {
  const Region* region = known(request.block.value);
  outbox_.resume_plain(request.waiter,
                       region == nullptr ? 0 : region->blocks.end() - request.block.value);
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
  asking_[message.waiter] = {wire::Kind::kRegionFree};
  wire::put(outbox_.begin(), message);
  outbox_.send(kServer);
}

// Whether node 0 can have sent this reply: a region within the space that overlaps no other region
// known here and, if we asked for the home of a block, contains that block.
bool RegionTable::fits(const wire::RegionReply& reply, const Question& question) const {
  if (question.kind == wire::Kind::kRegionFree) return false;
  if (reply.status != wire::RegionStatus::kOk) return reply.status <= wire::RegionStatus::kUnknown;
  if (reply.blocks == 0 || reply.first >= blocks_ || reply.blocks > blocks_ - reply.first ||
      !wire::is_valid(reply.policy, nodes_, clusters_.count())) {
    return false;
  }
  BlockRange blocks{reply.first, reply.blocks};
  BlockRange part = part_for(reply.policy.protocol);
  if (blocks.first < part.first || blocks.end() > part.end()) return false;
  if (question.kind == wire::Kind::kRegionFind &&
      (question.block < blocks.first || question.block >= blocks.end())) {
    return false;
  }
  auto after = known_.lower_bound(blocks.end());
  if (after == known_.begin()) return true;
  const Region& last = std::prev(after)->second;
  if (last.blocks.end() <= blocks.first) return true;
  return last.id.value == reply.region && last.blocks == blocks;
}

bool RegionTable::accept(const wire::RegionReply& reply) {
  auto asked = asking_.find(reply.waiter);
  if (asked == asking_.end() || !fits(reply, asked->second)) return false;
  Question question = asked->second;
  asking_.erase(asked);
  bool ok = reply.status == wire::RegionStatus::kOk;
  if (ok) known_[reply.first] = region_of(reply);
  if (question.kind == wire::Kind::kRegionAllocate) {
    wire::put(outbox_.begin(), reply);
    outbox_.resume(WaiterId{reply.waiter}, static_cast<std::uint64_t>(reply.status));
    return true;
  }
  if (!ok) mark(Mark::kRegionUnknown);
  outbox_.resume_plain(WaiterId{reply.waiter},
                       ok ? found(known_[reply.first], question.block, clusters_) : kHomeNowhere);
  return true;
}

bool RegionTable::accept_freed(const wire::RegionFreed& freed) {
  auto asked = asking_.find(freed.waiter);
  if (asked == asking_.end() || asked->second.kind != wire::Kind::kRegionFree ||
      freed.status > wire::RegionStatus::kUnknown) {
    return false;
  }
  asking_.erase(asked);
  outbox_.resume_plain(WaiterId{freed.waiter}, static_cast<std::uint64_t>(freed.status));
  return true;
}

const Region* RegionTable::known(std::uint64_t block) const { return containing(known_, block); }

void RegionTable::forget(BlockRange blocks) { known_.erase(blocks.first); }

void RegionTable::dropped(RegionId region, BlockRange blocks) {
  if (self_ == kServer) {
    count_dropped(self_, region);
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

bool RegionTable::take_space(std::uint64_t blocks, Protocol protocol, std::uint64_t& first) {
  BlockRange part = part_for(protocol);
  auto end = space_.lower_bound(part.end());
  for (auto at = space_.lower_bound(part.first); at != end; ++at) {  // first fit
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
  if (after != space_.end() && after->first == blocks.end() && after->first != sc_first_) {
    blocks.count += after->second;
    after = space_.erase(after);
  }
  if (after != space_.begin() && blocks.first != sc_first_) {
    auto before = std::prev(after);
    if (before->first + before->second == blocks.first) {
      before->second += blocks.count;
      return;
    }
  }
  space_.emplace(blocks.first, blocks.count);
}

bool RegionTable::NodeCount::add(NodeId node, std::uint32_t all) {
  nodes.resize(all);
  if (nodes[node.value]) return false;
  nodes[node.value] = true;
  ++count;
  return true;
}

// What one node allocates for itself is mostly written in its cluster. Nodes of that cluster keep
// its directory, so that first writes there send no request over a link.
wire::RegionReply RegionTable::make_region(NodeId from, const wire::RegionAllocate& request) {
  Region region{RegionId{next_region_}, {0, request.blocks}, request.bytes, request.policy, {}};
  bool own = request.sequence == 0 && request.policy.homes == Homes::kFirstTouch;
  if (own && clusters_.count() > 1) {
    mark(Mark::kRegionKeptInCluster);
    region.policy.argument = clusters_.of(from) + 1;
  }
  std::memcpy(region.name, request.name, sizeof region.name - 1);
  bool taken = take_space(request.blocks, region.policy.protocol, region.blocks.first);
  wire::RegionReply reply = reply_of(region, request.waiter);
  if (taken) {
    ++next_region_;
    allocated_[region.blocks.first] = region;
  } else {
    reply.status = wire::RegionStatus::kNoSpace;
  }
  return reply;
}

bool RegionTable::serve_allocate(NodeId from, const wire::RegionAllocate& request,
                                 wire::RegionReply& reply) {
  if (request.sequence == 0) {
    reply = make_region(from, request);
    return true;
  }
  auto [call, fresh] = collective_.try_emplace(request.sequence);
  if (!call->second.asked.add(from, nodes_)) return false;
  if (fresh) {
    call->second.reply = make_region(from, request);
  } else {
    mark(Mark::kRegionCollective);
  }
  reply = call->second.reply;
  reply.waiter = request.waiter;
  bool same = reply.bytes == request.bytes && reply.policy == request.policy;
  // A node may have freed it before all have called: its blocks may belong to another region now.
  auto stands = allocated_.find(reply.first);
  bool freed = reply.status == wire::RegionStatus::kOk &&
               (stands == allocated_.end() || stands->second.id.value != reply.region);
  if (!same || freed) reply.status = wire::RegionStatus::kMismatch;
  if (call->second.asked.count == nodes_) collective_.erase(call);
  return true;
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
  forget(region.blocks);
  // A node that has not dropped its copies yet may still flush what was written to them, or give
  // back pages, to homes that have dropped theirs. So all nodes drop a second time when all have
  // dropped once: then no node has a copy, and the homes delete what arrived in between.
  bool sc = region.policy.protocol == Protocol::kSc;
  bool again = sc ? !sc::mutant(sc::Mutant::kDropOnce) : !mutant(Mutant::kDropOnce);
  dropping_[region.id.value] = {region.blocks, {}, again};
  drop_everywhere(region.id, region.blocks);
  return wire::RegionStatus::kOk;
}

void RegionTable::drop_everywhere(RegionId region, BlockRange blocks) {
  wire::RegionDrop message;
  message.region = region.value;
  message.first = blocks.first;
  message.blocks = blocks.count;
  for (std::uint32_t node = 1; node < nodes_; ++node) {
    wire::put(outbox_.begin(), message);
    outbox_.send(NodeId{node});
  }
  outbox_.drop(region, blocks);
}

bool RegionTable::count_dropped(NodeId from, RegionId region) {
  auto at = dropping_.find(region.value);
  if (at == dropping_.end() || !at->second.done.add(from, nodes_)) return false;
  Dropping& dropping = at->second;
  if (dropping.again && dropping.done.count == nodes_) {
    dropping = {dropping.blocks, {}, false};
    drop_everywhere(region, dropping.blocks);
  }
  if (dropping.again) return true;
  std::uint32_t enough = mutant(Mutant::kReuseEarly) ? 1 : nodes_;
  if (at->second.done.count == enough) give_space(at->second.blocks);
  if (at->second.done.count == nodes_) dropping_.erase(at);
  return true;
}

// ---- network

void RegionTable::reply(NodeId to, const wire::RegionReply& reply) {
  wire::put(outbox_.begin(), reply);
  outbox_.send(to);
}

bool RegionTable::received(NodeId from, Bytes message) {
  auto kind = static_cast<wire::Kind>(message[0]);
  bool good = self_ == kServer ? received_by_server(from, kind, message)
                               : from == kServer && received_from_server(kind, message);
  return good && message.empty();
}

bool RegionTable::received_by_server(NodeId from, wire::Kind kind, Bytes& message) {
  wire::RegionAllocate allocate;
  wire::RegionFind find;
  wire::RegionReply answer;
  wire::RegionFree free;
  wire::RegionFreed freed;
  wire::RegionDrop drop;
  if (kind == wire::Kind::kRegionAllocate && wire::take(message, allocate)) {
    if (allocate.blocks == 0 || !wire::is_valid(allocate.policy, nodes_, clusters_.count()) ||
        !serve_allocate(from, allocate, answer)) {
      return false;
    }
    reply(from, answer);
    return true;
  }
  if (kind == wire::Kind::kRegionFind && wire::take(message, find)) {
    reply(from, serve_find(find));
    return true;
  }
  if (kind == wire::Kind::kRegionFree && wire::take(message, free)) {
    freed.waiter = free.waiter;
    freed.status = serve_free(free.first);
    wire::put(outbox_.begin(), freed);
    outbox_.send(from);
    return true;
  }
  return kind == wire::Kind::kRegionDropped && wire::take(message, drop) &&
         count_dropped(from, RegionId{drop.region});
}

bool RegionTable::received_from_server(wire::Kind kind, Bytes& message) {
  wire::RegionReply answer;
  wire::RegionFreed freed;
  wire::RegionDrop drop;
  if (kind == wire::Kind::kRegionReply) return wire::take(message, answer) && accept(answer);
  if (kind == wire::Kind::kRegionFreed) return wire::take(message, freed) && accept_freed(freed);
  if (kind != wire::Kind::kRegionDrop || !wire::take(message, drop) || drop.blocks == 0 ||
      drop.first >= blocks_ || drop.blocks > blocks_ - drop.first) {
    return false;
  }
  forget({drop.first, drop.blocks});
  outbox_.drop(RegionId{drop.region}, {drop.first, drop.blocks});
  return true;
}

void RegionTable::check_invariants() const {
  std::uint64_t end = 0;
  bool first = true;
  for (const auto& [at, count] : space_) {
    TERRANE_CHECK(count > 0 && at + count <= blocks_, "free space lies within the space");
    TERRANE_CHECK(first || at > end || at == sc_first_, "free space is joined");
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
