#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

#include "protocol/chunks/mesi_chunk.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {

// The machines of a job, with a network that keeps order. Messages carry data of the right length,
// but no contents.
class ChunkJob {
 public:
  static constexpr std::uint64_t kBytes = 8;
  static constexpr std::uint64_t kMostBytes = 1 << 16;  // of a version of a work stream

  // clusters: the cluster of each node; nullptr: there is one.
  explicit ChunkJob(std::uint32_t nodes, std::uint32_t servers = 1,
                    std::uint64_t budget_bytes = 1 << 20, const std::uint32_t* clusters = nullptr,
                    std::uint64_t relay_bytes = 1 << 20)
      : clusters_(nodes, nullptr, clusters) {
    view_.epoch = 1;
    for (std::uint32_t n = 0; n < nodes; ++n) view_.members.push_back(NodeId{n});
    for (std::uint32_t s = 0; s < servers; ++s) view_.slots.push_back({.home = NodeId{s}});
    for (std::uint32_t n = 0; n < nodes; ++n) {
      machines_.push_back(std::make_unique<MesiChunk>(MesiConfig{.self = NodeId{n},
                                                                 .budget_bytes = budget_bytes,
                                                                 .relay_bytes = relay_bytes,
                                                                 .clusters = &clusters_}));
      step(n, ViewChanged{&view_});
    }
  }

  // Adds a node slot for each node, for chunks that are placed there. Called before anything else.
  void give_slots() {
    view_.names = static_cast<std::uint32_t>(view_.slots.size());
    for (NodeId node : view_.members) view_.slots.push_back({.home = node});
    ++view_.epoch;
    for (NodeId node : view_.members) step(node.value, ViewChanged{&view_});
  }
  NodeId home_of_name(std::string_view name) const {
    return view_.slots[slot_of(name, view_)].home;
  }

  void step(std::uint32_t node, const Event& event) {
    Effects effects;
    machines_[node]->step(event, effects);
    machines_[node]->check_invariants();
    for (const auto& effect : effects.list) {
      if (const auto* send = std::get_if<Send>(&effect)) {
        Bytes head = Bytes(effects.bytes).subspan(send->offset, send->size);
        std::uint64_t data = send->data_bytes <= kMostBytes ? send->data_bytes : kBytes;
        std::vector<std::byte> bytes(head.size() + (send->with_data ? data : 0));
        std::copy(head.begin(), head.end(), bytes.begin());
        messages.push_back({NodeId{node}, send->to, std::move(bytes)});
      } else if (const auto* forward = std::get_if<Forward>(&effect)) {
        Bytes head = Bytes(effects.bytes).subspan(forward->offset, forward->size);
        std::vector<std::byte> bytes(head.begin(), head.end());
        bytes.insert(bytes.end(), forward->data.begin(), forward->data.end());
        messages.push_back({NodeId{node}, forward->to, std::move(bytes)});
      } else if (const auto* resume = std::get_if<Resume>(&effect)) {
        resumed[resume->waiter.value] = *resume;
      } else if (const auto* lost = std::get_if<Lost>(&effect)) {
        losses.push_back(*lost);
      } else if (std::get_if<Malformed>(&effect)) {
        ++malformed;
      }
    }
  }
  // Returns how many messages there were.
  int deliver_all() {
    int count = 0;
    for (; !messages.empty(); ++count) {
      Message message = std::move(messages.front());
      messages.pop_front();
      if (view_.has(message.to)) step(message.to.value, Received{message.from, message.bytes});
    }
    return count;
  }

  // Delivers the messages under way to one node.
  void deliver_to(NodeId node) {
    std::deque<Message> all;
    all.swap(messages);
    for (Message& message : all) {
      if (message.to == node) {
        step(node.value, Received{message.from, message.bytes});
      } else {
        messages.push_back(std::move(message));
      }
    }
  }

  const MesiChunk& machine(std::uint32_t node) const { return *machines_[node]; }

  ChunkId create(std::uint32_t node, std::string_view name, Coherence coherence) {
    step(node, Create{name, kBytes, coherence, WaiterId{99}});
    deliver_all();
    return resumed.at(99).chunk;
  }
  // The first node creates the chunk, the others find it.
  ChunkId create(std::initializer_list<std::uint32_t> nodes, std::string_view name,
                 Coherence coherence) {
    ChunkId chunk = kNoChunk;
    for (std::uint32_t node : nodes) chunk = create(node, name, coherence);
    return chunk;
  }
  void open(std::uint32_t node, ChunkId chunk, Mode mode, std::uint32_t waiter,
            Wait wait = Wait::kBlock, std::uint64_t deadline_ns = kNever) {
    resumed.erase(waiter);
    step(node, Open{chunk, mode, wait, deadline_ns, WaiterId{waiter}});
  }
  bool opened(std::uint32_t waiter) const {
    return resumed.contains(waiter) && resumed.at(waiter).status == Status::kOk;
  }
  void close(std::uint32_t node, ChunkId chunk, Mode mode, std::uint32_t waiter) {
    step(node, Close{chunk, mode, resumed.at(waiter).place});
  }
  void write(std::uint32_t node, ChunkId chunk) {
    open(node, chunk, Mode::kWrite, 98);
    deliver_all();
    ASSERT_TRUE(opened(98));
    close(node, chunk, Mode::kWrite, 98);
  }
  void subscribe(std::uint32_t node, ChunkId chunk, Policy policy, std::uint32_t window) {
    step(node, Subscribe{chunk, policy, window, WaiterId{97}});
    deliver_all();
  }
  // A node dies, and all others get the new view at once.
  void die(NodeId dead) {
    ++view_.epoch;
    std::erase(view_.members, dead);
    for (View::Slot& slot : view_.slots)
      if (slot.home == dead) slot = {.home = NodeId{dead.value + 1}, .since = view_.epoch};
    std::erase_if(messages, [&](const Message& message) { return message.from == dead; });
    for (NodeId node : view_.members) step(node.value, ViewChanged{&view_});
  }

  struct Message {
    NodeId from;
    NodeId to;
    std::vector<std::byte> bytes;
  };
  std::deque<Message> messages;
  std::map<std::uint32_t, Resume> resumed;  // by waiter
  std::vector<Lost> losses;
  int malformed = 0;

 private:
  Clusters clusters_;
  View view_;
  std::vector<std::unique_ptr<MesiChunk>> machines_;
};

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
