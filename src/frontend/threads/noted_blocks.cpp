#include "frontend/threads/noted_blocks.h"

#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <string_view>

#include "frontend/threads/program.h"

namespace terrane::frontend::threads {
namespace {

struct Blocks {
  std::mutex mutex;
  std::map<std::uintptr_t, NotedBlock> all;  // by begin; they do not overlap

  void forget(std::uintptr_t begin, std::size_t bytes) {
    auto first = all.lower_bound(begin);
    if (first != all.begin()) {
      auto before = std::prev(first);
      if (before->second.begin + before->second.bytes > begin) first = before;
    }
    while (first != all.end() && first->first < begin + bytes) first = all.erase(first);
  }
};

// In private memory, and never destroyed: blocks are freed until the very end.
Blocks& blocks() {
  static auto* made = new Blocks();
  return *made;
}

bool notes = false;
constexpr std::size_t kLeastOfReport = 1024;  // so that --report costs little
std::size_t least_bytes = 0;

}  // namespace

void begin_noting_blocks(std::uint32_t self) {
  const char* set = std::getenv("TERRANE_CHECK");
  std::string_view check = set == nullptr ? "" : set;
  bool checks = check.starts_with("races") || check == "sharing";
  if (!checks) least_bytes = kLeastOfReport;
  notes = self == 0 && (checks || std::getenv("TERRANE_REPORT") != nullptr ||
                        std::getenv("TERRANE_RECORD") != nullptr);
}

bool notes_blocks() { return notes; }

void note_block(const void* block, std::size_t bytes, const void* caller) {
  if (bytes < least_bytes) return;
  Private ours;
  auto begin = reinterpret_cast<std::uintptr_t>(block);
  Blocks& known = blocks();
  std::lock_guard hold(known.mutex);
  known.forget(begin, bytes);
  known.all[begin] = {begin, bytes, reinterpret_cast<std::uintptr_t>(caller)};
}

NotedBlock noted_block_at(std::uintptr_t address) {
  Blocks& known = blocks();
  std::lock_guard hold(known.mutex);
  auto behind = known.all.upper_bound(address);
  if (behind == known.all.begin()) return {};
  const NotedBlock& block = std::prev(behind)->second;
  return address - block.begin < block.bytes ? block : NotedBlock{};
}

}  // namespace terrane::frontend::threads
