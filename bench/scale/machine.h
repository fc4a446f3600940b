#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <variant>
#include <vector>

#include "protocol/core/core.h"
#include "protocol/hlrc/hlrc.h"
#include "protocol/predict/make_predictor.h"
#include "protocol/serve/flushes.h"
#include "protocol/serve/server.h"
#include "scale/costs.h"
#include "scale/program.h"

namespace terrane::bench::scale {

// What a node, or all of them, did and has.
struct Tally {
  std::uint64_t messages = 0;  // sent
  std::uint64_t bytes = 0;
  std::uint64_t received = 0;
  std::uint64_t faults = 0;
  std::uint64_t fetched = 0;  // pages
};

inline constexpr std::size_t kPageBytes = 4096;

struct Result {
  Ns per_iteration = 0;
  double messages = 0;  // a node and iteration, of all nodes
  double bytes = 0;
  double faults = 0;
  double fetched = 0;
  double most_received = 0;        // messages a node and iteration, of the busiest
  std::int64_t most_memory = 0;    // bytes of the protocol at once, of the node that had most
  std::uint64_t most_entries = 0;  // pages of which a node knows anything, of the same kind
};

// A job of many nodes in virtual time, each on a host of its own: the protocol's own machines and
// operations; every step takes effect at a moment, after what it costs. One thread of one process
// plays all. Ends the program with a sentence where a load returns what it must not.
class Machine {
 public:
  Machine(std::uint32_t nodes, const Pattern& pattern, const Costs& costs,
          const protocol::Prediction& prediction = {});
  ~Machine();

  // After `warm` iterations that do not count.
  Result run(std::uint32_t warm, std::uint32_t counted);

 private:
  struct Page {
    std::uint64_t words[kPageWords] = {};
  };
  struct View {
    bool present = false;
    bool guarded = false;
  };
  // How a difference is written into a flush message here.
  struct Difference {
    std::uint32_t changed = 0;  // words, a bit each
    std::uint32_t pad = 0;
    Page page;
  };
  // A message under way.
  struct Message {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::size_t size = 0;          // of the real one
    std::vector<std::byte> bytes;  // pages take kPageBytes, of which a Page is used

    wire::Kind kind() const { return static_cast<wire::Kind>(bytes[0]); }
  };
  enum class Wait : std::uint8_t { kNothing, kWord, kResume, kAnswer, kFlushed, kPush };
  using Operation =
      std::variant<std::monostate, protocol::Task<>, protocol::Task<bool>,
                   protocol::Task<protocol::FaultResult>, protocol::Task<protocol::LockResult>>;

  // A node and its only thread.
  struct Node {
    explicit Node(std::uint32_t self) : strand(protocol::WaiterId{self}) {}

    std::unordered_map<std::uint64_t, Page> frames, twins;
    std::vector<View> views;
    std::vector<Page> staged;
    std::vector<std::uint32_t> words, owners;
    std::vector<std::uint64_t> wanted;
    std::unique_ptr<protocol::BlockSet::Word[]> sets[protocol::BlockMemory::kSets];
    std::unique_ptr<protocol::BlockEntry[]> entries;
    std::unique_ptr<bool[]> reached;
    protocol::PushBox pushes;
    std::optional<protocol::Core> core;
    std::unique_ptr<protocol::BlockHistory[]> history;
    std::unique_ptr<protocol::Predictor> predictor;
    std::optional<protocol::Hlrc> hlrc;

    protocol::Strand strand;
    Operation operation;
    bool in_fault = false;
    Wait wait = Wait::kNothing;
    bool resumed = false;
    std::uint64_t value = 0;  // with which it was
    std::variant<std::monostate, protocol::FetchResult, protocol::Owner> answer;
    bool stages = false;         // what it asked for goes to the staging buffer
    std::vector<std::byte> out;  // SendBuffer
    protocol::FlushesUnderWay flushes;
    std::unordered_map<std::uint32_t, std::vector<std::byte>> posted;  // by home
    std::vector<Op> ops;
    std::size_t next = 0;
    std::uint32_t iteration = 0;
    std::uint32_t allocated = 0;  // regions

    Ns out_free = 0, in_free = 0, handler_free = 0;
    Tally tally;
  };
  struct Happening {
    Ns at;
    std::uint64_t order;
    std::uint32_t node;
    std::uint32_t message;  // kNoMessage: the node's thread goes on
    bool arrived;           // the message has come; else it is handled now
    bool operator<(const Happening& other) const {
      return at != other.at ? at > other.at : order > other.order;
    }
  };
  static constexpr std::uint32_t kNoMessage = ~0u;

  // machine.cpp: time, messages, threads
  std::uint32_t regions() const {
    return pattern_.updated() > 0 && pattern_.updated() < sums_.size() ? 2 : 1;
  }
  void allocate(std::uint32_t self);
  bool finish_allocation(std::uint32_t self);
  void happen(Ns at, std::uint32_t node, std::uint32_t message = kNoMessage, bool arrived = false);
  void post(std::uint32_t from, std::uint32_t to, std::vector<std::byte> bytes);
  template <typename T>
  void post(std::uint32_t from, std::uint32_t to, const T& message) {
    std::vector<std::byte> bytes;
    wire::put(bytes, message);
    post(from, to, std::move(bytes));
  }
  void arrive(std::uint32_t number);
  double cost_of(const Message& message) const;
  void handle(std::uint32_t number);
  void act(std::uint32_t self);
  void wake(std::uint32_t self);
  void step_core(std::uint32_t self, const protocol::Event& event);
  void begin_op(std::uint32_t self);
  double access(std::uint32_t self, const Op& op, bool& done);
  void finish_operation(Node& node);
  template <typename T>
  void start(Node& node, protocol::Task<T>&& task);
  bool is_done(const Node& node) const;
  Tally total() const;
  void mark_start();

  // steps.cpp: what a step does, and costs; nothing: it waits
  class Steps;
  std::optional<double> perform(std::uint32_t self, protocol::Strand& strand);
  void make_offer(std::uint32_t self, const protocol::Offer& offer);
  void add_granted(std::uint32_t self, const protocol::Send& send, std::vector<std::byte>& grant);

  // serving.cpp: what a node does for others
  template <typename T>
  T run_at_once(std::uint32_t self, protocol::Strand& strand, protocol::Task<T> task);
  void serve(const Message& message);
  void answered(const Message& answer);
  void flushed(const Message& answer);
  template <typename Result>
  void end_exchange(std::uint32_t self, const Result& result);
  static std::size_t size_of(const std::vector<std::byte>& bytes);
  static std::uint64_t differences_in(const std::vector<std::byte>& flush, std::size_t& bytes);

  Costs costs_;
  const Pattern& pattern_;
  std::uint64_t blocks_ = 0;
  std::uint64_t first_ = 0;  // of the region
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::uint64_t> sums_;  // what kAdd has made of each page
  std::priority_queue<Happening> happenings_;
  std::uint64_t order_ = 0;
  std::vector<Message> messages_;
  std::vector<std::uint32_t> free_messages_;
  protocol::Effects effects_;
  Ns now_ = 0;
  std::uint32_t warm_ = 0, last_ = 0;
  Ns started_ = 0, ended_ = 0;
  Tally before_;
  std::vector<std::uint64_t> received_before_;
};

}  // namespace terrane::bench::scale
