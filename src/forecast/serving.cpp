// What a node does for others: the protocol's Server, every step of which takes effect at once.
#include <algorithm>
#include <cstring>
#include <variant>

#include "forecast/machine.h"
#include "protocol/serve/requests.h"

namespace terrane::forecast {

// Every step takes effect now. cost: nullptr, or where what they cost is added.
template <typename T>
T Machine::run_at_once(Actor& actor, protocol::Task<T> task, double* cost) {
  {
    Working working(job_.observer, actor.node);
    actor.strand.start(task);
  }
  while (!task.done()) {
    auto step = perform(actor);
    if (!step) job_.fail("what a node does for another one waits");
    if (!job_.failure.empty()) break;
    if (cost != nullptr) *cost += *step;
    Working working(job_.observer, actor.node);
    actor.strand.move_on();
  }
  return task.value();
}
template std::uint64_t Machine::run_at_once(Actor&, protocol::Task<std::uint64_t>, double*);

void Machine::serve(const Message& message) {
  Actor server(message.to, protocol::kNobody.value, Actor::Role::kServer);
  protocol::Server& at = job_.nodes[message.to]->hlrc->server();
  bool good = run_at_once(server, at.serve(server.strand, NodeId{message.from}, message.bytes));
  if (!good) job_.fail("a node refuses what another one asks");
}

// What a grant, or an arrival, carries.
void Machine::add_granted(std::uint32_t self, const protocol::Send& send,
                          std::vector<std::byte>& grant) {
  if (send.wanted == 0) return;
  Actor server(self, protocol::kNobody.value, Actor::Role::kServer);
  for (std::uint32_t i = 0; i < send.wanted; ++i) {
    std::uint64_t block = 0;
    std::size_t at = send.offset + send.size + i * sizeof block;
    std::memcpy(&block, effects_.bytes.data() + at, sizeof block);
    run_at_once(server,
                job_.nodes[self]->hlrc->server().grant(server.strand, send.to, block, grant));
  }
}

// ---- answers

template <typename Answer>
void Machine::answered(const Message& message) {
  Node& node = *job_.nodes[message.to];
  protocol::Bytes bytes(message.bytes);
  Answer answer;
  wire::take(bytes, answer);
  Actor& actor = *node.actors[answer.waiter];
  auto asked = std::find_if(actor.asked.begin(), actor.asked.end(), [&](const Exchange& one) {
    return one.answer.index() == 0 && one.from == NodeId{message.from} &&
           one.blocks.first == answer.block;
  });
  if (asked == actor.asked.end()) return job_.fail("a node is answered what it did not ask for");
  if constexpr (std::is_same_v<Answer, wire::PageData>) {
    node.tally.fetched += answer.blocks;
    for (std::uint64_t i = 0; i < answer.blocks; ++i) {
      job_.came(answer.block + i);
      Page& page = asked->stages ? node.staged[i] : node.frames[answer.block + i];
      std::memcpy(&page, bytes.data() + i * kPageBytes, sizeof page);
    }
  }
  asked->answer = protocol::result_of(answer);
  if (actor.wait == Actor::Wait::kAnswer) wake(actor);
}
template void Machine::answered<wire::PageData>(const Message&);
template void Machine::answered<wire::OwnerReply>(const Message&);
template void Machine::answered<wire::AtomicReply>(const Message&);

// A home in the middle of a chain reports that it passed on a difference that was passed on to it.
// The report may come after all other answers.
void Machine::flushed(const Message& message) {
  wire::Flush answer;
  protocol::Bytes bytes(message.bytes);
  wire::take(bytes, answer);
  if (answer.was_passed != 0 && answer.passed == 1) return;
  Actor& actor = *job_.nodes[message.to]->actors[answer.waiter];
  if (!actor.flushes.answered(answer)) job_.fail("a node is told of a flush that it did not send");
  if (actor.flushes.over() && actor.wait == Actor::Wait::kFlushed) wake(actor);
}

}  // namespace terrane::forecast
