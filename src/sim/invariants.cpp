#include "sim/history.h"

namespace terrane::sim {

using protocol::BlockState;

// Cheap enough for every message, and strong: what must hold between any two steps.
void History::check_across() const {
  check_locks();
  for (std::size_t r = 0; r < region_first_.size(); ++r) {
    if (!region_stands_[r]) continue;
    std::uint32_t blocks = program_->regions[r].blocks;
    if (blocks > 16) continue;  // the region that nobody touches
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (program_->regions[r].sc()) {
        check_sc_block(region_first_[r] + b);
      } else {
        check_block(region_first_[r] + b);
      }
    }
  }
}

// One token a lock, at a node or under way.
void History::check_locks() const {
  constexpr std::uint32_t kAll = kMaxLocks + kMaxCounts;  // counts follow the locks
  std::uint32_t tokens[kAll] = {};
  network_.each([&](protocol::Bytes message) {
    wire::LockGrant grant;
    if (static_cast<wire::Kind>(message[0]) == wire::Kind::kLockGrant && wire::take(message, grant))
      ++tokens[grant.lock < kMaxLocks ? grant.lock : grant.lock - count_id(0).value + kMaxLocks];
  });
  for (std::uint32_t lock = 0; lock < kAll; ++lock) {
    LockId id = lock < kMaxLocks ? LockId{lock} : count_id(lock - kMaxLocks);
    bool used = false;
    for (std::uint32_t n = 0; n < program_->setup.nodes; ++n) {
      const protocol::LockManager& locks = nodes_[n].core().locks();
      tokens[lock] += locks.has_token(id);
      used |= locks.manages(id);
    }
    if (tokens[lock] != (used ? 1u : 0u))
      violated(Fault::kInvariant, "lock {} has {} tokens, where {} is expected", lock, tokens[lock],
               used ? 1 : 0);
  }
}

void History::check_block(std::uint64_t block) const {
  std::uint32_t home = kNoNode.value;
  bool moving = false;  // who takes a home has not become it yet
  for (std::uint32_t n = 0; n < program_->setup.nodes; ++n)
    moving |= nodes_[n].hlrc().entry(block).busy();
  for (std::uint32_t n = 0; n < program_->setup.nodes; ++n) {
    const protocol::BlockEntry& entry = nodes_[n].hlrc().entry(block);
    if (entry.busy()) continue;
    check_node_block(n, block);
    std::uint32_t known = entry.home().value;
    if (known == kNoNode.value || (moving && program_->setup.migrate)) continue;
    for (std::uint32_t hops = 0; nodes_[known].words[block] & protocol::kMoved; ++hops) {
      if (hops > program_->setup.nodes)
        violated(Fault::kInvariant, "the home of {} is nowhere", name_of_blocks({block, 1}));
      known = protocol::home_in(nodes_[known].words[block]).value;
    }
    if (home != kNoNode.value && home != known)
      violated(Fault::kInvariant, "{} has homes {} and {}", name_of_blocks({block, 1}), home,
               known);
    home = known;
  }
}

void History::check_node_block(std::uint32_t n, std::uint64_t block) const {
  const Node& node = nodes_[n];
  const protocol::Hlrc& hlrc = node.hlrc();
  const protocol::BlockEntry& entry = hlrc.entry(block);
  const Node::View& view = node.views[block];
  BlockState state = entry.state();
  bool copy = state == BlockState::kClean || state == BlockState::kWritten;
  if (copy && !hlrc.is_cached(block))
    violated(Fault::kInvariant, "node {} holds a copy of {} and does not know", n,
             name_of_blocks({block, 1}));
  if (!copy && hlrc.is_cached(block))
    violated(Fault::kInvariant, "node {} takes {} for a copy, and has none", n,
             name_of_blocks({block, 1}));
  if (view.present && state == BlockState::kInvalid)
    violated(Fault::kInvariant, "node {} sees {}, which is invalid", n, name_of_blocks({block, 1}));
  if (view.present && !node.backed[block])
    violated(Fault::kInvariant, "node {} sees {}, which has no memory", n,
             name_of_blocks({block, 1}));
  if (state == BlockState::kHome && entry.home() != NodeId{n})
    violated(Fault::kInvariant, "node {} takes itself for the home of {}", n,
             name_of_blocks({block, 1}));
  if (node.words[block] & protocol::kTracked && !hlrc.is_tracked(block))
    violated(Fault::kInvariant, "readers believe that node {} tracks {}", n,
             name_of_blocks({block, 1}));
  bool noticed = program_->setup.scan || hlrc.is_written(block);
  if (hlrc.is_tracked(block) && view.present && !view.guarded && !noticed)
    violated(Fault::kInvariant, "node {} writes tracked {} unnoticed", n,
             name_of_blocks({block, 1}));
  if (state == BlockState::kWritten && !hlrc.is_written(block))
    violated(Fault::kInvariant, "node {} has written {} and would not flush it", n,
             name_of_blocks({block, 1}));
}

// Nobody else may store to a page that a thread loads, nor see one that it stores to.
void History::check_alone(std::uint32_t self, std::uint64_t block, bool writes) const {
  for (std::uint32_t n = 0; n < program_->setup.nodes; ++n) {
    const Node::View& view = nodes_[n].views[block];
    if (n != self && view.present && (writes || !view.guarded))
      violated(Fault::kInvariant, "node {} {} {}, which node {} may {}", self,
               writes ? "writes" : "reads", name_of_blocks({block, 1}), n,
               view.guarded ? "read" : "write");
  }
}

void History::check_sc_block(std::uint64_t block) const {
  for (std::uint32_t n = 0; n < program_->setup.nodes; ++n) {
    const Node& node = nodes_[n];
    const protocol::BlockEntry& entry = node.hlrc().entry(block);
    const Node::View& view = node.views[block];
    if (view.present) check_alone(n, block, !view.guarded);
    if (entry.busy()) continue;
    if (view.present && entry.state() == BlockState::kInvalid)
      violated(Fault::kInvariant, "node {} sees {}, which is invalid", n,
               name_of_blocks({block, 1}));
    if (view.present && !view.guarded && entry.state() != BlockState::kWritten)
      violated(Fault::kInvariant, "node {} writes {}, which is to be read", n,
               name_of_blocks({block, 1}));
    if (entry.state() == BlockState::kInvalid) continue;
    auto access =
        entry.state() == BlockState::kWritten ? protocol::Access::kWrite : protocol::Access::kRead;
    if (!nodes_[entry.home().value].core().sc().may_hold(NodeId{n}, block, access))
      violated(Fault::kInvariant, "node {} has {}, and its home does not know", n,
               name_of_blocks({block, 1}));
  }
}

}  // namespace terrane::sim
