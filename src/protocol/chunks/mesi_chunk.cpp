#include "protocol/chunks/mesi_chunk.h"

#include "base/overloaded.h"

namespace terrane::protocol {
inline namespace TERRANE_PROTOCOL_VARIANT {
namespace chunks {
namespace {

bool to_server(const ChunkMessage& message) {
  switch (message.kind) {
    case ChunkKind::kCredit:
      return flag(message, wire::kSubscriberFlag);
    case ChunkKind::kSubscribe:
    case ChunkKind::kUnsubscribe:
    case ChunkKind::kPublish:
    case ChunkKind::kFind:
    case ChunkKind::kRequest:
    case ChunkKind::kCancel:
    case ChunkKind::kYielded:
    case ChunkKind::kEvict:
    case ChunkKind::kReport:
    case ChunkKind::kReportEnd:
      return true;
    default:
      return false;
  }
}

}  // namespace

MesiChunk::MesiChunk(const MesiConfig& config)
    : config_(config),
      outbox_(config.self),
      home_(config.home_bytes, view_, outbox_),
      cache_(config.budget_bytes, view_, outbox_) {}

void MesiChunk::step(const Event& event, Effects& out) {
  outbox_.open(out);
  std::visit(base::Overloaded{
                 [&](const Create& e) { cache_.create(e); },
                 [&](const Find& e) { cache_.find(e); },
                 [&](const Open& e) { cache_.open(e); },
                 [&](const Close& e) { cache_.close(e); },
                 [&](const Subscribe& e) { cache_.subscribe(e); },
                 [&](const Unsubscribe& e) { cache_.unsubscribe(e.chunk); },
                 [&](const Take& e) { cache_.take(e); },
                 [&](const Drop& e) { cache_.drop(e.chunk); },
                 [&](const ViewChanged& e) {
                   view_ = *e.view;
                   outbox_.set_epoch(view_.epoch);
                 },
                 [&](const Elapsed& e) { cache_.elapsed(e.now_ns); },
                 [&](const Received& e) { received(e.from, e.message); },
             },
             event);
  while (!outbox_.own.empty()) {
    ChunkOutbox::Own own = std::move(outbox_.own.front());
    outbox_.own.pop_front();
    outbox_.own_place = own.place;
    received(config_.self, own.message);
  }
  outbox_.finish();
}

void MesiChunk::received(NodeId from, Bytes bytes) {
  ChunkMessage message;
  bool good = wire::take(bytes, message);
  if (good) {
    bool slot = message.kind == ChunkKind::kFind || message.kind == ChunkKind::kReportEnd;
    std::uint64_t chunks_slot = slot ? message.chunk : message.chunk >> 52;
    bool known = chunks_slot < view_.slots.size();
    if (to_server(message)) {
      good = known && view_.slots[chunks_slot].home == config_.self &&
             home_.received(from, message, bytes);
    } else if (message.kind == ChunkKind::kFound) {
      good = cache_.received(from, message, bytes);
    } else {
      good =
          known && view_.slots[chunks_slot].home == from && cache_.received(from, message, bytes);
    }
  }
  if (!good) outbox_.malformed(from);
}

void MesiChunk::check_invariants() const {
  home_.check_invariants();
  cache_.check_invariants();
}

}  // namespace chunks
}  // namespace TERRANE_PROTOCOL_VARIANT
}  // namespace terrane::protocol
