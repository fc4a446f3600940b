// The regions of the program, which every node asks for before its threads start.
#include "forecast/machine.h"

namespace terrane::forecast {

// The next region.
void Machine::allocate(std::uint32_t self) {
  Node& node = *job_.nodes[self];
  const Region& region = job_.program.regions()[node.allocated];
  protocol::RegionAllocate request{};
  request.blocks = region.pages;
  request.bytes = region.pages * kPageBytes;
  request.policy = region.policy;
  if (request.policy.homes == protocol::Homes::kExplicit)
    request.policy.argument %= job_.setup.nodes;
  bool names_cluster = request.policy.homes == protocol::Homes::kCluster ||
                       request.policy.homes == protocol::Homes::kFirstTouch;
  if (names_cluster) request.policy.argument = 0;  // there is one
  if (request.policy.protocol == protocol::Protocol::kSc)
    request.policy.protocol = protocol::Protocol::kHlrc;
  request.sequence = node.allocated + 1;
  request.waiter = node.allocator->strand.waiter();
  node.allocator->wait = Actor::Wait::kResume;
  step_core(self, request);
}

void Machine::finish_allocation(std::uint32_t self) {
  Node& node = *job_.nodes[self];
  wire::RegionReply reply;
  std::vector<std::byte> answer = node.allocator->strand.take_answer();
  protocol::Bytes payload(answer);
  if (!wire::take(payload, reply) || reply.blocks == 0)
    return job_.fail("the program's pages are too many, or a region's policy is none");
  node.allocator->resumed = false;
  if (node.allocated == 0) job_.first = reply.first;
  if (reply.first != job_.first + job_.program.regions()[node.allocated].first)
    return job_.fail("the program's regions lie apart");
  if (++node.allocated < job_.program.regions().size()) allocate(self);
}

}  // namespace terrane::forecast
