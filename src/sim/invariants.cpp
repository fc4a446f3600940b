#include "sim/history.h"

namespace terrane::sim {

using protocol::BlockState;

// What must hold across nodes between any two steps.
struct History::Invariants {
  const History& history;

  void check() const;
  void check_locks() const;
  void check_block(std::uint64_t block) const;
  void check_node_block(std::uint32_t node, std::uint64_t block) const;
  void check_sc_block(std::uint64_t block) const;
  void check_sc_node(std::uint32_t node, std::uint64_t block) const;
};

void History::check_across() const { Invariants{*this}.check(); }

// These checks are strong, and cheap enough for every message.
void History::Invariants::check() const {
  check_locks();
  for (std::size_t r = 0; r < history.region_first_.size(); ++r) {
    if (!history.region_stands_[r]) continue;
    std::uint32_t blocks = history.program_->regions[r].blocks;
    if (blocks > 16) continue;  // the region that no thread uses
    for (std::uint32_t b = 0; b < blocks; ++b) {
      if (history.program_->regions[r].sc()) {
        check_sc_block(history.region_first_[r] + b);
      } else {
        check_block(history.region_first_[r] + b);
      }
    }
  }
}

// Each lock has one token, at a node or under way.
void History::Invariants::check_locks() const {
  constexpr std::uint32_t kAll = kMaxLocks + kMaxCounts;  // counts follow the locks
  std::uint32_t tokens[kAll] = {};
  history.network_.each([&](protocol::Bytes message) {
    wire::LockGrant grant;
    if (static_cast<wire::Kind>(message[0]) == wire::Kind::kLockGrant && wire::take(message, grant))
      ++tokens[grant.lock < kMaxLocks ? grant.lock : grant.lock - count_id(0).value + kMaxLocks];
  });
  for (std::uint32_t lock = 0; lock < kAll; ++lock) {
    LockId id = lock < kMaxLocks ? LockId{lock} : count_id(lock - kMaxLocks);
    bool used = false;
    for (std::uint32_t n = 0; n < history.program_->setup.nodes; ++n) {
      const protocol::LockManager& locks = history.nodes_[n].core().locks();
      tokens[lock] += locks.has_token(id);
      used |= locks.manages(id);
    }
    if (tokens[lock] != (used ? 1u : 0u))
      violated(Fault::kInvariant, "lock {} has {} tokens, where {} is expected", lock, tokens[lock],
               used ? 1 : 0);
  }
}

void History::Invariants::check_block(std::uint64_t block) const {
  std::uint32_t home = kNoNode.value;
  bool moving = false;  // a node that takes the home is not the home yet
  for (std::uint32_t n = 0; n < history.program_->setup.nodes; ++n)
    moving |= history.nodes_[n].hlrc().entry(block).busy();
  for (std::uint32_t n = 0; n < history.program_->setup.nodes; ++n) {
    const protocol::BlockEntry& entry = history.nodes_[n].hlrc().entry(block);
    if (entry.busy()) continue;
    if (entry.synchronises()) {
      check_sc_node(n, block);
    } else {
      check_node_block(n, block);
    }
    std::uint32_t known = entry.home().value;
    if (known == kNoNode.value || (moving && history.program_->setup.migrate)) continue;
    for (std::uint32_t hops = 0; history.nodes_[known].words[block] & protocol::kMoved; ++hops) {
      if (hops > history.program_->setup.nodes)
        violated(Fault::kInvariant, "the home of {} is nowhere",
                 history.name_of_blocks({block, 1}));
      known = protocol::home_in(history.nodes_[known].words[block]).value;
    }
    if (home != kNoNode.value && home != known)
      violated(Fault::kInvariant, "{} has homes {} and {}", history.name_of_blocks({block, 1}),
               home, known);
    home = known;
  }
}

void History::Invariants::check_node_block(std::uint32_t n, std::uint64_t block) const {
  const Node& node = history.nodes_[n];
  const protocol::Hlrc& hlrc = node.hlrc();
  const protocol::BlockEntry& entry = hlrc.entry(block);
  const Node::View& view = node.views[block];
  BlockState state = entry.state();
  bool copy = state == BlockState::kClean || state == BlockState::kWritten;
  if (copy && !hlrc.state().cached.contains(block))
    violated(Fault::kInvariant, "node {} holds a copy of {} and does not know", n,
             history.name_of_blocks({block, 1}));
  if (!copy && hlrc.state().cached.contains(block))
    violated(Fault::kInvariant, "node {} takes {} for a copy, and has none", n,
             history.name_of_blocks({block, 1}));
  bool sealed = hlrc.state().sealed.contains(block);
  if (sealed && view.present && !view.sealed)
    violated(Fault::kInvariant, "node {} may write {}, which has no twin, unnoticed", n,
             history.name_of_blocks({block, 1}));
  if (copy && history.program_->setup.scan && !sealed && !node.has_twin(block))
    violated(Fault::kInvariant, "node {} holds a copy of {} without a twin", n,
             history.name_of_blocks({block, 1}));
  if (view.present && state == BlockState::kInvalid)
    violated(Fault::kInvariant, "node {} sees {}, which is invalid", n,
             history.name_of_blocks({block, 1}));
  if (view.present && !node.backed[block])
    violated(Fault::kInvariant, "node {} sees {}, which has no memory", n,
             history.name_of_blocks({block, 1}));
  if (state == BlockState::kHome && entry.home() != NodeId{n})
    violated(Fault::kInvariant, "node {} takes itself for the home of {}", n,
             history.name_of_blocks({block, 1}));
  if (node.words[block] & protocol::kTracked && !hlrc.state().tracked.contains(block))
    violated(Fault::kInvariant, "readers believe that node {} tracks {}", n,
             history.name_of_blocks({block, 1}));
  bool noticed = history.program_->setup.scan || hlrc.state().written.contains(block);
  if (hlrc.state().tracked.contains(block) && view.present && !view.guarded && !noticed)
    violated(Fault::kInvariant, "node {} writes tracked {} unnoticed", n,
             history.name_of_blocks({block, 1}));
  if (state == BlockState::kWritten && !hlrc.state().written.contains(block))
    violated(Fault::kInvariant, "node {} has written {} and would not flush it", n,
             history.name_of_blocks({block, 1}));
}

// No other node may store to a page that this node loads, or see one that it stores to.
void History::check_alone(std::uint32_t self, std::uint64_t block, bool writes) const {
  for (std::uint32_t n = 0; n < program_->setup.nodes; ++n) {
    const Node::View& view = nodes_[n].views[block];
    if (n != self && view.present && (writes || !view.guarded))
      violated(Fault::kInvariant, "node {} {} {}, which node {} may {}", self,
               writes ? "writes" : "reads", name_of_blocks({block, 1}), n,
               view.guarded ? "read" : "write");
  }
}

void History::Invariants::check_sc_block(std::uint64_t block) const {
  for (std::uint32_t n = 0; n < history.program_->setup.nodes; ++n) check_sc_node(n, block);
}

void History::Invariants::check_sc_node(std::uint32_t n, std::uint64_t block) const {
  const Node& node = history.nodes_[n];
  const protocol::BlockEntry& entry = node.hlrc().entry(block);
  const Node::View& view = node.views[block];
  if (view.present) history.check_alone(n, block, !view.guarded);
  if (entry.busy()) return;
  if (view.present && entry.state() == BlockState::kInvalid)
    violated(Fault::kInvariant, "node {} sees {}, which is invalid", n,
             history.name_of_blocks({block, 1}));
  if (view.present && !view.guarded && entry.state() != BlockState::kWritten)
    violated(Fault::kInvariant, "node {} writes {}, which is to be read", n,
             history.name_of_blocks({block, 1}));
  if (entry.state() == BlockState::kInvalid) return;
  auto access =
      entry.state() == BlockState::kWritten ? protocol::Access::kWrite : protocol::Access::kRead;
  if (!history.nodes_[entry.home().value].core().sc().may_hold(NodeId{n}, block, access))
    violated(Fault::kInvariant, "node {} has {}, and its home does not know", n,
             history.name_of_blocks({block, 1}));
}

}  // namespace terrane::sim
