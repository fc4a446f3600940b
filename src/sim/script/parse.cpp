#include <algorithm>

#include "protocol/steps/atomic.h"
#include "sim/names.h"
#include "sim/script/script.h"
#include "sim/script/words.h"

namespace terrane::sim {
namespace {

constexpr std::uint32_t kMaxRegionBlocks = 64;
constexpr std::uint32_t kScBlocks = 64;
// In the order of protocol::AtomicKind, without compare-and-swap.
constexpr std::string_view kAtomics[] = {"load", "store", "add", "and", "or", "xor"};

// Reads a script line by line.
class Parser {
 public:
  explicit Parser(Script& out) : out_(out) {
    Setup& setup = out_.program.setup;
    setup.nodes = 2;
    setup.refresh_after = 255;
    setup.unused_pushes = 0;
    setup.patience = 1u << 30;
    setup.whole_steps = true;
  }

  void line(std::string_view text);
  void end();

 private:
  bool setting(std::string_view text);
  void statement(std::string_view text);
  void trace(std::string_view words);
  void region(Words& words);
  void region_option(Words& words, RegionPlan& plan);
  void threads(Words& words, std::vector<std::uint32_t> who);
  void operation(Words& words, Op& op);
  void access(Words& words, Op& op);
  void atomic(Words& words, Op& op);
  static void barrier(Words& words, Op& op);
  void flag(Words& words, Op& op, OpKind kind);
  static void count(Words& words, Op& op, OpKind kind);
  void evict(Words& words, Op& op);
  void place(Words& words, Op& op);
  void messages(Words& words, Statement::Kind kind);
  std::uint32_t named_region(Words& words) const;
  std::uint32_t thread(Words& words);
  std::vector<std::uint32_t> all_threads() const;
  Statement& add(Statement::Kind kind);
  void settle();

  Script& out_;
  std::uint32_t threads_ = 1;  // of each node
  bool settled_ = false;       // the numbers of nodes and threads cannot change any more
  bool parallel_ = false;
  bool traced_ = false;
  std::vector<std::string> selected_;
  std::uint32_t line_ = 0;
};

void Parser::line(std::string_view text) {
  std::string_view words = trimmed(text);
  ++line_;
  if (words.empty() || words.front() == '#') return;
  if (words.front() == '>') {
    bool after = !out_.statements.empty() &&
                 out_.statements.back().line + out_.statements.back().expected.size() + 2 == line_;
    if (!after) bad_line("expected a statement above this line of a trace");
    if (!out_.statements.back().traced)
      bad_line("expected a line 'trace ...' above, which says what of the trace is compared");
    out_.statements.back().expected.emplace_back(trimmed(words.substr(1)));
  } else if (words.starts_with("trace ")) {
    trace(words.substr(6));
  } else if (!setting(words)) {
    statement(words);
  }
}

void Parser::end() {
  if (parallel_) bad_line("expected 'end' of the parallel section, found the end of the file");
  if (out_.statements.empty()) bad_line("expected a statement, found the end of the file");
}

bool Parser::setting(std::string_view text) {
  Setup& setup = out_.program.setup;
  auto value_of = [&](std::string_view name) {
    bool is = text.starts_with(name) && text.size() > name.size() && text[name.size()] == ' ';
    if (is && settled_) bad_line("expected settings above the first region or statement");
    return is ? trimmed(text.substr(name.size())) : std::string_view();
  };
  for (const Setting& setting : settings()) {
    std::string_view value = value_of(setting.name);
    if (value.empty() || text.find(':') != std::string_view::npos) continue;
    if (!setting.set(setup, value))
      bad_line("expected {} after '{}', found '{}'", setting.choices(), setting.name, value);
    return true;
  }
  if (std::string_view value = value_of("threads"); !value.empty()) {
    threads_ = static_cast<std::uint32_t>(Words(value).number("a number of threads", 1, 4));
    return true;
  }
  if (std::string_view value = value_of("orders"); !value.empty()) {
    out_.orders = static_cast<std::uint32_t>(Words(value).number("a number of orders", 1, 100'000));
    return true;
  }
  if (std::string_view value = value_of("planted fault"); !value.empty()) {
    if (!mutant_named(value) && !sc_mutant_named(value))
      bad_line("expected a planted fault (terrane sim --mutant list), found '{}'", value);
    out_.mutant = value;
    return true;
  }
  if (std::string_view value = value_of("fails with"); !value.empty()) {
    if (!is_fault_name(value))
      bad_line("expected the name of a failure as WrongValue, found '{}'", value);
    out_.fails = value;
    return true;
  }
  return false;
}

void Parser::settle() {
  if (settled_) return;
  settled_ = true;
  Program& program = out_.program;
  if (program.setup.block_bytes % 64 != 0) bad_line("expected a unit of 64 or 128 bytes");
  if (program.setup.nodes * threads_ > kMaxThreads)
    bad_line("expected {} threads at most, found {}", kMaxThreads, program.setup.nodes * threads_);
  for (std::uint32_t n = 0; n < program.setup.nodes; ++n)
    program.thread_node.insert(program.thread_node.end(), threads_, n);
  program.ops.resize(program.threads());
}

void Parser::trace(std::string_view words) {
  selected_.clear();
  traced_ = true;
  while (!words.empty() && words != "nothing") {
    std::size_t comma = std::min(words.find(','), words.size());
    std::string_view word = trimmed(words.substr(0, comma));
    if (!is_trace_word(word))
      bad_line("expected the name of a step, a message or an event, found '{}'", word);
    selected_.emplace_back(word);
    words.remove_prefix(std::min(comma + 1, words.size()));
  }
}

void Parser::statement(std::string_view text) {
  settle();
  Words words(text);
  if (words.accept("region")) {
    region(words);
  } else if (words.accept("parallel")) {
    if (parallel_) bad_line("expected 'end' before another parallel section");
    parallel_ = true;
    out_.program.setup.whole_steps = false;
  } else if (parallel_ && words.accept("end")) {
    parallel_ = false;
  } else if (words.accept("hold")) {
    messages(words, Statement::Kind::kHold);
  } else if (words.accept("deliver")) {
    messages(words, Statement::Kind::kDeliver);
  } else if (words.accept("all")) {
    threads(words, all_threads());
  } else if (words.accept("node")) {
    std::uint32_t one = thread(words);
    threads(words, {one});
  } else {
    words.expected("a setting, 'region', 'node', 'all', 'parallel', 'hold' or 'deliver'");
  }
  words.expect_end();
}

Statement& Parser::add(Statement::Kind kind) {
  Statement statement;
  statement.kind = kind;
  statement.line = line_ - 1;
  statement.parallel = parallel_;
  statement.traced = traced_ && !parallel_;
  statement.selected = selected_;
  out_.statements.push_back(std::move(statement));
  return out_.statements.back();
}

// region NAME: N blocks, homes ..., ...
void Parser::region(Words& words) {
  RegionPlan plan;
  plan.name = words.word("the name of a region");
  for (const RegionPlan& other : out_.program.regions)
    if (other.name == plan.name)
      bad_line("expected a new name, found region '{}' again", plan.name);
  words.expect(":");
  plan.blocks = static_cast<std::uint32_t>(words.number("a number of blocks", 1, kMaxRegionBlocks));
  if (!words.accept("block")) words.expect("blocks");
  while (words.accept(",")) region_option(words, plan);
  if (plan.sc()) out_.program.setup.sc_blocks = kScBlocks;
  out_.program.regions.push_back(plan);
}

void Parser::region_option(Words& words, RegionPlan& plan) {
  if (words.accept("home")) {
    words.expect("node");
    plan.homes = static_cast<std::uint32_t>(wire::Homes::kExplicit);
    plan.home = static_cast<std::uint32_t>(
        words.number("the number of a node", 0, out_.program.setup.nodes - 1));
  } else if (words.accept("homes")) {
    if (words.accept("block")) {
      plan.homes = static_cast<std::uint32_t>(wire::Homes::kBlock);
    } else if (words.accept("cyclic")) {
      plan.homes = static_cast<std::uint32_t>(wire::Homes::kCyclic);
    } else if (words.accept("in")) {
      words.expect("cluster");
      plan.homes = static_cast<std::uint32_t>(wire::Homes::kCluster);
      plan.home = static_cast<std::uint32_t>(
          words.number("the number of a cluster", 0, out_.program.setup.clusters - 1));
    } else {
      words.expect("first");
      words.expect("touch");
    }
  } else if (words.accept("sequential")) {
    plan.protocol = static_cast<std::uint32_t>(wire::Protocol::kSc);
  } else if (words.accept("eager")) {
    plan.protocol = static_cast<std::uint32_t>(wire::Protocol::kErc);
  } else if (words.accept("invalidate")) {
    plan.propagation = static_cast<std::uint32_t>(wire::Propagation::kInvalidate);
  } else if (words.accept("update")) {
    plan.propagation = static_cast<std::uint32_t>(wire::Propagation::kUpdate);
  } else {
    words.expected("'home node N', 'homes', 'sequential', 'eager', 'invalidate' or 'update'");
  }
}

std::uint32_t Parser::thread(Words& words) {
  auto node = static_cast<std::uint32_t>(
      words.number("the number of a node", 0, out_.program.setup.nodes - 1));
  std::uint64_t one = 0;
  if (words.accept("thread")) one = words.number("the number of a thread", 0, threads_ - 1);
  return node * threads_ + static_cast<std::uint32_t>(one);
}

std::vector<std::uint32_t> Parser::all_threads() const {
  std::vector<std::uint32_t> all;
  for (std::uint32_t t = 0; t < out_.program.threads(); ++t) all.push_back(t);
  return all;
}

// ...: OPERATION or continue[, stop before STEP]
void Parser::threads(Words& words, std::vector<std::uint32_t> who) {
  words.expect(":");
  bool continues = words.accept("continue");
  Op op;
  if (!continues) operation(words, op);
  for (std::uint32_t t : who)
    if (!continues) out_.program.ops[t].push_back(op);
  using enum Statement::Kind;
  Statement& statement = add(continues ? kContinue : kOperation);
  statement.threads = std::move(who);
  if (!words.accept(",")) return;
  words.expect("stop");
  words.expect("before");
  statement.stop = words.word("the name of a step");
  if (!is_step_name(statement.stop))
    bad_line("expected the name of a step, found '{}'", statement.stop);
}

void Parser::operation(Words& words, Op& op) {
  if (words.accept("read")) {
    op.kind = OpKind::kLoad;
    access(words, op);
    if (words.accept("->")) op.expected = words.number("a value");
  } else if (words.accept("write")) {
    op.kind = OpKind::kStore;
    access(words, op);
    words.expect("=");
    op.value = words.number("a value");
  } else if (words.accept("atomic")) {
    atomic(words, op);
  } else if (words.accept("lock")) {
    op.kind = OpKind::kLock;
    op.at = static_cast<std::uint32_t>(words.number("the number of a lock", 0, kMaxLocks - 1));
  } else if (words.accept("unlock")) {
    op.kind = OpKind::kUnlock;
    op.at = static_cast<std::uint32_t>(words.number("the number of a lock", 0, kMaxLocks - 1));
  } else if (words.accept("barrier")) {
    barrier(words, op);
  } else if (words.accept("gather")) {
    op.kind = OpKind::kGather;
    if (words.accept("of")) {
      words.expect("first");
      words.expect("threads");
      op.size = 1;
      op.at = kFirstThreads;
    }
  } else if (words.accept("promote")) {
    op.kind = OpKind::kPromote;
    access(words, op);
  } else if (words.accept("flag")) {
    flag(words, op, OpKind::kFlagStore);
  } else if (words.accept("await")) {
    flag(words, op, OpKind::kFlagAwait);
  } else if (words.accept("add")) {
    count(words, op, OpKind::kAdd);
  } else if (words.accept("reach")) {
    count(words, op, OpKind::kAwait);
  } else if (words.accept("fence")) {
    op.kind = OpKind::kFence;
  } else if (words.accept("evict")) {
    evict(words, op);
  } else if (words.accept("allocate")) {
    op.kind = OpKind::kAllocate;
    op.region = static_cast<std::uint8_t>(named_region(words));
  } else if (words.accept("free")) {
    op.kind = OpKind::kFree;
    op.region = static_cast<std::uint8_t>(named_region(words));
  } else {
    words.expected(
        "'read', 'write', 'atomic', 'lock', 'unlock', 'barrier', 'gather', 'promote', 'flag', "
        "'await', 'add', 'reach', 'fence', 'evict', 'allocate', 'free' or 'continue'");
  }
}

std::uint32_t Parser::named_region(Words& words) const {
  std::string name = words.word("the name of a region");
  for (std::uint32_t r = 0; r < out_.program.regions.size(); ++r)
    if (out_.program.regions[r].name == name) return r;
  bad_line("expected the name of a region, found '{}'", name);
}

// barrier[ of first threads| of last threads]
void Parser::barrier(Words& words, Op& op) {
  op.kind = OpKind::kBarrier;
  if (!words.accept("of")) return;
  op.kind = OpKind::kSideBarrier;
  op.at = words.accept("first") ? kFirstThreads : kLastThreads;
  if (op.at == kLastThreads) words.expect("last");
  words.expect("threads");
}

// REGION[BLOCK]+BYTE
void Parser::place(Words& words, Op& op) {
  op.region = static_cast<std::uint8_t>(named_region(words));
  const RegionPlan& region = out_.program.regions[op.region];
  std::uint32_t unit = out_.program.setup.block_bytes;
  std::uint64_t block = 0;
  std::uint64_t byte = 0;
  if (words.accept("[")) {
    block = words.number("the number of a block", 0, region.blocks - 1);
    words.expect("]");
  }
  if (words.accept("+")) byte = words.number("the number of a byte", 0, unit - 1);
  op.at = static_cast<std::uint32_t>(block * unit + byte);
}

// ... (SIZE bytes); 8 bytes where this is missing
void Parser::access(Words& words, Op& op) {
  place(words, op);
  op.size = kWordBytes;
  if (words.accept("(")) {
    op.size = static_cast<std::uint8_t>(words.number("a number of bytes", 1, kWordBytes));
    if (!words.accept("byte")) words.expect("bytes");
    words.expect(")");
  }
  if ((op.size & (op.size - 1)) != 0 || op.at % op.size != 0)
    bad_line("expected 1, 2, 4 or 8 bytes at a multiple of their number, found {} at byte {}",
             op.size, op.at % out_.program.setup.block_bytes);
}

void Parser::atomic(Words& words, Op& op) {
  op.kind = OpKind::kAtomic;
  std::string name = words.word("an atomic operation");
  const auto* kind = std::find(std::begin(kAtomics), std::end(kAtomics), name);
  if (kind == std::end(kAtomics))
    bad_line("expected load, store, add, and, or, xor after 'atomic', found '{}'", name);
  access(words, op);
  op.size |= static_cast<std::uint8_t>((kind - std::begin(kAtomics)) << 4);
  if (name != "load") {
    words.expect("=");
    op.value = words.number("a value");
  }
  if (words.accept("->")) op.expected = words.number("a value");
}

// flag PLACE = VALUE, await PLACE = VALUE
void Parser::flag(Words& words, Op& op, OpKind kind) {
  op.kind = kind;
  access(words, op);
  if (op.size != kWordBytes) bad_line("expected a word of {} bytes", kWordBytes);
  words.expect("=");
  op.value = words.number("a value");
}

// add COUNT = VALUE, reach COUNT = VALUE
void Parser::count(Words& words, Op& op, OpKind kind) {
  op.kind = kind;
  op.at = static_cast<std::uint32_t>(words.number("the number of a count", 0, kMaxMeetings - 1));
  words.expect("=");
  op.value = words.number("a value");
}

// evict REGION[FIRST..LAST][ and memory]
void Parser::evict(Words& words, Op& op) {
  op.kind = OpKind::kEvict;
  op.region = static_cast<std::uint8_t>(named_region(words));
  std::uint32_t blocks = out_.program.regions[op.region].blocks;
  op.size = static_cast<std::uint8_t>(blocks);
  if (words.accept("[")) {
    op.at = static_cast<std::uint32_t>(words.number("the number of a block", 0, blocks - 1));
    std::uint64_t last = op.at;
    if (words.accept("..")) last = words.number("the number of a block", op.at, blocks - 1);
    op.size = static_cast<std::uint8_t>(last - op.at + 1);
    words.expect("]");
  }
  if (words.accept("and")) {
    words.expect("memory");
    op.value = 1;
  }
}

// ... messages from node A to node B
void Parser::messages(Words& words, Statement::Kind kind) {
  Statement& statement = add(kind);
  std::uint64_t last = out_.program.setup.nodes - 1;
  words.expect("messages");
  words.expect("from");
  words.expect("node");
  statement.from = static_cast<std::uint32_t>(words.number("the number of a node", 0, last));
  words.expect("to");
  words.expect("node");
  statement.to = static_cast<std::uint32_t>(words.number("the number of a node", 0, last));
}

}  // namespace

base::Result<Script> parse_script(std::string file, std::string_view text) {
  Script script;
  script.file = std::move(file);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    script.lines.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  Parser parser(script);
  std::size_t number = 0;
  try {
    for (const std::string& line : script.lines) {
      ++number;
      parser.line(line);
    }
    parser.end();
  } catch (const BadLine& bad) {
    return base::error("{}:{}: {}", script.file, number, bad.text);
  }
  return script;
}

}  // namespace terrane::sim
