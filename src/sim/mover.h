#pragma once

#include <span>

#include "base/prng.h"
#include "sim/actor.h"
#include "sim/node.h"

namespace terrane::sim {

// How kPostDiff writes one word into a flush message of the simulator; real ones carry diffs.
struct PostedWord {
  std::uint64_t block;
  std::uint64_t value;
  std::uint32_t at;
  std::uint32_t bytes;  // which of it, a bit each
  std::uint32_t via;    // the home that sends it on, or kNoNode
  std::uint32_t pad = 0;
};

// Performs the one-sided steps that touch blocks, views and peers' words, as the machine would:
// those that move bytes or go over ranges in random pieces, between which others act. Refuses
// (Violation) what a real machine would refuse.
class Mover {
 public:
  explicit Mover(std::vector<Node>& nodes) : nodes_(nodes) {}

  void begin(base::Prng& rng, const Setup& setup);
  // Goes on with the actor's step; true when it is complete and its result is in the strand.
  bool perform(Actor& actor);
  struct Applied {
    bool done = false;
    NodeId next = kNoNode;  // who is to apply it instead
    bool moved = false;     // and the block has moved there
  };
  // Goes on with applying a flush message (kPostDiff made it in Actor::flush) at its home.
  Applied apply_flush(Node& home, protocol::Bytes message, Progress& p);
  // Goes on with putting a wanted block into a grant; true when it is there, or is not granted.
  bool grant(std::uint32_t home, NodeId to, std::uint64_t block, Progress& p,
             std::vector<std::byte>& message);

 private:
  enum class Served : std::uint8_t { kGoesOn, kDone, kNot };
  struct Reader {
    NodeId node;
    bool follows = false;
    bool may_take = false;
    std::span<const NodeId> unasked;  // all to whom it was promised
  };
  using Step = protocol::Step;

  Served serve(Progress& p, const Reader& reader, Node& home, std::uint64_t block, std::byte* to);
  bool fetch(Actor& a, const Step& step);
  bool post_fetch(Actor& a, const Step& step);
  bool await_fetch(Actor& a, const Step& step);
  void end_promises(NodeId reader, NodeId home);
  bool send_news(Actor& a, const Step& step);
  bool take_news(Actor& a, const Step& step);
  void take_granted(Actor& a, const Step& step);
  bool copy_home(Actor& a, const Step& step);
  bool store_home(Actor& a, const Step& step);
  bool copy_block(Progress& p, const std::byte* from, std::byte* to);
  bool merge(Actor& a, const Step& step);
  bool copy_twin(Actor& a, const Step& step);
  bool store_diff(Actor& a, const Step& step);
  void load_and_compare(Progress& p, const std::byte* block, const std::byte* twin);
  void post(Actor& a, std::uint32_t at, std::uint64_t value, std::uint64_t bytes);
  void store_some(Progress& p, std::byte* home);
  bool ask_atomic(Actor& a, const Step& step);
  bool meet(Actor& a, const Step& step);
  bool claim_owner(Actor& a, const Step& step);
  std::uint64_t told(const Step& step, std::uint32_t owner) const;
  bool whole_range(Actor& a, const Step& step);
  void one_block(Actor& a, const Step& step, std::uint64_t block);
  void scan(Actor& a, const Step& step, std::uint64_t block);
  void take_wanted(Actor& a);
  void word_step(Actor& a, const Step& step);
  // How many small pieces are done before others act.
  std::uint32_t pieces();

  std::vector<Node>& nodes_;
  base::Prng* rng_ = nullptr;
  std::uint32_t block_bytes_ = 64;
  std::uint32_t fine_ = 30;  // how often a step is cut, of 128
  std::uint32_t nodes_in_job_ = 1;
  std::uint32_t patience_ = 1;  // looks at a round of a barrier
  bool scan_ = true;
  bool whole_steps_ = false;
  bool several_hosts_ = false;
  std::uint32_t populate_fails_percent_ = 0;
  // On their way to homes, where they come before what the reader asks for next.
  struct PromiseEnd {
    NodeId reader;
    NodeId home;
    protocol::BlockRange run;
  };
  std::vector<PromiseEnd> ends_;
};

}  // namespace terrane::sim
