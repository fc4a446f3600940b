#pragma once

#include <cstdint>
#include <vector>

#include "sim/program.h"
#include "wire/message.h"

namespace terrane::sim {

// The messages under way. Messages from one node to another keep their order; messages of different
// pairs have no order. Owns their bytes until they are popped.
class Network {
 public:
  void begin(std::uint32_t nodes) {
    nodes_ = nodes;
    for (Channel& channel : channels_) channel.clear();
  }
  std::uint32_t channel(std::uint32_t from, std::uint32_t to) const { return from * nodes_ + to; }
  std::uint32_t channels() const { return nodes_ * nodes_; }
  std::uint32_t from(std::uint32_t channel) const { return channel / nodes_; }
  std::uint32_t to(std::uint32_t channel) const { return channel % nodes_; }

  bool empty(std::uint32_t channel) const { return channels_[channel].empty(); }
  // `wanted`: so many block numbers at the end of the message, whose blocks the sender adds later.
  void push(std::uint32_t channel, wire::Bytes message, std::uint32_t wanted = 0) {
    channels_[channel].push(message, wanted);
  }
  // The oldest message. Valid until pop(); nothing is pushed on this channel before pop().
  wire::Bytes front(std::uint32_t channel) const { return channels_[channel].at(0); }
  std::uint32_t wanted(std::uint32_t channel) const { return channels_[channel].wanted(); }
  void pop(std::uint32_t channel) { channels_[channel].pop(); }

  // Calls visit(message) for all messages under way.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::uint32_t c = 0; c < channels(); ++c)
      for (std::size_t i = 0; i < channels_[c].size(); ++i) visit(channels_[c].at(i));
  }

 private:
  class Channel {
   public:
    bool empty() const { return head_ == ends_.size(); }
    std::size_t size() const { return ends_.size() - head_; }
    void push(wire::Bytes message, std::uint32_t wanted) {
      bytes_.insert(bytes_.end(), message.begin(), message.end());
      wanted_.push_back(wanted);
      ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    }
    wire::Bytes at(std::size_t index) const {
      std::size_t begin = head_ + index == 0 ? 0 : ends_[head_ + index - 1];
      return wire::Bytes(bytes_).subspan(begin, ends_[head_ + index] - begin);
    }
    std::uint32_t wanted() const { return wanted_[head_]; }
    void pop() {
      if (++head_ == ends_.size()) clear();
    }
    void clear() {
      bytes_.clear();
      ends_.clear();
      wanted_.clear();
      head_ = 0;
    }

   private:
    std::vector<std::byte> bytes_;
    std::vector<std::uint32_t> ends_;    // of each message in bytes_
    std::vector<std::uint32_t> wanted_;  // by message: blocks that it still lacks
    std::size_t head_ = 0;
  };

  std::uint32_t nodes_ = 0;
  Channel channels_[kMaxNodes * kMaxNodes];
};

}  // namespace terrane::sim
