#include "runtime/recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <span>
#include <vector>

#include "base/unique_fd.h"
#include "platform/fault_cost.h"
#include "runtime/page_steps.h"
#include "runtime/program/own_stack.h"
#include "runtime/recorded_names.h"

namespace terrane::runtime {
namespace {

using platform::processor_ns;
using Kind = RecordedOp::Kind;

// Less work than this is noted with the next operation, so that uses of pages beside each other are
// one operation.
constexpr std::uint64_t kLeastWorkNs = 20'000;

struct Changed {
  std::uint64_t parts = 0, bytes = 0;  // as RecordedOp::kWrite
};

Changed changed_in(const std::byte* page, const std::byte* twin, std::uint64_t bytes) {
  std::uint64_t part = bytes / RecordedOp::kParts;
  Changed changed;
  for (std::uint64_t i = 0; i < bytes; i += part) {
    if (std::memcmp(page + i, twin + i, part) == 0) continue;
    changed.parts |= 1ull << (i / part);
    if (changed.bytes == ~0ull) continue;
    for (std::uint64_t b = 0; b < part; ++b)
      if (page[i + b] != twin[i + b]) changed.bytes |= 1ull << (b % 64);
  }
  return changed;
}

struct Part {
  const void* data;
  std::uint64_t bytes;
};

base::Result<> write_file(const std::string& path, std::initializer_list<Part> parts) {
  base::UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  bool good = file.get() >= 0;
  for (const Part& part : parts) {
    const auto* from = static_cast<const std::byte*>(part.data);
    for (std::uint64_t at = 0; good && at < part.bytes;) {
      ssize_t wrote = ::write(file.get(), from + at, part.bytes - at);
      good = wrote > 0;
      if (good) at += static_cast<std::uint64_t>(wrote);
    }
  }
  if (!good) return base::errno_error(path + " cannot be written");
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Recording>> Recording::create(std::string folder, PageSpace& space,
                                                           platform::FaultSourceKind kind,
                                                           bool with_pages) {
  std::unique_ptr<Recording> made(new Recording(std::move(folder), space, with_pages));
  auto cost = platform::fault_cost_ns(kind);
  if (!cost) return cost.error();
  made->fault_ns_ = cost.value();
  for (auto [memory, bytes] :
       {std::pair{&made->ops_, kMostBytes},
        std::pair{&made->threads_, std::uint64_t{ThreadRegistry::kMaxThreads} * sizeof(Thread)},
        std::pair{&made->users_, space.blocks() * sizeof(std::uint32_t)},
        std::pair{&made->used_, space.blocks() * sizeof(std::uint64_t)}})
    if (auto mapped = memory->map(bytes); !mapped) return mapped.error();
  return made;
}

Recording::Thread& Recording::state_of(const ThreadContext& context) {
  return reinterpret_cast<Thread*>(threads_.data())[context.strand.waiter().value];
}

// The thread of this node that did something last has made this one: the node's own thread, which
// heard that it is wanted.
void Recording::begin_thread(std::uint32_t self, Thread& thread) {
  thread.mark_ns = processor_ns();
  thread.last = 0;
  if (last_thread_ == ~0u || last_thread_ == self) return;
  std::uint64_t event = std::uint64_t{space_.self().value} << 32 | ++events_;
  add(last_thread_, {.kind = Kind::kSet, .id = event});
  add(self, {.kind = Kind::kAwait, .id = event});
}

void Recording::pause(const ThreadContext& context) {
  std::lock_guard hold(mutex_);
  Thread& thread = state_of(context);
  if (thread.depth++ != 0) return;
  std::int32_t number = context.thread.load(std::memory_order_relaxed);
  if (thread.number != number) {
    thread.number = number;
    begin_thread(context.strand.waiter().value, thread);
  }
  thread.work_ns += processor_ns() - thread.mark_ns;
}

void Recording::pause_for_fault(const ThreadContext& context) {
  pause(context);
  std::lock_guard hold(mutex_);
  Thread& thread = state_of(context);
  if (thread.depth == 1) thread.work_ns -= std::min(thread.work_ns, fault_ns_);
}

void Recording::go_on(const ThreadContext& context) {
  std::lock_guard hold(mutex_);
  Thread& thread = state_of(context);
  if (--thread.depth > 0) return;
  thread.waits = false;
  thread.mark_ns = processor_ns();
}

void Recording::add(std::uint32_t thread, const RecordedOp& op) {
  if ((count_ + 1) * sizeof op > kMostBytes) {
    ++left_out_;
    return;
  }
  RecordedOp& kept = reinterpret_cast<RecordedOp*>(ops_.data())[count_++];
  kept = op;
  kept.thread = thread;
}

void Recording::add_work(std::uint32_t number, Thread& thread, std::uint64_t least_ns) {
  if (thread.work_ns <= least_ns) return;
  add(number, {.kind = Kind::kWork, .value = thread.work_ns});
  thread.work_ns = 0;
  thread.last = 0;
}

// One more block like those before is no operation of its own.
void Recording::add_blocks(std::uint32_t number, RecordedOp op) {
  Thread& thread = reinterpret_cast<Thread*>(threads_.data())[number];
  add_work(number, thread, kLeastWorkNs);
  if (thread.last != 0) {
    RecordedOp& last = reinterpret_cast<RecordedOp*>(ops_.data())[thread.last - 1];
    bool continues = last.kind == op.kind && last.id + last.pages == op.id &&
                     last.value == op.value && last.other == op.other && last.pages < 0xffff;
    if (continues) {
      ++last.pages;
      return;
    }
  }
  add(number, op);
  thread.last = left_out_ == 0 ? count_ : 0;
}

void Recording::note_waiting(const ThreadContext& context, const RecordedOp& op) {
  std::lock_guard hold(mutex_);
  Thread& thread = state_of(context);
  thread.waiting = op;
  thread.waits = true;
}

void Recording::note(const ThreadContext& context, RecordedOp op, bool acquires) {
  std::lock_guard hold(mutex_);
  std::uint32_t number = context.strand.waiter().value;
  Thread& thread = state_of(context);
  thread.waits = false;
  add_work(number, thread, 0);
  thread.last = 0;
  add(number, op);
  last_thread_ = number;
  if (acquires) hide_used();
}

void Recording::note_use(const ThreadContext& context, std::uint64_t block, bool write,
                         bool synchronises) {
  if (!with_pages_) return;
  std::lock_guard hold(mutex_);
  std::uint32_t number = context.strand.waiter().value;
  if (synchronises) {
    add_work(number, state_of(context), 0);
    state_of(context).last = 0;
    return add(number, {.kind = Kind::kAtomic, .id = block});
  }
  reinterpret_cast<std::uint32_t*>(users_.data())[block] = number + 1;
  add_blocks(number, {.kind = write ? Kind::kUse : Kind::kRead, .id = block});
  if (used_count_ < space_.blocks())
    reinterpret_cast<std::uint64_t*>(used_.data())[used_count_++] = block;
}

void Recording::note_written(std::uint64_t block, const std::byte* page, const std::byte* twin) {
  Changed changed = changed_in(page, twin, space_.unit());
  if (changed.parts == 0) return;
  std::lock_guard hold(mutex_);
  std::uint32_t user = reinterpret_cast<const std::uint32_t*>(users_.data())[block];
  if (user == 0) return;  // written by nobody but the runtime
  add_blocks(user - 1,
             {.kind = Kind::kWrite, .id = block, .value = changed.parts, .other = changed.bytes});
}

// Their next uses fault.
void Recording::hide_used() {
  auto* used = reinterpret_cast<std::uint64_t*>(used_.data());
  std::sort(used, used + used_count_);
  Counters ignored;
  PageSteps steps(space_, ignored);
  const protocol::BlockEntry* entries = CheckedPages::entries(space_);
  for (std::uint64_t i = 0; i < used_count_;) {
    protocol::BlockRange run{used[i], 1};
    for (++i; i < used_count_ && used[i] <= run.end(); ++i)
      if (used[i] == run.end()) ++run.count;
    for (std::uint64_t b = run.first; b < run.end();) {
      protocol::BlockRange shown{b, 0};
      while (shown.end() < run.end() && !entries[shown.end()].synchronises()) ++shown.count;
      if (shown.count > 0) steps.perform(protocol::Zap{shown});
      b = shown.end() + 1;
    }
  }
  used_count_ = 0;
}

// Which allocations the blocks are in, and which of them the program sees elsewhere.
void Recording::add_places(Engine& engine) {
  auto* ops = reinterpret_cast<RecordedOp*>(ops_.data());
  std::set<std::uint64_t> known, placed;
  for (std::uint64_t i = 0, noted = count_; i < noted; ++i) {
    if (ops[i].kind != Kind::kRead && ops[i].kind != Kind::kUse) continue;
    for (std::uint64_t b = ops[i].id; b < ops[i].id + ops[i].pages; ++b) {
      bool moved = space_.address_of(b) != space_.mapping().app() + b * space_.unit();
      if (moved && placed.insert(b).second)
        add(~0u, {.kind = Kind::kPlaced,
                  .id = b,
                  .value = reinterpret_cast<std::uintptr_t>(space_.address_of(b))});
    }
    protocol::Region region = engine.allocation_of(ops[i].id);
    if (region.blocks.count == 0 || !known.insert(region.blocks.first).second) continue;
    add(~0u, {.kind = Kind::kRegion,
              .detail = static_cast<std::uint8_t>(region.policy.homes),
              .id = region.blocks.first,
              .value = region.blocks.count,
              .other = region.policy.argument});
  }
}

// Node 0 knows the program's names; it may not know allocations of others any more.
base::Result<> Recording::write_names(bootstrap::Bootstrap& job, Engine& engine,
                                      const ProgramNames& names) {
  auto* ops = reinterpret_cast<const RecordedOp*>(ops_.data());
  std::vector<std::uint64_t> asked = to_be_named({ops, count_}, engine);
  auto all = job.exchange(std::as_bytes(std::span(asked)), {});
  if (!all) return all.error();
  std::string text = names_of(asked, space_, engine, names);
  if (space_.self() == NodeId{0}) {
    for (const bootstrap::Contribution& one : all.value()) {
      std::vector<std::uint64_t> theirs(one.bytes.size() / sizeof asked[0]);
      if (!theirs.empty())
        std::memcpy(theirs.data(), one.bytes.data(), theirs.size() * sizeof theirs[0]);
      text += names_of(theirs, space_, engine, names);
    }
  }
  return write_file(fmt::format("{}/{}.names", folder_, space_.self().value),
                    {{text.data(), text.size()}});
}

base::Result<> Recording::write(bootstrap::Bootstrap& job, Engine& engine,
                                const ProgramNames& names) {
  std::lock_guard hold(mutex_);
  auto* ops = reinterpret_cast<RecordedOp*>(ops_.data());
  for (std::uint32_t i = 0; i < ThreadRegistry::kMaxThreads; ++i) {
    Thread& thread = reinterpret_cast<Thread*>(threads_.data())[i];
    if (!thread.waits) continue;
    add_work(i, thread, 0);
    thread.waiting.pages = 0;
    add(i, thread.waiting);
  }
  if (with_pages_) {
    if (auto named = write_names(job, engine, names); !named) return named;
    add_places(engine);
  }
  RecordHead head{.node = space_.self().value,
                  .nodes = space_.nodes(),
                  .block_bytes = space_.unit(),
                  .base = reinterpret_cast<std::uintptr_t>(space_.mapping().app()),
                  .left_out = left_out_};
  return write_file(fmt::format("{}/{}.record", folder_, space_.self().value),
                    {{&head, sizeof head}, {ops, count_ * sizeof(RecordedOp)}});
}

void RecordedPages::note_written(PageSpace& space, std::uint64_t block) {
  if (space.recording_ == nullptr) return;
  const std::byte* twin = CheckedPages::twin(space, block);
  if (twin == nullptr) return;
  space.recording_->note_written(block, space.mapping_.runtime() + block * space.unit_, twin);
}

RecordedCall::RecordedCall(Recording* recording, ThreadRegistry& threads)
    : recording_(recording), threads_(threads) {
  if (recording_ == nullptr) return;
  on_own_stack([this] {
    recording_->pause(threads_.current());
    return 0;
  });
}

RecordedCall::RecordedCall(Recording* recording, ThreadRegistry& threads, const RecordedOp& op)
    : RecordedCall(recording, threads) {
  if (recording_ == nullptr) return;
  on_own_stack([this, op] {
    recording_->note_waiting(threads_.current(), op);
    return 0;
  });
}

RecordedCall::~RecordedCall() {
  if (recording_ == nullptr) return;
  on_own_stack([this] {
    recording_->go_on(threads_.current());
    return 0;
  });
}

void RecordedCall::note(const RecordedOp& op, bool acquires) {
  if (recording_ == nullptr) return;
  on_own_stack([this, op, acquires] {
    recording_->note(threads_.current(), op, acquires);
    return 0;
  });
}

}  // namespace terrane::runtime
