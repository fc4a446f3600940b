#include "runtime/chunks/chains.h"

#include <algorithm>
#include <cstring>

#include "platform/wait.h"
#include "runtime/chunks/names.h"

namespace terrane::runtime::chunks {
namespace {

constexpr std::size_t kMostName = 200;

std::string piece_name(std::string_view name, std::uint64_t index) {
  return fmt::format("{}[{}]", name, index);
}

Outcome check(std::string_view name, const Chains::Shape& shape) {
  auto invalid = [](std::string text) { return Outcome{Status::kInvalid, std::move(text)}; };
  if (name.empty() || name.size() > kMostName)
    return invalid(fmt::format("a chain's name of {} bytes; 1 to {}", name.size(), kMostName));
  if (shape.bytes == 0) return invalid(fmt::format("chain '{}' of 0 bytes", name));
  if (shape.piece_bytes == 0) return invalid(fmt::format("chain '{}': pieces of 0 bytes", name));
  if (shape.bytes > ~0ull - shape.piece_bytes || shape.pieces() > Chains::kMostPieces)
    return invalid(
        fmt::format("chain '{}' of {} bytes in pieces of {}: at most {} pieces; make "
                    "them larger",
                    name, shape.bytes, shape.piece_bytes, Chains::kMostPieces));
  return {};
}

}  // namespace

// All pieces exist before the shape does, from which other nodes learn of them.
Outcome Chains::create(std::string_view name, const Shape& shape, ChunkId& chain, bool& existed) {
  if (Outcome good = check(name, shape); !good.ok()) return good;
  OpenScope scope;
  Outcome outcome = node_.create(fmt::format("{}{}", kChainPrefix, name), sizeof(Shape),
                                 machine::Coherence::kInvalidate, chain, existed);
  if (outcome.ok()) outcome = node_.open(chain, Mode::kReadWrite, ChunkNode::kAll, kForever, scope);
  if (!outcome.ok()) return outcome;
  Shape there;
  std::memcpy(&there, scope.data, sizeof there);
  existed = there.piece_bytes != 0;
  if (!existed) {
    outcome = make_pieces(std::string(name), shape, 0);
    Shape made = shape;
    made.made_bytes = shape.bytes;
    if (outcome.ok()) std::memcpy(scope.data, &made, sizeof made);
  } else if (there.made_bytes != shape.bytes || there.piece_bytes != shape.piece_bytes ||
             there.coherence != shape.coherence) {
    outcome = {
        Status::kMismatch,
        fmt::format("chain '{}' was made with {} bytes in pieces of {} and coherence {}; "
                    "asked for were {} bytes in pieces of {} and {}",
                    name, there.made_bytes, there.piece_bytes, chunks::name_of(there.coherence),
                    shape.bytes, shape.piece_bytes, chunks::name_of(shape.coherence))};
  }
  Outcome released = node_.release(scope.scope);
  if (!outcome.ok() || existed || !released.ok()) return outcome.ok() ? released : outcome;
  std::uint64_t now = 0;
  return meetings_.signal(fmt::format("{}{}", kChainMadePrefix, name), now);
}

Outcome Chains::make_pieces(const std::string& name, const Shape& shape, std::uint64_t from) {
  for (std::uint64_t i = from; i < shape.pieces(); ++i) {
    ChunkId piece;
    bool existed = false;
    std::uint64_t bytes = std::min(shape.piece_bytes, shape.bytes - i * shape.piece_bytes);
    Outcome made = node_.create(piece_name(name, i), bytes, shape.coherence, piece, existed);
    if (!made.ok())
      return {made.status, fmt::format("chain '{}': {} of {} pieces could be made: {}", name, i,
                                       shape.pieces(), made.message)};
  }
  return {};
}

Outcome Chains::find(std::string_view name, std::int64_t timeout_ns, ChunkId& chain) {
  if (Outcome good = check(name, {1, 1}); !good.ok()) return good;
  std::uint64_t begin_ns = platform::now_ns();
  Outcome outcome = node_.find(fmt::format("{}{}", kChainPrefix, name), timeout_ns, chain);
  Shape shape;
  if (outcome.ok()) outcome = read(chain, shape);
  if (outcome.ok() && shape.piece_bytes == 0 && timeout_ns != 0) {
    std::uint64_t now = 0;
    std::int64_t left = timeout_ns;
    if (timeout_ns > 0)
      left = std::max<std::int64_t>(
          0, timeout_ns - static_cast<std::int64_t>(platform::now_ns() - begin_ns));
    outcome = meetings_.await(fmt::format("{}{}", kChainMadePrefix, name), 1, left, now);
  } else if (outcome.ok() && shape.piece_bytes == 0) {
    outcome.status = Status::kUnknown;
  }
  if (outcome.status == Status::kUnknown)
    return {Status::kUnknown, fmt::format("there is no chain '{}'", name)};
  if (outcome.status == Status::kTimedOut)
    return {Status::kTimedOut, fmt::format("nobody made a chain '{}' within {:.3f} s", name,
                                           static_cast<double>(timeout_ns) * 1e-9)};
  return outcome;
}

Outcome Chains::name_of(ChunkId chain, std::string& name) const {
  name = node_.facts(chain).name;
  if (!name.starts_with(kChainPrefix) || name.starts_with(kChainMadePrefix))
    return {Status::kInvalid,
            fmt::format("{:#x} is no chain that this node has created or found", chain.value)};
  name.erase(0, kChainPrefix.size());
  return {};
}

Outcome Chains::read(ChunkId chain, Shape& shape) {
  OpenScope scope;
  Outcome outcome = node_.open(chain, Mode::kRead, ChunkNode::kAll, kForever, scope);
  if (!outcome.ok()) return outcome;
  std::memcpy(&shape, scope.data, sizeof shape);
  return node_.release(scope.scope);
}

Outcome Chains::shape(ChunkId chain, Shape& shape) {
  std::string name;
  Outcome outcome = name_of(chain, name);
  return outcome.ok() ? read(chain, shape) : outcome;
}

Outcome Chains::piece(ChunkId chain, std::uint64_t index, ChunkId& chunk) {
  std::string name;
  Shape shape;
  Outcome outcome = name_of(chain, name);
  if (outcome.ok()) outcome = read(chain, shape);
  if (!outcome.ok()) return outcome;
  if (index >= shape.pieces())
    return {Status::kInvalid, fmt::format("chain '{}' has {} pieces, from 0 on; there is no piece "
                                          "{}",
                                          name, shape.pieces(), index)};
  return node_.find(piece_name(name, index), 0, chunk);
}

Outcome Chains::append(ChunkId chain, std::uint64_t bytes, std::uint64_t& first) {
  std::string name;
  OpenScope scope;
  Outcome outcome = name_of(chain, name);
  if (outcome.ok() && bytes == 0)
    outcome = {Status::kInvalid, fmt::format("chain '{}': 0 bytes more", name)};
  if (outcome.ok()) outcome = node_.open(chain, Mode::kReadWrite, ChunkNode::kAll, kForever, scope);
  if (!outcome.ok()) return outcome;
  Shape shape;
  std::memcpy(&shape, scope.data, sizeof shape);
  Shape longer = shape;
  longer.bytes = bytes < ~0ull - shape.bytes ? shape.bytes + bytes : ~0ull;
  if (shape.bytes % shape.piece_bytes != 0)
    outcome = {Status::kInvalid,
               fmt::format("chain '{}': its last piece has {} of {} bytes, and pieces do not grow; "
                           "make chains that are appended to of whole pieces",
                           name, shape.bytes % shape.piece_bytes, shape.piece_bytes)};
  if (outcome.ok()) outcome = check(name, longer);
  if (outcome.ok()) outcome = make_pieces(name, longer, shape.pieces());
  if (outcome.ok()) {
    first = shape.pieces();
    std::memcpy(scope.data, &longer, sizeof longer);
  }
  Outcome released = node_.release(scope.scope);
  return outcome.ok() ? released : outcome;
}

}  // namespace terrane::runtime::chunks
