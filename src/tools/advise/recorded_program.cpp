#include "tools/advise/recorded_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

namespace terrane::tools::advise {
namespace {

using forecast::Op;
using Kind = runtime::RecordedOp::Kind;
using Homes = decltype(decltype(forecast::Region::policy)::homes);

// Parts of memory with more unused blocks between them than this come nearer to each other: more
// than one miss brings.
constexpr std::uint64_t kGap = 64;

bool uses_blocks(const runtime::RecordedOp& op) {
  return op.kind == Kind::kRead || op.kind == Kind::kUse || op.kind == Kind::kWrite ||
         op.kind == Kind::kAtomic;
}

Op::Kind kind_of(const runtime::RecordedOp& op) {
  switch (op.kind) {
    case Kind::kWork:
      return Op::Kind::kWork;
    case Kind::kRead:
      return Op::Kind::kRead;
    case Kind::kUse:
    case Kind::kWrite:
      return Op::Kind::kWrite;
    case Kind::kLock:
      return op.detail == 0 ? Op::Kind::kLock : Op::Kind::kTryLock;
    case Kind::kUnlock:
      return Op::Kind::kUnlock;
    case Kind::kChangeCount:
      return Op::Kind::kChangeCount;
    case Kind::kAwaitCount:
      return Op::Kind::kAwaitCount;
    case Kind::kTakeUnits:
      return Op::Kind::kTakeUnits;
    case Kind::kWaitCondition:
      return Op::Kind::kWaitCondition;
    case Kind::kSignal:
      return Op::Kind::kSignal;
    case Kind::kSignalAll:
      return Op::Kind::kBroadcast;
    case Kind::kArrive:
      return Op::Kind::kArrive;
    case Kind::kBarrier:
      return Op::Kind::kBarrier;
    case Kind::kGather:
      return Op::Kind::kGather;
    case Kind::kAtomic:
      return Op::Kind::kAtomic;
    case Kind::kSet:
      return Op::Kind::kSet;
    case Kind::kAwait:
      return Op::Kind::kAwait;
    case Kind::kFence:
    case Kind::kPlaced:
    case Kind::kRegion:
      return Op::Kind::kFence;
  }
  return Op::Kind::kFence;
}

bool is_synchronisation(Kind kind) {
  return kind >= Kind::kLock && kind <= Kind::kGather;  // fences depend on chance
}

std::uint64_t work_in(std::span<const runtime::RecordedOp> ops) {
  std::uint64_t ns = 0;
  for (const runtime::RecordedOp& op : ops)
    if (op.kind == Kind::kWork) ns += op.value;
  return ns;
}

// What a thread does until, and by, an operation that may wait for others.
struct Stretch {
  Kind kind = Kind::kWork;  // that operation; kWork: the end
  std::size_t end = 0;      // its index
  std::uint64_t ns = 0;     // computed
};

std::vector<Stretch> stretches_of(std::span<const runtime::RecordedOp> ops) {
  std::vector<Stretch> all;
  std::uint64_t ns = 0;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind == Kind::kWork) ns += ops[i].value;
    if (!is_synchronisation(ops[i].kind)) continue;
    all.push_back({ops[i].kind, i, ns});
    ns = 0;
  }
  all.push_back({Kind::kWork, ops.size(), ns});
  return all;
}

bool are_alike(const std::vector<Stretch>& one, const std::vector<Stretch>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const Stretch& a, const Stretch& b) { return a.kind == b.kind; });
}

// Stretches compute as long as those of `times`.
std::vector<runtime::RecordedOp> with_times(std::span<const runtime::RecordedOp> ops,
                                            const std::vector<Stretch>& stretches,
                                            const std::vector<Stretch>& times) {
  std::vector<runtime::RecordedOp> scaled;
  std::size_t at = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) {
    double factor = stretches[i].ns == 0
                        ? 0
                        : static_cast<double>(times[i].ns) / static_cast<double>(stretches[i].ns);
    for (; at < stretches[i].end; ++at) {
      scaled.push_back(ops[at]);
      if (ops[at].kind == Kind::kWork)
        scaled.back().value =
            static_cast<std::uint64_t>(static_cast<double>(ops[at].value) * factor);
    }
    if (stretches[i].ns == 0 && times[i].ns > 0)
      scaled.push_back({.kind = Kind::kWork, .value = times[i].ns});
    if (at < ops.size()) scaled.push_back(ops[at++]);
  }
  return scaled;
}

}  // namespace

base::Result<std::unique_ptr<RecordedProgram>> RecordedProgram::read(const std::string& folder,
                                                                     const std::string& times) {
  std::unique_ptr<RecordedProgram> program(new RecordedProgram);
  if (auto done = program->read_nodes(folder); !done) return done.error();
  if (!times.empty()) {
    RecordedProgram other;
    if (auto done = other.read_nodes(times); !done) return done.error();
    program->take_times(other);
  }
  for (const Thread& thread : program->threads_)
    for (const Recorded& op : thread.ops)
      if (op.kind == Kind::kWork) program->computing_ += op.value;
  program->number_pages();
  program->rewind(program->nodes_);
  return program;
}

base::Result<> RecordedProgram::read_nodes(const std::string& folder) {
  for (std::uint32_t node = 0; node == 0 || node < nodes_; ++node) {
    auto done = read_node(fmt::format("{}/{}.record", folder, node), node);
    if (!done) return done;
    read_names(fmt::format("{}/{}.names", folder, node));
  }
  return {};
}

base::Result<> RecordedProgram::read_node(const std::string& path, std::uint32_t node) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                       [](auto* one) { return std::fclose(one); });
  if (!file) return base::errno_error(path + " cannot be read");
  runtime::RecordHead head;
  bool good = std::fread(&head, sizeof head, 1, file.get()) == 1 &&
              head.magic == runtime::RecordHead::kMagic && head.node == node && head.nodes > node &&
              (node == 0 || (head.nodes == nodes_ && head.block_bytes == page_bytes_));
  if (!good) return base::error("{} is no recording of node {} of this job", path, node);
  if (head.left_out > 0)
    return base::error(
        "node {} did more than a recording holds: {} operations are missing; give the program less "
        "to do, or more nodes",
        node, head.left_out);
  nodes_ = head.nodes;
  base_ = head.base;
  page_bytes_ = head.block_bytes;
  std::map<std::uint32_t, std::size_t> numbers;
  std::vector<Recorded> some(4096);
  for (std::size_t got; (got = std::fread(some.data(), sizeof some[0], some.size(), file.get()));)
    for (const Recorded& op : std::span(some.data(), got)) {
      if (op.kind > Kind::kRegion) return base::error("{} is damaged", path);
      if (op.kind == Kind::kRegion) allocations_[op.id] = op;
      if (op.kind == Kind::kPlaced) placed_[op.id] = op.value;
      if (op.kind >= Kind::kPlaced) continue;
      auto [at, fresh] = numbers.try_emplace(op.thread, threads_.size());
      if (fresh) threads_.push_back({.node = node, .number = op.thread});
      Thread& thread = threads_[at->second];
      thread.ops.push_back(op);
      if (op.kind == Kind::kBarrier) thread.barriers.insert(op.id);
    }
  return {};
}

// A line: "m FIRST-BLOCK BLOCKS NAME" or "l TOKEN NAME".
void RecordedProgram::read_names(const std::string& path) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    char kind = 0;
    std::uint64_t number = 0;
    Named named{.blocks = 1};
    words >> kind >> number;
    if (kind == 'm') words >> named.blocks;
    if (!words.get() || !std::getline(words, named.name)) continue;
    if (kind == 'm') names_.try_emplace(number, named);
    if (kind == 'l') lock_names_.try_emplace(number, named.name);
  }
}

std::string RecordedProgram::name_of(std::uint64_t page) const {
  std::uint64_t block = block_of(page);
  auto next = names_.upper_bound(block);
  if (next == names_.begin()) return {};
  const auto& [first, named] = *std::prev(next);
  return block < first + named.blocks ? named.name : std::string();
}

std::string RecordedProgram::name_of_lock(std::uint64_t token) const {
  auto found = lock_names_.find(token);
  return found == lock_names_.end() ? fmt::format("lock {:#x}", token) : found->second;
}

// Threads that make the same operations compute between two of them as long as in the other run;
// others, as long in all.
void RecordedProgram::take_times(const RecordedProgram& other) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, const Thread*> others;
  std::uint64_t ours = 0, theirs = 0;
  for (const Thread& thread : other.threads_) {
    others[{thread.node, thread.number}] = &thread;
    theirs += work_in(thread.ops);
  }
  for (const Thread& thread : threads_) ours += work_in(thread.ops);
  double all = ours == 0 ? 1 : static_cast<double>(theirs) / static_cast<double>(ours);
  for (Thread& thread : threads_) {
    auto found = others.find({thread.node, thread.number});
    if (found != others.end()) {
      std::vector<Stretch> stretches = stretches_of(thread.ops);
      std::vector<Stretch> times = stretches_of(found->second->ops);
      if (are_alike(stretches, times)) {
        thread.ops = with_times(thread.ops, stretches, times);
        continue;
      }
    }
    std::uint64_t own = work_in(thread.ops);
    double factor = all;
    if (found != others.end() && own > 0)
      factor = static_cast<double>(work_in(found->second->ops)) / static_cast<double>(own);
    for (Recorded& op : thread.ops)
      if (op.kind == Kind::kWork)
        op.value = static_cast<std::uint64_t>(static_cast<double>(op.value) * factor);
  }
}

// Stretches of blocks that are used, with what is between them where that is little; cut where an
// allocation begins or ends.
void RecordedProgram::number_pages() {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> used;  // first, end
  for (const Thread& thread : threads_)
    for (const Recorded& op : thread.ops)
      if (uses_blocks(op)) used.emplace_back(op.id, op.id + op.pages);
  std::sort(used.begin(), used.end());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> joined;
  std::uint64_t counted = 0;
  for (auto [first, end] : used) {
    pages_used_ += end > counted ? end - std::max(first, counted) : 0;
    counted = std::max(counted, end);
    if (!joined.empty() && first <= joined.back().second + kGap) {
      joined.back().second = std::max(joined.back().second, end);
    } else {
      joined.emplace_back(first, end);
    }
  }
  std::uint64_t page = 0;
  auto add = [&](std::uint64_t first, std::uint64_t end, const Recorded* allocation) {
    parts_.push_back({first, end - first, page});
    decltype(forecast::Region::policy) policy;
    if (allocation != nullptr) {
      policy.homes = static_cast<Homes>(allocation->detail);
      policy.argument = static_cast<std::uint32_t>(allocation->other);
    }
    all_regions_.push_back({.first = page, .pages = end - first, .policy = policy});
    page += end - first;
  };
  for (auto [first, end] : joined) {
    while (first < end) {
      auto next = allocations_.upper_bound(first);
      std::uint64_t stop = next == allocations_.end() ? end : std::min(end, next->first);
      const Recorded* inside = nullptr;
      if (next != allocations_.begin()) {
        const Recorded& before = std::prev(next)->second;
        if (first < before.id + before.value) {
          inside = &before;
          stop = std::min(stop, before.id + before.value);
        }
      }
      add(first, stop, inside);
      first = stop;
    }
  }
  if (parts_.empty()) add(0, 1, nullptr);
}

const RecordedProgram::Part* RecordedProgram::part_with(std::uint64_t block) const {
  auto next = std::upper_bound(parts_.begin(), parts_.end(), block,
                               [](std::uint64_t b, const Part& part) { return b < part.first; });
  return next == parts_.begin() ? nullptr : &*std::prev(next);
}

std::uint64_t RecordedProgram::page_of(std::uint64_t block) const {
  const Part* part = part_with(block);
  return part == nullptr ? 0 : part->page + (block - part->first);
}

std::uint64_t RecordedProgram::block_of(std::uint64_t page) const {
  auto next = std::upper_bound(parts_.begin(), parts_.end(), page,
                               [](std::uint64_t p, const Part& part) { return p < part.page; });
  if (next == parts_.begin()) return 0;
  const Part& part = *std::prev(next);
  return part.first + (page - part.page);
}

void RecordedProgram::each_use(std::uint64_t page, const Use& use) const {
  std::uint64_t block = block_of(page);
  for (const Thread& thread : threads_)
    for (const Recorded& op : thread.ops)
      if (uses_blocks(op) && op.id <= block && block < op.id + op.pages) use(thread.node, op);
}

std::uint64_t RecordedProgram::address_of(std::uint64_t page) const {
  std::uint64_t block = block_of(page);
  auto placed = placed_.find(block);
  return placed != placed_.end() ? placed->second : base_ + block * page_bytes_;
}

void RecordedProgram::rewind(std::uint32_t nodes) {
  for (Thread& thread : threads_) thread.at = thread.inside = 0;
  regions_ = all_regions_;
  for (forecast::Region& region : regions_) {
    if (region.policy.homes == Homes::kExplicit)
      region.policy.argument = region.policy.argument * nodes / nodes_;
    if (region.policy.homes == Homes::kCluster || region.policy.homes == Homes::kFirstTouch)
      region.policy = {};
  }
}

bool RecordedProgram::next(std::uint32_t number, forecast::Op& op) {
  Thread& thread = threads_[number];
  if (thread.at == thread.ops.size()) return false;
  const Recorded& recorded = thread.ops[thread.at];
  op = {.kind = kind_of(recorded), .id = recorded.id};
  if (uses_blocks(recorded)) {
    op.page = page_of(recorded.id + thread.inside);
    op.mask = recorded.kind == Kind::kWrite ? recorded.value : 0;
    op.atomic = static_cast<protocol::AtomicKind>(recorded.detail);
    if (++thread.inside < recorded.pages) return true;
    thread.inside = 0;
  }
  ++thread.at;
  op.ns = recorded.value;
  op.count_op = static_cast<protocol::CountOp>(recorded.detail);
  op.other = recorded.value;
  op.operand = static_cast<std::int64_t>(recorded.value);
  op.room = static_cast<std::int64_t>(recorded.other);
  if (recorded.kind == Kind::kArrive || recorded.kind == Kind::kWaitCondition) op.operand = 0;
  return true;
}

}  // namespace terrane::tools::advise
