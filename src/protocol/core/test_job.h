#pragma once

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "protocol/core/core.h"

namespace terrane::protocol {

// For tests: the cores of a job, and a network that keeps the order of messages. Owns the messages
// under way and the results of the waiters.
class TestJob {
 public:
  struct Message {
    NodeId from;
    NodeId to;
    std::vector<std::byte> bytes;
  };
  struct Resumed {
    std::uint64_t value;
    std::vector<std::byte> payload;
  };

  explicit TestJob(std::uint32_t nodes, std::uint64_t blocks = 1024, std::uint32_t arity = 2,
                   std::uint64_t sc_first = ~0ull, const std::uint32_t* hosts = nullptr,
                   const std::uint32_t* clusters = nullptr, bool counts_announcements = false) {
    for (std::uint32_t n = 0; n < nodes; ++n) {
      cores_.push_back(
          std::make_unique<Core>(CoreConfig{.self = NodeId{n},
                                            .nodes = nodes,
                                            .blocks = blocks,
                                            .sc_first = sc_first,
                                            .hosts = hosts,
                                            .clusters = clusters,
                                            .barrier_arity = arity,
                                            .counts_announcements = counts_announcements}));
    }
  }

  Core& core(std::uint32_t node) { return *cores_[node]; }

  void step(std::uint32_t node, const Event& event) {
    Effects effects;
    core(node).step(event, effects);
    Bytes all(effects.bytes);
    for (const auto& effect : effects.list) {
      if (const auto* send = std::get_if<Send>(&effect)) {
        Bytes bytes = all.subspan(send->offset, send->size);
        messages.push_back({NodeId{node}, send->to, {bytes.begin(), bytes.end()}});
        messages.back().bytes.resize(bytes.size() + send->with.count);  // one byte for each block
        Bytes wanted = all.subspan(send->offset + send->size, send->wanted * sizeof(std::uint64_t));
        for (std::uint64_t block; wire::take(wanted, block);)
          put_granted(messages.back().bytes, node, block);
      } else if (const auto* resume = std::get_if<Resume>(&effect)) {
        Bytes bytes = all.subspan(resume->offset, resume->size);
        order.push_back(resume->waiter.value);
        resumed[resume->waiter.value] = {resume->value, {bytes.begin(), bytes.end()}};
      } else if (const auto* drop = std::get_if<Drop>(&effect)) {
        drops.emplace_back(node, *drop);
      } else if (const auto* recall = std::get_if<Recall>(&effect)) {
        recalls.emplace_back(node, *recall);
      } else if (const auto* release = std::get_if<ReleaseKept>(&effect)) {
        kept.emplace_back(node, *release);
      } else if (const auto* turn = std::get_if<TurnExtended>(&effect)) {
        turns.emplace_back(node, *turn);
      } else if (const auto* expire = std::get_if<Expire>(&effect)) {
        expires.emplace_back(node, *expire);
      } else if (const auto* offer = std::get_if<Offer>(&effect)) {
        offers.emplace_back(node, *offer);
      } else if (const auto* adopt = std::get_if<Adopt>(&effect)) {
        adopts.emplace_back(node, *adopt);
      } else if (std::holds_alternative<Malformed>(effect)) {
        ++malformed;
      }
    }
    core(node).check_invariants();
  }
  // Appends a block as a host appends it to a grant.
  static void put_granted(std::vector<std::byte>& out, std::uint32_t home, std::uint64_t block) {
    std::uint32_t bytes = CoreConfig{}.block_bytes;
    wire::put(out, wire::GrantedBlock{.block = block, .home = home, .bytes = bytes});
    out.resize(out.size() + bytes);
  }
  void deliver() {
    Message message = std::move(messages.front());
    messages.pop_front();
    step(message.to.value, Received{message.from, message.bytes});
  }
  void deliver_all() {
    while (!messages.empty()) deliver();
  }
  bool was_resumed(std::uint32_t waiter) const { return resumed.contains(waiter); }

  std::deque<Message> messages;
  std::map<std::uint32_t, Resumed> resumed;  // by waiter
  std::vector<std::uint32_t> order;          // of the resumed waiters
  std::vector<std::pair<std::uint32_t, Drop>> drops;
  std::vector<std::pair<std::uint32_t, ReleaseKept>> kept;
  std::vector<std::pair<std::uint32_t, TurnExtended>> turns;
  std::vector<std::pair<std::uint32_t, Recall>> recalls;
  std::vector<std::pair<std::uint32_t, Expire>> expires;
  std::vector<std::pair<std::uint32_t, Offer>> offers;
  std::vector<std::pair<std::uint32_t, Adopt>> adopts;
  int malformed = 0;

 private:
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace terrane::protocol
