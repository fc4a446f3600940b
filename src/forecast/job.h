#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forecast/accounts.h"
#include "forecast/agenda.h"
#include "forecast/node.h"

namespace terrane::forecast {

// Sees a machine at work: for tests and measurements.
class Observer {
 public:
  static constexpr std::uint32_t kNobody = ~0u;

  virtual ~Observer() = default;
  // What is done from now on is the work of that node's protocol; kNobody: of the machine.
  virtual void works_for(std::uint32_t node) = 0;
  // A read or write of this thread takes effect. lines: of the page on its node; of a write, before
  // it.
  virtual void accesses(std::uint32_t thread, const Op& op, const std::uint32_t* lines) = 0;
};

// Marks the work of a node's protocol, for the observer.
class Working {
 public:
  Working(Observer* observer, std::uint32_t node) : observer_(observer) {
    if (observer_ != nullptr) observer_->works_for(node);
  }
  ~Working() {
    if (observer_ != nullptr) observer_->works_for(Observer::kNobody);
  }
  Working(const Working&) = delete;

 private:
  Observer* observer_;
};

// What all parts of a machine share: the program, the nodes, the time, the messages under way.
class Job {
 public:
  Job(Program& program, const Setup& setup, Observer* observer);

  Ns now() const { return agenda.now(); }
  // The job ends, because of this; the first reason counts.
  void fail(std::string why) {
    if (failure.empty()) failure = std::move(why);
  }
  bool has_failed() const { return !failure.empty(); }
  // The actor's next step is after so long a time.
  void go_on(Actor& actor, double after = 0) {
    agenda.add(Happening::Kind::kActs, now() + static_cast<Ns>(after), actor.node, actor.id,
               actor.generation);
  }
  template <typename A, typename... Args>
  A* add_actor(std::uint32_t node, Args... args) {
    auto& actors = nodes[node]->actors;
    auto actor = std::make_unique<A>(node, static_cast<std::uint32_t>(actors.size()), args...);
    A* made = actor.get();
    actors.push_back(std::move(actor));
    return made;
  }
  // The block came to a node.
  void came(std::uint64_t block) {
    if (block >= first && block < first + pages) accounts.came(block - first);
  }
  std::uint32_t node_count() const { return setup.nodes; }
  void post(std::uint32_t from, std::uint32_t to, std::vector<std::byte> bytes);
  template <typename T>
  void post(std::uint32_t from, std::uint32_t to, const T& message) {
    std::vector<std::byte> bytes;
    wire::put(bytes, message);
    post(from, to, std::move(bytes));
  }
  const Message& message(std::uint64_t number) const { return messages_[number]; }
  Message take_message(std::uint64_t number) {
    free_messages_.push_back(static_cast<std::uint32_t>(number));
    return std::move(messages_[number]);
  }

  const Setup setup;
  const Costs& costs;
  Program& program;
  Observer* const observer;
  const std::uint64_t pages;   // of the program
  const std::uint64_t blocks;  // of the space
  std::uint64_t first = 0;     // block of the program's first page
  std::vector<std::unique_ptr<Node>> nodes;
  Agenda agenda;
  Accounts accounts;
  std::string failure;  // why it cannot go on

 private:
  std::string refuse() const;

  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
};

}  // namespace terrane::forecast
