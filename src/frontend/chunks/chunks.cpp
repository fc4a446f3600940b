// The C interface <terrane/chunks.h>: arguments are checked here, and everything else is done
// below.
#include <terrane/chunks.h>

#include <cstring>

#include "frontend/chunks/process.h"

namespace {

using namespace terrane::frontend::chunks;
using terrane::runtime::chunks::ChunkId;
using terrane::runtime::chunks::Mode;
using terrane::runtime::chunks::OpenScope;
using terrane::runtime::chunks::ScopeId;
namespace machine = terrane::runtime::chunks::machine;

static_assert(static_cast<int>(Status::kWritten) == TERRANE_EWRITTEN);
static_assert(static_cast<int>(Status::kFull) == TERRANE_EFULL);
static_assert(static_cast<int>(machine::Coherence::kOnce) == TERRANE_CHUNK_ONCE);
static_assert(static_cast<int>(machine::Policy::kDrop) == TERRANE_CHUNK_DROP);

// What the caller wrote there, in range or not.
template <typename Enum>
std::uint32_t number_of(const Enum& value) {
  std::uint32_t number = 0;
  static_assert(sizeof number == sizeof value);
  std::memcpy(&number, &value, sizeof number);
  return number;
}

}  // namespace

namespace terrane::frontend::chunks {

Outcome null_argument(const char* name) {
  return {Status::kInvalid, fmt::format("{} is NULL", name)};
}

Outcome check_timeout(int64_t timeout_ns) {
  if (timeout_ns >= -1) return {};
  return {Status::kInvalid, fmt::format("a timeout of {} ns", timeout_ns)};
}

Outcome to_coherence(terrane_chunk_coherence given, machine::Coherence& coherence) {
  if (number_of(given) > TERRANE_CHUNK_ONCE)
    return {Status::kInvalid, fmt::format("{} is no coherence", number_of(given))};
  coherence = static_cast<machine::Coherence>(number_of(given));
  return {};
}

Outcome to_home(int32_t given, std::uint32_t& home) {
  if (given < TERRANE_HOME_AT_FIRST_SUBSCRIBER)
    return {Status::kInvalid, fmt::format("home {} is no node", given)};
  home = given == TERRANE_HOME_BY_NAME               ? machine::kHomeByName
         : given == TERRANE_HOME_AT_FIRST_SUBSCRIBER ? machine::kHomeAtFirst
                                                     : static_cast<std::uint32_t>(given);
  return {};
}

terrane_scope to_scope(const OpenScope& open) {
  return {.data = open.data,
          .bytes = open.range.bytes,
          .version = open.version,
          .missed = open.missed,
          .id = open.scope.value,
          .chunk = {open.chunk.value},
          .offset = open.range.offset,
          .changed_offset = open.changed.offset,
          .changed_bytes = open.changed.bytes,
          .size = sizeof(terrane_scope),
          .reserved = {}};
}

}  // namespace terrane::frontend::chunks

namespace {

Outcome open_scope(ChunkNode& node, terrane_chunk chunk, terrane_chunk_mode mode,
                   machine::Range range, int64_t timeout_ns, terrane_scope* scope) {
  if (scope == nullptr) return null_argument("scope");
  std::uint32_t number = number_of(mode);
  if (number < TERRANE_CHUNK_READ || number > TERRANE_CHUNK_READ_WRITE)
    return {Status::kInvalid, fmt::format("{} is no mode of a scope", number)};
  if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
  Mode wanted = number == TERRANE_CHUNK_READ    ? Mode::kRead
                : number == TERRANE_CHUNK_WRITE ? Mode::kWrite
                                                : Mode::kReadWrite;
  OpenScope open;
  Outcome outcome = node.open(ChunkId{chunk.id}, wanted, range, timeout_ns, open);
  if (outcome.ok()) *scope = to_scope(open);
  return outcome;
}

Outcome subscribe(ChunkNode& node, terrane_chunk chunk, machine::Range range,
                  terrane_chunk_policy policy, uint32_t window, terrane_chunk_handler handler,
                  void* context) {
  if (number_of(policy) > TERRANE_CHUNK_DROP)
    return {Status::kInvalid, fmt::format("{} is no policy", number_of(policy))};
  ChunkNode::Handler call;
  if (handler != nullptr)
    call = [handler, context](const OpenScope& open) {
      terrane_scope scope = to_scope(open);
      handler(&scope, context);
    };
  return node.subscribe(ChunkId{chunk.id}, range, static_cast<machine::Policy>(policy), window,
                        std::move(call));
}

}  // namespace

extern "C" {

int terrane_chunks_init(void) noexcept { return join(); }

int terrane_chunks_finalize(void) noexcept { return leave(); }

int terrane_chunks_node(void) noexcept {
  ChunkNode* node = node_for("terrane_chunks_node");
  return node != nullptr ? static_cast<int>(node->self().value) : TERRANE_ESTATE;
}

int terrane_chunks_nodes(void) noexcept {
  ChunkNode* node = node_for("terrane_chunks_nodes");
  return node != nullptr ? static_cast<int>(node->nodes()) : TERRANE_ESTATE;
}

const char* terrane_chunks_error(void) noexcept { return last_error(); }

int terrane_chunk_create(const char* name, size_t bytes, terrane_chunk_coherence coherence,
                         terrane_chunk* chunk, int* created) noexcept {
  return terrane_chunk_create_at(name, bytes, coherence, TERRANE_HOME_BY_NAME, chunk, created);
}

int terrane_chunk_create_at(const char* name, size_t bytes, terrane_chunk_coherence coherence,
                            int32_t home, terrane_chunk* chunk, int* created) noexcept {
  const char* call =
      home == TERRANE_HOME_BY_NAME ? "terrane_chunk_create" : "terrane_chunk_create_at";
  return with_node(call, [&](ChunkNode& node) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (chunk == nullptr) return null_argument("chunk");
    machine::Coherence wanted = {};
    if (Outcome good = to_coherence(coherence, wanted); !good.ok()) return good;
    std::uint32_t place = 0;
    if (Outcome good = to_home(home, place); !good.ok()) return good;
    ChunkId id;
    bool existed = false;
    Outcome outcome = node.create(name, bytes, wanted, id, existed, place);
    if (!outcome.ok()) return outcome;
    chunk->id = id.value;
    if (created != nullptr) *created = existed ? 0 : 1;
    return {};
  });
}

int terrane_chunk_find(const char* name, int64_t timeout_ns, terrane_chunk* chunk) noexcept {
  return with_node("terrane_chunk_find", [&](ChunkNode& node) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (chunk == nullptr) return null_argument("chunk");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    ChunkId id;
    Outcome outcome = node.find(name, timeout_ns, id);
    if (outcome.ok()) chunk->id = id.value;
    return outcome;
  });
}

int terrane_chunk_state_type(terrane_chunk chunk, const char* name, size_t bytes,
                             size_t alignment) noexcept {
  return with_node("terrane_chunk_state_type", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    return types().state(ChunkId{chunk.id}, {name, bytes, alignment});
  });
}

size_t terrane_chunk_bytes(terrane_chunk chunk) noexcept {
  InCall in_call;
  if (!in_call.outermost()) return fail_in_handler(), 0;
  ChunkNode* node = node_for("terrane_chunk_bytes");
  return node != nullptr ? node->facts(ChunkId{chunk.id}).bytes : 0;
}

int terrane_chunk_home(terrane_chunk chunk) noexcept {
  InCall in_call;
  if (!in_call.outermost()) return fail_in_handler(), -1;
  ChunkNode* node = node_for("terrane_chunk_home");
  if (node == nullptr || node->facts(ChunkId{chunk.id}).name.empty()) return -1;
  return static_cast<int32_t>(node->facts(ChunkId{chunk.id}).home.value);
}

int terrane_chunk_open(terrane_chunk chunk, terrane_chunk_mode mode, int64_t timeout_ns,
                       terrane_scope* scope) noexcept {
  return with_node("terrane_chunk_open", [&](ChunkNode& node) {
    return open_scope(node, chunk, mode, ChunkNode::kAll, timeout_ns, scope);
  });
}

int terrane_chunk_open_range(terrane_chunk chunk, terrane_chunk_mode mode, size_t offset,
                             size_t bytes, int64_t timeout_ns, terrane_scope* scope) noexcept {
  return with_node("terrane_chunk_open_range", [&](ChunkNode& node) {
    return open_scope(node, chunk, mode, {offset, bytes}, timeout_ns, scope);
  });
}

int terrane_chunk_publish(terrane_chunk chunk, size_t offset, size_t bytes, const void* data,
                          int64_t timeout_ns) noexcept {
  return with_node("terrane_chunk_publish", [&](ChunkNode& node) -> Outcome {
    if (data == nullptr) return null_argument("data");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    return node.publish(ChunkId{chunk.id}, offset, {static_cast<const std::byte*>(data), bytes},
                        timeout_ns);
  });
}

int terrane_chunk_release(terrane_scope* scope) noexcept {
  return with_node("terrane_chunk_release", [&](ChunkNode& node) -> Outcome {
    if (scope == nullptr) return null_argument("scope");
    Outcome outcome = node.release(ScopeId{scope->id});
    if (outcome.ok()) *scope = {};
    return outcome;
  });
}

int terrane_chunk_hint(terrane_chunk chunk, terrane_chunk_coherence coherence,
                       int64_t timeout_ns) noexcept {
  return with_node("terrane_chunk_hint", [&](ChunkNode& node) -> Outcome {
    machine::Coherence wanted = {};
    if (Outcome good = to_coherence(coherence, wanted); !good.ok()) return good;
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    return node.hint(ChunkId{chunk.id}, wanted, timeout_ns);
  });
}

int terrane_chunk_drop(terrane_chunk chunk) noexcept {
  return with_node("terrane_chunk_drop",
                   [&](ChunkNode& node) { return node.drop(ChunkId{chunk.id}); });
}

int terrane_chunk_subscribe(terrane_chunk chunk, terrane_chunk_policy policy, uint32_t window,
                            terrane_chunk_handler handler, void* context) noexcept {
  return with_node("terrane_chunk_subscribe", [&](ChunkNode& node) {
    return subscribe(node, chunk, ChunkNode::kAll, policy, window, handler, context);
  });
}

int terrane_chunk_subscribe_range(terrane_chunk chunk, size_t offset, size_t bytes,
                                  terrane_chunk_policy policy, uint32_t window,
                                  terrane_chunk_handler handler, void* context) noexcept {
  return with_node("terrane_chunk_subscribe_range", [&](ChunkNode& node) {
    return subscribe(node, chunk, {offset, bytes}, policy, window, handler, context);
  });
}

int terrane_chunk_unsubscribe(terrane_chunk chunk) noexcept {
  return with_node("terrane_chunk_unsubscribe",
                   [&](ChunkNode& node) { return node.unsubscribe(ChunkId{chunk.id}); });
}

int terrane_chunk_take(terrane_chunk chunk, int64_t timeout_ns, terrane_scope* scope) noexcept {
  return with_node("terrane_chunk_take", [&](ChunkNode& node) -> Outcome {
    if (scope == nullptr) return null_argument("scope");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    OpenScope open;
    Outcome outcome = node.take(ChunkId{chunk.id}, timeout_ns, open);
    if (outcome.ok()) *scope = to_scope(open);
    return outcome;
  });
}

int terrane_chunk_descriptor(terrane_chunk chunk) noexcept {
  int fd = -1;
  int status = with_node("terrane_chunk_descriptor",
                         [&](ChunkNode& node) { return node.descriptor(ChunkId{chunk.id}, fd); });
  return status == TERRANE_OK ? fd : status;
}

}  // extern "C"
