#include <algorithm>
#include <cstring>

#include "protocol/sc/machine.h"
#include "protocol/sc/sc_instrument.h"

// What a home does for the nodes that request its pages (machine.h).
namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace sc {

bool Machine::Page::is_reader(NodeId node) const {
  return std::find(readers.begin(), readers.end(), node) != readers.end();
}

bool Machine::Page::is_awaited(NodeId node) const {
  return std::find(awaited.begin(), awaited.end(), node) != awaited.end();
}

// A node has at most one request for a page. If the home assumed that the node has the page, a
// request for it shows that the node does not.
bool Machine::requested(NodeId from, std::uint64_t block, Access access) {
  Page& page = pages_[block];
  Request request{from, access, page.is_reader(from)};
  if (!page.recalled && page.begun) {
    serve(block, page, request);
    return true;
  }
  auto same = [&](const Request& r) { return r.node == from; };
  if ((page.recalled && page.serving.node == from) ||
      std::any_of(page.queue.begin(), page.queue.end(), same))
    return false;
  mark(Mark::kRequestQueued);
  page.queue.push_back(request);
  return true;
}

// Recalls the page from the nodes that exclude the request; grants it if there are none.
void Machine::serve(std::uint64_t block, Page& page, const Request& request) {
  page.serving = request;
  if (page.writer == request.node) page.writer = kNoNode;
  bool reads = request.access == Access::kRead;
  if (page.writer != kNoNode) {
    if (!reads || !mutant(Mutant::kReadKeepsWriter)) page.awaited.push_back(page.writer);
  } else if (!reads && page.many) {
    for (std::uint32_t n = 0; n < config_.nodes; ++n)
      if (n != request.node.value) page.awaited.push_back(NodeId{n});
  } else if (!reads) {
    page.awaited = page.readers;
    std::erase(page.awaited, request.node);
  }
  page.recalled = !page.awaited.empty();
  if (page.recalled) {
    for (NodeId node : page.awaited) recall(block, node, reads);
  } else {
    grant(block, page);
  }
}

// The bytes come with the message if the writer cannot reach our memory. A node that does not have
// the page, or did not have it, answers a recall too.
bool Machine::gave_back(NodeId from, const wire::ScMessage& message, Bytes stamp, Bytes bytes) {
  auto at = pages_.find(message.block);
  if (at == pages_.end()) return true;  // freed meanwhile
  Page& page = at->second;
  if (std::erase(page.awaited, from) == 0) return true;
  bool late = mutant(Mutant::kBytesAfterGrant);
  if (!bytes.empty() && !late) outbox_.place(BlockId{message.block}, bytes);
  if (page.writer == from) {
    page.writer = kNoNode;
    if (message.access != 0) add_reader(message.block, page, from);
  }
  if (!stamp.empty()) note_writer(page, from, stamp);
  if (mutant(Mutant::kGrantEarly)) page.awaited.clear();
  if (page.awaited.empty()) {
    page.recalled = false;
    grant(message.block, page);
  }
  serve_queue(message.block, page);
  if (!bytes.empty() && late) outbox_.place(BlockId{message.block}, bytes);
  return true;
}

void Machine::serve_queue(std::uint64_t block, Page& page) {
  while (!page.recalled && !page.queue.empty()) {
    mark(Mark::kGrantFromQueue);
    Request next = page.queue.front();
    page.queue.erase(page.queue.begin());
    serve(block, page, next);
  }
}

void Machine::note_writer(Page& page, NodeId writer, Bytes stamp) {
  if (protocol::mutant(protocol::Mutant::kForgetWriter)) return;
  page.last_writer = writer;
  page.stamp.resize(stamp.size() / sizeof(std::uint32_t));
  std::memcpy(page.stamp.data(), stamp.data(), stamp.size());
}

// A block becomes a synchronisation page. Other nodes may still have copies by the other protocol,
// so its home grants nothing yet.
void Machine::serve_block(const ScServe& event) {
  homes_[event.block.value] = event.home;
  if (event.home != config_.self || protocol::mutant(protocol::Mutant::kGrantBeforeReady)) return;
  pages_[event.block.value].begun = false;
}

void Machine::ready(const ScReady& event) {
  Bytes stamp = std::as_bytes(std::span(timestamp_));
  if (event.home == config_.self) {
    began(event.home, event.block.value, stamp);
    return;
  }
  send(event.home,
       {.kind = wire::Kind::kScReady, .writer = config_.self.value + 1, .block = event.block.value},
       &timestamp_);
}

// From the first node that made the page one; others may have done so at the same time.
bool Machine::began(NodeId from, std::uint64_t block, Bytes stamp) {
  auto at = pages_.find(block);
  if (at == pages_.end() || at->second.begun) return true;
  protocol::mark(protocol::Mark::kPageBegins);
  at->second.begun = true;
  note_writer(at->second, from, stamp);
  serve_queue(block, at->second);
  return true;
}

// A node has given the page back without a recall. If a recall is on its way to that node, the node
// will answer it as well. The home waits for that answer; otherwise it would count as the answer to
// a later recall. Bytes from a node that is not the writer belong to a freed region.
bool Machine::returned(NodeId from, const wire::ScMessage& message, Bytes bytes) {
  auto at = pages_.find(message.block);
  if (at == pages_.end() || mutant(Mutant::kForgetReturn)) return true;
  Page& page = at->second;
  if (page.is_awaited(from)) {
    mark(Mark::kReturnCrossesRecall);
    if (mutant(Mutant::kReturnAnswers)) return gave_back(from, message, {}, bytes);
  }
  if (page.writer == from) {
    mark(Mark::kReturnByWriter);
    if (!bytes.empty()) outbox_.place(BlockId{message.block}, bytes);
    page.writer = kNoNode;
  }
  if (std::erase(page.readers, from) > 0) mark(Mark::kReturnByReader);
  if (page.is_idle()) pages_.erase(at);
  return true;
}

// To the request that is served; no node excludes it any more. A reader that becomes the writer has
// the bytes.
void Machine::grant(std::uint64_t block, Page& page) {
  const Request& to = page.serving;
  bool has = mutant(Mutant::kUpgradeAsAsked) ? to.had : page.is_reader(to.node);
  if (to.access == Access::kRead) {
    has = false;
    mark(Mark::kGrantToRead);
    add_reader(block, page, to.node);
  } else {
    mark(has ? Mark::kGrantUpgrade : page.many ? Mark::kGrantAfterBroadcast : Mark::kGrantToWrite);
    page.readers.clear();
    page.many = false;
    page.writer = to.node;
  }
  if (to.node == config_.self) {
    granted(to.node, block, to.access, page.last_writer, std::as_bytes(std::span(page.stamp)), {});
    return;
  }
  send(to.node,
       {.kind = wire::Kind::kScGrant,
        .access = static_cast<std::uint8_t>(to.access),
        .carries = !has && !reaches(to.node),
        .writer = page.last_writer.value + 1,
        .block = block},
       page.last_writer == kNoNode ? nullptr : &page.stamp);
}

// Of a synchronisation page all are named: nodes that never asked for it may not know that it is
// one.
void Machine::add_reader(std::uint64_t block, Page& page, NodeId node) const {
  if (page.is_reader(node)) return;
  if (page.readers.size() < config_.named_readers || synchronises(block)) {
    page.readers.push_back(node);
    return;
  }
  mark(Mark::kReadersBeyondCount);
  page.many = !mutant(Mutant::kForgetReader);
}

void Machine::recall(std::uint64_t block, NodeId node, bool keeps_copy) {
  if (node == config_.self) {
    recalled(node, block, keeps_copy);
  } else {
    send(node, {.kind = wire::Kind::kScRecall, .access = keeps_copy, .block = block});
  }
}

void Machine::drop(BlockRange blocks) {
  if (pages_.empty()) return;
  auto freed = [&](const auto& page) {
    return page.first >= blocks.first && page.first < blocks.end();
  };
  if (std::erase_if(pages_, freed) > 0) mark(Mark::kDropForgetsHolders);
}

bool Machine::may_hold(NodeId node, std::uint64_t block, Access access) const {
  auto at = pages_.find(block);
  if (at == pages_.end()) return false;
  const Page& page = at->second;
  if (page.writer == node) return true;
  return access == Access::kRead && (page.many || page.is_reader(node));
}

}  // namespace sc
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
