#include "frontend/threads/served_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>

#include "base/log.h"
#include "frontend/threads/program.h"
#include "frontend/threads/symbols.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

struct Served {
  std::atomic<std::uintptr_t> word{0};  // 0: not written yet
  ServedFor why = ServedFor::kAtomic;
};
constexpr std::size_t kMost = 256;
Served all[kMost];
std::atomic<std::size_t> count{0};

const char* text_of(ServedFor why) {
  switch (why) {
    case ServedFor::kAtomic:
      return "an atomic operation";
    case ServedFor::kLoop:
      return "a loop waited";
    case ServedFor::kNews:
      return "a loop of another node read it";
  }
  return "";
}

std::string name_of(std::uintptr_t word) {
  std::string name = variable_at(word);
  if (!name.empty()) return name;
  Program& program = *Program::get();
  std::uint64_t block = program.block_of(reinterpret_cast<const void*>(word));
  std::string allocation = line_of_call(program.node().allocation_of(block).name, "");
  return fmt::format("{} {:#x}", allocation.empty() ? "memory" : allocation, word);
}

std::string names() {
  std::set<std::uint64_t> pages;
  std::string text;
  for (std::size_t i = 0; i < std::min(count.load(), kMost); ++i) {
    std::uintptr_t word = all[i].word.load(std::memory_order_acquire);
    bool is_new =
        word != 0 &&
        pages.insert(Program::get()->block_of(reinterpret_cast<const void*>(word))).second;
    if (!is_new) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name_of(word), text_of(all[i].why));
  }
  if (!text.empty() && count.load() > kMost) text += ", and more";
  return text;
}

}  // namespace

void note_served(std::uintptr_t word, ServedFor why) {
  std::size_t at = count.load() < kMost ? count.fetch_add(1) : count.load();
  if (at >= kMost) return;
  all[at].why = why;
  all[at].word.store(word, std::memory_order_release);
}

void report_served_pages() {
  if (Program::get()->node().page_writes() == nullptr) return;
  Private ours;
  runtime::on_own_stack([] {
    std::string text = names();
    if (!text.empty()) base::log("synchronisation pages: {}", text);
    return 0;
  });
}

}  // namespace terrane::frontend::threads
