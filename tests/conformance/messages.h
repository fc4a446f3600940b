#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "forked_nodes.h"
#include "transport/transport.h"

namespace terrane::conformance {

// The content of a message that only this sender's message of this number and size has.
std::vector<std::byte> make_message(NodeId from, std::uint64_t number, std::size_t bytes);
void require_message(transport::Bytes message, NodeId from, std::uint64_t number,
                     std::size_t bytes);

// Counts what arrives, and hands it on.
class Recorder final : public transport::Receiver {
 public:
  using OnMessage = std::function<void(NodeId from, transport::Bytes message)>;
  explicit Recorder(OnMessage on_message = {}) : on_message_(std::move(on_message)) {}

  void received(NodeId from, transport::Bytes message) override {
    ++messages;
    if (on_message_) on_message_(from, message);
  }
  void lost(NodeId peer, std::string_view why) override {
    require(!why.empty(), "a loss has a reason");
    losses.push_back(peer);
  }

  std::uint64_t messages = 0;
  std::vector<NodeId> losses;

 private:
  OnMessage on_message_;
};

// Polls, and sleeps between, until the condition holds.
void poll_until(Node& node, Recorder& recorder, const std::function<bool()>& condition);

// Polls until every node has come here: a node that leaves has nothing left to send or to take in.
void leave_together(Node& node, Recorder& recorder);

// Sizes around every boundary that a backend might have.
std::vector<std::size_t> telling_sizes();

}  // namespace terrane::conformance
