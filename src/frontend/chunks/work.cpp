// Work streams, members and counters: <terrane/work.h>.
#include <terrane/work.h>

#include <algorithm>
#include <cstring>

#include "frontend/chunks/process.h"
#include "platform/wait.h"
#include "runtime/chunks/engine_work.h"

namespace {

using namespace terrane::frontend::chunks;
using terrane::NodeId;
using terrane::runtime::chunks::ChunkId;
using terrane::runtime::chunks::MemberChange;
using terrane::runtime::chunks::OpenVersion;
using terrane::runtime::chunks::Readiness;
using terrane::runtime::chunks::ScopeId;
using terrane::runtime::chunks::WorkFacts;
namespace machine = terrane::runtime::chunks::machine;

static_assert(static_cast<int>(Status::kDied) == TERRANE_EDIED);
static_assert(static_cast<int>(MemberChange::Kind::kDied) == TERRANE_MEMBER_DIED);

Outcome to_shape(const terrane_work_options* options, machine::WorkShape& shape) {
  if (options == nullptr) return {};
  if (options->size != sizeof(terrane_work_options))
    return {Status::kInvalid,
            fmt::format("options of {} bytes; set `size` to sizeof(terrane_work_options), which is "
                        "{}",
                        options->size, sizeof(terrane_work_options))};
  shape.capacity = options->capacity;
  shape.in_order = options->in_order != 0;
  return to_home(options->home, shape.home);
}

terrane_work_version to_version(const OpenVersion& open) {
  return {.data = open.data,
          .bytes = open.bytes,
          .tag = open.what.tag,
          .number = open.number,
          .again = open.what.again ? 1u : 0u,
          .writer = open.what.writer.value,
          .id = open.scope.value,
          .work = {open.work.value},
          .size = sizeof(terrane_work_version),
          .reserved = {}};
}

int descriptor(const char* call, terrane_work work, Readiness::Of what) {
  int fd = -1;
  int status =
      with_node(call, [&](ChunkNode&) { return works().descriptor(ChunkId{work.id}, what, fd); });
  return status == TERRANE_OK ? fd : status;
}

}  // namespace

extern "C" {

int terrane_work_create(const char* name, size_t bytes, const terrane_work_options* options,
                        terrane_work* work, int* created) noexcept {
  return with_node("terrane_work_create", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (work == nullptr) return null_argument("work");
    machine::WorkShape shape;
    if (Outcome good = to_shape(options, shape); !good.ok()) return good;
    ChunkId id;
    bool existed = false;
    Outcome outcome = works().create(name, bytes, shape, id, existed);
    if (!outcome.ok()) return outcome;
    work->id = id.value;
    if (created != nullptr) *created = existed ? 0 : 1;
    return {};
  });
}

int terrane_work_find(const char* name, int64_t timeout_ns, terrane_work* work) noexcept {
  return with_node("terrane_work_find", [&](ChunkNode&) -> Outcome {
    if (name == nullptr) return null_argument("name");
    if (work == nullptr) return null_argument("work");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    ChunkId id;
    Outcome outcome = works().find(name, timeout_ns, id);
    if (outcome.ok()) work->id = id.value;
    return outcome;
  });
}

size_t terrane_work_bytes(terrane_work work) noexcept { return terrane_chunk_bytes({work.id}); }

int terrane_work_home(terrane_work work) noexcept {
  InCall in_call;
  if (!in_call.outermost()) return fail_in_handler(), -1;
  ChunkNode* node = node_for("terrane_work_home");
  return node != nullptr
             ? static_cast<int32_t>(WorkFacts(node->engine()).home(ChunkId{work.id}).value)
             : -1;
}

int terrane_work_write(terrane_work work, int64_t timeout_ns,
                       terrane_work_version* version) noexcept {
  return with_node("terrane_work_write", [&](ChunkNode&) -> Outcome {
    if (version == nullptr) return null_argument("version");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    OpenVersion open;
    Outcome outcome = works().write(ChunkId{work.id}, timeout_ns, open);
    if (outcome.ok()) *version = to_version(open);
    return outcome;
  });
}

int terrane_work_publish(terrane_work_version* version, size_t bytes, uint64_t tag) noexcept {
  return with_node("terrane_work_publish", [&](ChunkNode&) -> Outcome {
    if (version == nullptr) return null_argument("version");
    Outcome outcome = works().publish(ChunkId{version->work.id}, ScopeId{version->id}, bytes, tag);
    bool stays = outcome.status == Status::kInvalid || outcome.status == Status::kNotHeld;
    if (!stays) *version = {};
    return outcome;
  });
}

int terrane_work_subscribe(terrane_work work, uint64_t credit_bytes) noexcept {
  return with_node("terrane_work_subscribe",
                   [&](ChunkNode&) { return works().subscribe(ChunkId{work.id}, credit_bytes); });
}

int terrane_work_unsubscribe(terrane_work work) noexcept {
  return with_node("terrane_work_unsubscribe",
                   [&](ChunkNode&) { return works().unsubscribe(ChunkId{work.id}); });
}

int terrane_work_take(terrane_work work, int64_t timeout_ns,
                      terrane_work_version* version) noexcept {
  return with_node("terrane_work_take", [&](ChunkNode&) -> Outcome {
    if (version == nullptr) return null_argument("version");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    OpenVersion open;
    Outcome outcome = works().take(ChunkId{work.id}, timeout_ns, open);
    if (outcome.ok()) *version = to_version(open);
    return outcome;
  });
}

int terrane_work_release(terrane_work_version* version) noexcept {
  return with_node("terrane_work_release", [&](ChunkNode& node) -> Outcome {
    if (version == nullptr) return null_argument("version");
    Outcome outcome = node.release(ScopeId{version->id});
    if (outcome.ok()) *version = {};
    return outcome;
  });
}

int terrane_work_end(terrane_work work) noexcept {
  return with_node("terrane_work_end", [&](ChunkNode&) { return works().end(ChunkId{work.id}); });
}

int terrane_work_descriptor(terrane_work work) noexcept {
  return descriptor("terrane_work_descriptor", work, Readiness::Of::kTake);
}

int terrane_work_writable_descriptor(terrane_work work) noexcept {
  return descriptor("terrane_work_writable_descriptor", work, Readiness::Of::kWrite);
}

int terrane_chunks_member(int64_t timeout_ns, terrane_member_change* change) noexcept {
  return with_node("terrane_chunks_member", [&](ChunkNode& node) -> Outcome {
    if (change == nullptr) return null_argument("change");
    if (Outcome good = check_timeout(timeout_ns); !good.ok()) return good;
    uint64_t until = timeout_ns < 0 ? UINT64_MAX
                     : timeout_ns == 0
                         ? 0
                         : terrane::platform::now_ns() + static_cast<uint64_t>(timeout_ns);
    auto next = node.members().next(until);
    if (!next && timeout_ns == 0) return {Status::kBusy, "no node has joined, left or died"};
    if (!next)
      return {Status::kTimedOut, fmt::format("no node has joined, left or died within {:.3f} s",
                                             static_cast<double>(timeout_ns) * 1e-9)};
    *change = {.size = sizeof(terrane_member_change),
               .node = static_cast<int32_t>(next->node.value),
               .event = static_cast<terrane_member_event>(next->kind),
               .host = {}};
    std::memcpy(change->host, next->host.data(),
                std::min(next->host.size(), sizeof change->host - 1));
    return {};
  });
}

int terrane_chunks_members_descriptor(void) noexcept {
  int fd = -1;
  int status = with_node("terrane_chunks_members_descriptor", [&](ChunkNode& node) -> Outcome {
    fd = node.members().descriptor();
    if (fd >= 0) return {};
    return {Status::kSystem, "the system gives no descriptor"};
  });
  return status == TERRANE_OK ? fd : status;
}

int terrane_chunks_counters_sized(terrane_chunk_counters* out, size_t bytes) noexcept {
  return with_node("terrane_chunks_counters", [&](ChunkNode& node) -> Outcome {
    if (out == nullptr) return null_argument("out");
    if (bytes == 0 || bytes > sizeof *out)
      return {Status::kInvalid,
              fmt::format("counters of {} bytes; this library has {}", bytes, sizeof *out)};
    const auto& now = WorkFacts(node.engine()).counters();
    terrane_chunk_counters all{.messages_sent = now.messages_sent,
                               .messages_received = now.messages_received,
                               .data_bytes_sent = now.data_bytes_sent,
                               .data_bytes_received = now.data_bytes_received,
                               .shared_bytes_sent = now.shared_bytes_sent,
                               .versions_written = now.versions_written,
                               .versions_taken = now.versions_taken,
                               .versions_again = now.versions_again,
                               .waits = now.waits,
                               .wait_ns = now.wait_ns};
    std::memcpy(out, &all, bytes);
    return {};
  });
}

}  // extern "C"
