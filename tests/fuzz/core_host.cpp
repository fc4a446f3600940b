#include "fuzz/core_host.h"

#include <utility>

#include "base/check.h"

namespace terrane::fuzz {

using protocol::WaiterId;

CoreHost::CoreHost(NodeId self, std::uint32_t nodes, Sender send)
    : self_(self),
      nodes_(nodes),
      send_(std::move(send)),
      core_({.self = self,
             .nodes = nodes,
             .blocks = kBlocks,
             .block_bytes = kBlockBytes,
             .sc_first = kScFirst,
             .sc_named_readers = 2,
             .barrier_arity = 2,
             .max_log_ranges = 32}),
      closed_(nodes) {}

void CoreHost::receive(NodeId from, std::span<const std::byte> message) {
  // Of its exact size, so that a sanitizer sees a read beyond it.
  std::vector<std::byte> bytes(message.begin(), message.end());
  step(protocol::Received{from, bytes});
}

void CoreHost::step(const protocol::Event& event) {
  protocol::Effects effects;
  core_.step(event, effects);
  core_.check_invariants();
  for (const auto& effect : effects.list) {
    if (const auto* send = std::get_if<protocol::Send>(&effect)) {
      std::size_t wanted = send->wanted * sizeof(std::uint64_t);
      TERRANE_CHECK(send->wanted <= wire::kMostWithArrival, "few blocks are carried");
      TERRANE_CHECK(send->to.value < nodes_ && send->to != self_, "a message goes to a peer");
      TERRANE_CHECK(std::uint64_t{send->offset} + send->size + wanted <= effects.bytes.size(),
                    "a message lies in the bytes");
      send_(send->to, message_of(*send, effects.bytes));
    } else if (const auto* drop = std::get_if<protocol::Drop>(&effect)) {
      TERRANE_CHECK(drop->blocks.count > 0 && drop->blocks.end() <= kBlocks,
                    "what is dropped lies in the space");
      drops_.push_back(*drop);
    } else if (const auto* expire = std::get_if<protocol::Expire>(&effect)) {
      TERRANE_CHECK(
          expire->size > 0 && std::uint64_t{expire->offset} + expire->size <= effects.bytes.size(),
          "ranges lie in the bytes");
      expires_.push_back(*expire);
    } else if (const auto* malformed = std::get_if<protocol::Malformed>(&effect)) {
      closed_[malformed->from.value] = true;
    } else if (const auto* offer = std::get_if<protocol::Offer>(&effect)) {
      TERRANE_CHECK(offer->run.count > 0 && offer->run.end() <= kBlocks,
                    "what is asked for lies in the space");
      step(protocol::OfferMade{offer->to, offer->waiter, offer->run.count});
    } else if (const auto* adopt = std::get_if<protocol::Adopt>(&effect)) {
      TERRANE_CHECK(adopt->run.count > 0 && adopt->run.end() <= kBlocks,
                    "what is to be adopted lies in the space");
      std::uint64_t blocks = adopt->run.count;
      step(protocol::AdoptionMade{adopt->from, adopt->waiter, blocks, blocks / 2, 32});
    } else if (const auto* kept = std::get_if<protocol::ReleaseKept>(&effect)) {
      kept_.push_back(kept->lock);
    } else if (const auto* turn = std::get_if<protocol::TurnExtended>(&effect)) {
      turns_.push_back(turn->lock);
    } else if (const auto* recall = std::get_if<protocol::Recall>(&effect)) {
      yield(*recall);
    } else if (const auto* place = std::get_if<protocol::Place>(&effect)) {
      TERRANE_CHECK(place->block.value >= kScFirst && place->block.value < kBlocks,
                    "a page lies in the space");
    } else {
      const auto& resume = std::get<protocol::Resume>(effect);
      TERRANE_CHECK(std::uint64_t{resume.offset} + resume.size <= effects.bytes.size(),
                    "a payload lies in the bytes");
      const std::byte* payload = effects.bytes.data() + resume.offset;
      carry_out(resume, {payload, payload + resume.size});
    }
  }
}

// What is wanted goes behind a grant, as a host puts it there.
std::vector<std::byte> CoreHost::message_of(const protocol::Send& send, wire::Bytes bytes) const {
  wire::Bytes head = bytes.subspan(send.offset, send.size);
  std::vector<std::byte> message(head.begin(), head.end());
  wire::Bytes wanted = bytes.subspan(send.offset + send.size, send.wanted * sizeof(std::uint64_t));
  for (std::uint64_t block; wire::take(wanted, block);) {
    wire::put(message,
              wire::GrantedBlock{.block = block, .home = self_.value, .bytes = kBlockBytes});
    message.resize(message.size() + kBlockBytes);
  }
  return message;
}

void CoreHost::carry_out(const protocol::Resume& resume, std::vector<std::byte> payload) {
  TERRANE_CHECK(resume.waiter.value < kThreads, "who is resumed is a thread of this node");
  Thread& thread = threads_[resume.waiter.value];
  Wait wait = std::exchange(thread.wait, Wait::kNothing);
  switch (wait) {
    case Wait::kNothing:
      TERRANE_CHECK(false, "who is resumed was waiting");
      return;
    case Wait::kAcquire:
      return granted(thread, resume.value, payload);
    case Wait::kHandOff:
      return handed_off(thread, resume.waiter, resume.value);
    case Wait::kEnter:
      return entered(thread, resume.waiter, resume.value);
    case Wait::kBarrierExit:
      return departed(thread, resume.value, payload);
    case Wait::kAllocate:
      return allocated(thread, resume.value, payload);
    case Wait::kFind: {
      std::uint64_t home = protocol::home_found(resume.value);
      bool is_kept = protocol::is_first_touch(home) &&
                     protocol::directory_found(home) <= core_.clusters().count();
      TERRANE_CHECK(home < nodes_ || is_kept || home == protocol::kHomeNowhere,
                    "a home is a node of the job, or a cluster of it keeps the directory");
      return;
    }
    case Wait::kScAsk:
      return asked(thread, resume.waiter, resume.value);
    case Wait::kScAwait:
    case Wait::kOffer:
      return;
    case Wait::kFree:
      TERRANE_CHECK(resume.value <= static_cast<std::uint64_t>(wire::RegionStatus::kUnknown),
                    "an answer that there is");
      return;
  }
}

void CoreHost::granted(Thread& thread, std::uint64_t value, const std::vector<std::byte>& payload) {
  bool with_blocks = value == static_cast<std::uint64_t>(protocol::Acquired::kWithBlocks);
  TERRANE_CHECK(with_blocks || value <= static_cast<std::uint64_t>(protocol::Acquired::kRemote),
                "acquired");
  for (const Thread& other : threads_) {
    TERRANE_CHECK(!other.holds || other.lock != thread.lock, "one holder of a lock");
  }
  thread.holds = true;
  if (value == static_cast<std::uint64_t>(protocol::Acquired::kRemote)) {
    step(protocol::Learn{payload, false, thread.lock, &wanted_});
  } else if (with_blocks) {
    wire::Bytes rest(payload);
    protocol::GrantHead head{};
    TERRANE_CHECK(wire::take(rest, head) && head.notice_bytes <= rest.size(), "a grant is whole");
    step(protocol::Learn{rest.first(head.notice_bytes), false, thread.lock, &wanted_});
    rest = rest.subspan(head.notice_bytes);
    for (wire::GrantedBlock block; wire::take(rest, block); rest = rest.subspan(block.bytes))
      TERRANE_CHECK(block.block < kBlocks && block.bytes <= rest.size(), "a block is whole");
  }
}

void CoreHost::handed_off(Thread& thread, WaiterId waiter, std::uint64_t value) {
  TERRANE_CHECK(value <= static_cast<std::uint64_t>(protocol::HandOff::kKept),
                "the holder may hand over");
  if (value == static_cast<std::uint64_t>(protocol::HandOff::kRelease)) {
    step(protocol::LockRelease{thread.lock, waiter});
  }
}

void CoreHost::entered(Thread& thread, WaiterId waiter, std::uint64_t value) {
  if (value != static_cast<std::uint64_t>(protocol::BarrierRole::kLast)) return;
  thread.wait = Wait::kBarrierExit;
  step(protocol::BarrierArrive{thread.barrier, waiter});
}

void CoreHost::departed(Thread& thread, std::uint64_t number,
                        const std::vector<std::byte>& payload) {
  TERRANE_CHECK(number > 0, "departures are counted from 1");
  wire::Bytes notices(payload);
  if (number & protocol::kCameWithArrival) {
    protocol::GrantHead head{};
    TERRANE_CHECK(wire::take(notices, head) && head.notice_bytes <= notices.size(),
                  "a departure is whole");
    wire::Bytes along = notices.subspan(head.notice_bytes);
    notices = notices.first(head.notice_bytes);
    for (wire::GrantedBlock block; wire::take(along, block); along = along.subspan(block.bytes))
      TERRANE_CHECK(block.bytes <= along.size(), "a block is whole");
  }
  step(protocol::Learn{notices, true});
  in_barrier_[thread.barrier.value] = 0;
  step(protocol::BarrierLeave{thread.barrier});
}

void CoreHost::allocated(Thread& thread, std::uint64_t status,
                         const std::vector<std::byte>& payload) {
  wire::RegionReply reply;
  wire::Bytes bytes(payload);
  TERRANE_CHECK(wire::take(bytes, reply) && bytes.empty(), "the payload is the reply");
  if (status != static_cast<std::uint64_t>(wire::RegionStatus::kOk)) return;
  TERRANE_CHECK(reply.first + reply.blocks <= kBlocks, "an allocation lies in the space");
  thread.first = reply.first;
}

// A round takes one thread in even barriers and two in odd ones.
void CoreHost::enter_barrier(Thread& thread, WaiterId waiter, std::uint32_t barrier) {
  std::uint32_t threads_here = 1 + barrier % 2;
  if (in_barrier_[barrier] == threads_here) return;
  ++in_barrier_[barrier];
  thread.barrier = BarrierId{barrier};
  thread.wait = Wait::kEnter;
  step(protocol::BarrierEnter{thread.barrier, threads_here, waiter});
}

void CoreHost::take_lock(Thread& thread, WaiterId waiter, std::uint32_t lock) {
  if (thread.holds) {
    thread.holds = false;  // another thread here may be resumed first
    thread.wait = Wait::kHandOff;
    step(protocol::LockHandOff{thread.lock, waiter, (lock & 1) != 0, 0, lock / 2});
    return;
  }
  thread.lock = LockId{lock};
  thread.wait = Wait::kAcquire;
  step(protocol::LockAcquire{thread.lock, waiter});
}

void CoreHost::allocate(Thread& thread, WaiterId waiter, InputReader& input) {
  protocol::RegionAllocate request{};
  request.blocks = 1 + input.below(100);
  if (input.below(4) == 0) request.policy.protocol = protocol::Protocol::kSc;
  request.bytes = request.blocks * 4096;
  request.policy.homes = static_cast<protocol::Homes>(input.below(5));
  std::uint32_t argument = input.below(nodes_);
  if (request.policy.homes == protocol::Homes::kExplicit) request.policy.argument = argument;
  if (request.policy.homes == protocol::Homes::kBlockCyclic) request.policy.argument = argument + 1;
  request.sequence = input.below(2) == 0 ? 0 : ++collective_;
  request.waiter = waiter;
  thread.wait = Wait::kAllocate;
  step(request);
}

// As the holder of the page's lock: pages that are here already are not asked for.
void CoreHost::ask_page(Thread& thread, WaiterId waiter, protocol::Access access) {
  if (pages_[thread.page] >= static_cast<std::uint64_t>(access)) return;
  thread.wait = Wait::kScAsk;
  NodeId home{static_cast<std::uint32_t>(thread.page % nodes_)};
  step(protocol::ScAsk{BlockId{kScFirst + thread.page}, access, home, waiter});
}

void CoreHost::asked(Thread& thread, WaiterId waiter, std::uint64_t granted) {
  BlockId block{kScFirst + thread.page};
  TERRANE_CHECK(granted <= static_cast<std::uint64_t>(protocol::Access::kWrite), "an access");
  if (granted == 0) {
    thread.wait = Wait::kScAwait;
    step(protocol::ScAwait{block, waiter});
    return;
  }
  pages_[thread.page] = granted;
  step(protocol::ScInstalled{block});
}

void CoreHost::yield(const protocol::Recall& recall) {
  std::uint64_t block = recall.block.value;
  TERRANE_CHECK(block >= kScFirst && block < kBlocks && recall.home.value < nodes_,
                "a recall of a page");
  std::uint64_t none = 0;
  std::uint64_t& page = block - kScFirst < pages_.size() ? pages_[block - kScFirst] : none;
  bool wrote = page == static_cast<std::uint64_t>(protocol::Access::kWrite);
  page = page != 0 && recall.keeps_copy ? static_cast<std::uint64_t>(protocol::Access::kRead) : 0;
  step(protocol::ScYielded{recall.block, recall.home, wrote, page != 0});
}

void CoreHost::release_blocks(InputReader& input) {
  std::vector<protocol::BlockRange> notices;
  for (std::uint32_t i = input.below(4); i > 0; --i) {
    notices.push_back({input.below(200), 1 + input.below(56)});
  }
  step(protocol::CloseInterval{&notices});
}

void CoreHost::act(InputReader& input) {
  WaiterId waiter{input.below(kThreads)};
  Thread& thread = threads_[waiter.value];
  std::uint32_t action = input.below(11);
  if (action == 0 && !drops_.empty()) {
    protocol::Drop drop = drops_.front();
    drops_.pop_front();
    step(protocol::RegionDropped{drop.region, drop.blocks});
    return;
  }
  if (action == 0 && !expires_.empty()) {
    protocol::Expire expire = expires_.front();
    expires_.pop_front();
    step(protocol::Expired{expire.origin, expire.waiter});
    return;
  }
  if (action == 0 && !turns_.empty()) {
    LockId turn = turns_.front();
    turns_.pop_front();
    step(protocol::LockEndTurn{turn});
    return;
  }
  if (action == 0 && !kept_.empty()) {
    LockId kept_lock = kept_.front();
    kept_.pop_front();
    step(protocol::LockRelease{kept_lock, protocol::kNobody});
    return;
  }
  if (action == 1) release_blocks(input);
  if (thread.wait != Wait::kNothing) return;
  if (action == 2 || action == 3) take_lock(thread, waiter, input.below(5));
  if (action == 4) enter_barrier(thread, waiter, input.below(4));
  if (action == 5) allocate(thread, waiter, input);
  if (action == 6) {
    thread.wait = Wait::kFind;
    step(protocol::RegionFind{BlockId{input.below(256)}, waiter});
  }
  if (action == 8) {
    thread.page = input.below(static_cast<std::uint32_t>(pages_.size()));
    ask_page(thread, waiter,
             input.below(2) == 0 ? protocol::Access::kRead : protocol::Access::kWrite);
  }
  if (action == 9) {
    NodeId home{(self_.value + 1) % nodes_};
    thread.wait = Wait::kOffer;
    step(protocol::AskOffer{home,
                            {input.below(200), 1 + input.below(56)},
                            static_cast<protocol::OfferWish>(input.below(3)),
                            waiter});
  }
  if (action == 10) {
    NodeId node{(self_.value + 1) % nodes_};
    bool waits = input.below(2) != 0;
    if (waits) thread.wait = Wait::kOffer;
    step(protocol::AskAdoption{node,
                               {input.below(200), 1 + input.below(56)},
                               input.below(2) != 0,
                               waits ? waiter : protocol::kNobody});
  }
  if (action == 7) {
    thread.wait = Wait::kFree;
    step(protocol::RegionFree{BlockId{thread.first}, waiter});
  }
}

}  // namespace terrane::fuzz
