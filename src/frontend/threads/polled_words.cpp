#include "frontend/threads/polled_words.h"

#include <algorithm>
#include <cstring>

#include "frontend/threads/locked_code.h"
#include "frontend/threads/program.h"
#include "frontend/threads/served_pages.h"
#include "patch/operands.h"

namespace terrane::frontend::threads {
namespace {

constexpr std::uintptr_t kRedZone = 128, kFrames = 4096;  // of the thread's own functions

// What one node shows. A block of shared memory for each node; a reader may see a word that is half
// changed, and then guesses wrong.
struct Shown {
  static constexpr std::size_t kMost = 128;
  std::uint64_t count;
  PolledWord words[kMost];
};
std::byte* shown = nullptr;  // nullptr: there are no other nodes, or atomics are not served
std::vector<PolledWord> last_shown;

Shown& shown_by(std::uint32_t node) {
  return *reinterpret_cast<Shown*>(shown + node * Program::get()->node().block_bytes());
}

bool overlap(const patch::Operand& one, const PolledWord& other) {
  return one.address < other.address + other.bytes && other.address < one.address + one.bytes;
}

bool is_local(const patch::Operand& operand, const platform::LoopStep& step) {
  return operand.address - step.stack + kRedZone < kFrames;
}

}  // namespace

void share_polled_words() {
  runtime::Node& node = Program::get()->node();
  if (!serves_atomics() || node.nodes() == 1) return;
  void* at = nullptr;
  runtime::Allocation options;
  options.collective = true;
  options.name = "polled words";
  options.policy.homes = protocol::Homes::kCyclic;
  options.policy.protocol = wire::Protocol::kSc;
  static_assert(sizeof(Shown) <= 4096);
  auto allocated = node.allocate(node.nodes() * node.block_bytes(), options, at);
  if (!allocated.ok()) node.fail(allocated.message);
  auto* first = static_cast<std::byte*>(at);
  node.touch(first + Program::get()->self() * node.block_bytes(), 1, true);
  shown = first;
}

std::vector<PolledWord> words_polled_by(std::span<const platform::LoopStep> steps) {
  std::vector<PolledWord> found;
  std::vector<patch::Operand> written;
  for (const platform::LoopStep& step : steps)
    for (const patch::Operand& operand : patch::operands_of(step.at, step.registers)) {
      if (is_local(operand, step) || !is_unserved_word(operand.address)) continue;
      if (operand.is_written) written.push_back(operand);
      PolledWord word{operand.address, std::min<std::uint64_t>(operand.bytes, 8)};
      bool is_new = operand.is_read && std::none_of(found.begin(), found.end(), [&](auto& one) {
                      return one.address == word.address && one.bytes == word.bytes;
                    });
      if (is_new) found.push_back(word);
      if (found.size() > kMostPolledWords) return {};
    }
  std::erase_if(found, [&](PolledWord& word) {
    bool is_own = std::any_of(written.begin(), written.end(),
                              [&](const auto& one) { return overlap(one, word); });
    auto* at = reinterpret_cast<const void*>(word.address);
    return is_own || !Program::get()->node().looks().peek(at, &word.seen, word.bytes);
  });
  return found;
}

void show_polled_words(const std::vector<PolledWord>& words) {
  if (shown == nullptr || words == last_shown) return;
  last_shown = words;
  Shown& own = shown_by(Program::get()->self());
  std::size_t count = std::min(words.size(), Shown::kMost);
  own.count = 0;
  std::copy_n(words.begin(), count, own.words);
  own.count = count;
}

// False: this node is full. A guess takes no memory that others need.
bool read_shown_by(std::uint32_t node, Shown& theirs) {
  const Shown* page = &shown_by(node);
  runtime::Node& the_node = Program::get()->node();
  return the_node.looks().peek(page, &theirs, sizeof theirs) ||
         (the_node.touch(page, 1, false, runtime::Node::WhenFull::kGiveUp).ok() &&
          the_node.looks().peek(page, &theirs, sizeof theirs));
}

void serve_polled_words() {
  if (shown == nullptr) return;
  runtime::Node& node = Program::get()->node();
  for (std::uint32_t n = 0; n < node.nodes(); ++n) {
    if (n == Program::get()->self()) continue;
    static Shown theirs;
    if (!read_shown_by(n, theirs)) continue;
    std::uint64_t count = std::min<std::uint64_t>(theirs.count, Shown::kMost);
    for (std::uint64_t i = 0; i < count; ++i) {
      PolledWord word = theirs.words[i];
      auto* at = reinterpret_cast<const void*>(word.address);
      bool may_be_news =
          word.bytes > 0 && word.bytes <= sizeof word.seen && is_unserved_word(word.address);
      if (!may_be_news || !node.looks().has_news(at, &word.seen, word.bytes)) continue;
      note_served(word.address, ServedFor::kNews);
      static_cast<void>(node.promote(at, word.bytes));
    }
  }
}

}  // namespace terrane::frontend::threads
