#pragma once

#include <cstdint>
#include <queue>

#include "forecast/costs.h"

namespace terrane::forecast {

// What happens at a moment of virtual time.
struct Happening {
  enum class Kind : std::uint8_t {
    kActs,       // actor `number` of the node goes on, if `generation` is its own
    kArrives,    // message `number`
    kIsHandled,  // message `number`
    kTurnEnds,   // perhaps: the node looks at its turns
    kNewsComes,  // of an event of the program, to its thread `number`
  };
  Ns at;
  std::uint64_t order;
  std::uint64_t number;
  std::uint32_t node;
  std::uint32_t generation;
  Kind kind;

  bool operator<(const Happening& other) const {
    return at != other.at ? at > other.at : order > other.order;
  }
};

// Virtual time, and what happens next: at one moment, in the order in which it was added.
class Agenda {
 public:
  Ns now() const { return now_; }
  void add(Happening::Kind kind, Ns at, std::uint32_t node, std::uint64_t number,
           std::uint32_t generation = 0) {
    happenings_.push({at, order_++, number, node, generation, kind});
  }
  bool is_empty() const { return happenings_.empty(); }
  // Not empty: it is that time now.
  Happening next() {
    Happening happening = happenings_.top();
    happenings_.pop();
    now_ = happening.at;
    ++idle_;
    return happening;
  }
  // A thread of the program has got further.
  void progress() { idle_ = 0; }
  // Whether so much has happened since that it never will again.
  bool is_idle() const { return idle_ > kMostIdle; }

 private:
  static constexpr std::uint64_t kMostIdle = 20'000'000;

  std::priority_queue<Happening> happenings_;
  std::uint64_t order_ = 0;
  std::uint64_t idle_ = 0;
  Ns now_ = 0;
};

}  // namespace terrane::forecast
