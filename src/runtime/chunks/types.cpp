#include "runtime/chunks/types.h"

#include <bit>
#include <cstring>

#include "runtime/chunks/names.h"

namespace terrane::runtime::chunks {
namespace {

// The contents of the chunk of a type. All zero: no type was stated yet.
struct Record {
  std::uint64_t bytes = 0;
  std::uint64_t alignment = 0;
  std::uint32_t node = 0;
  char name[228] = {};
};
static_assert(sizeof(Record) == 248);

std::uint64_t hash(std::string_view text) {  // FNV-1a: the same on every machine of the job
  std::uint64_t value = 0xcbf29ce484222325;
  for (char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return value;
}

// At most `most` bytes; the end of a longer text is replaced by a hash of all of it.
std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  std::string end = fmt::format("...{:016x}", hash(text));
  return fmt::format("{}{}", text.substr(0, most - end.size()), end);
}

Record record_of(const Types::Type& type, NodeId node) {
  Record record{.bytes = type.bytes, .alignment = type.alignment, .node = node.value};
  std::string name = shortened(type.name, sizeof record.name - 1);
  std::memcpy(record.name, name.data(), name.size());
  return record;
}

bool agree(const Record& one, const Record& other) {
  bool named = one.name[0] != 0 && other.name[0] != 0;
  return one.bytes == other.bytes && one.alignment == other.alignment &&
         (!named || std::strcmp(one.name, other.name) == 0);
}

std::string describe(const Record& record) {
  return fmt::format("{}{}{} bytes, aligned to {}", record.name, record.name[0] != 0 ? ": " : "",
                     record.bytes, record.alignment);
}

Outcome check(const Types::Type& type) {
  if (type.bytes == 0) return {Status::kInvalid, "a type of 0 bytes"};
  if (!std::has_single_bit(type.alignment))
    return {Status::kInvalid,
            fmt::format("an alignment of {}; it must be a power of two", type.alignment)};
  return {};
}

}  // namespace

Outcome Types::state(ChunkId chunk, const Type& type) {
  if (Outcome good = check(type); !good.ok()) return good;
  std::string name = node_.facts(chunk).name;
  if (name.empty())
    return {Status::kInvalid,
            fmt::format("{:#x} is no chunk that this node has created or found", chunk.value)};
  ChunkId hidden;
  bool existed = false;
  std::string hidden_name = fmt::format(
      "{}{}", kTypePrefix, shortened(name, protocol::chunks::kMaxNameBytes - kTypePrefix.size()));
  Outcome outcome =
      node_.create(hidden_name, sizeof(Record), machine::Coherence::kInvalidate, hidden, existed);
  if (!outcome.ok()) return outcome;

  const Record ours = record_of(type, node_.self());
  Record there;
  for (Mode mode : {Mode::kRead, Mode::kReadWrite}) {
    OpenScope scope;
    outcome = node_.open(hidden, mode, ChunkNode::kAll, -1, scope);
    if (!outcome.ok()) return outcome;
    std::memcpy(&there, scope.data, sizeof there);
    bool states = there.bytes == 0 && mode == Mode::kReadWrite;
    if (states) std::memcpy(scope.data, &ours, sizeof ours);
    outcome = node_.release(scope.scope);
    if (!outcome.ok() || states) return outcome;
    if (there.bytes != 0) break;
  }
  if (agree(ours, there)) return {};
  return {Status::kMismatch,
          fmt::format("{} holds elements of another type: {} (as node {} stated first); this node "
                      "asks for {}",
                      title_of(name), describe(there), there.node, describe(ours))};
}

}  // namespace terrane::runtime::chunks
