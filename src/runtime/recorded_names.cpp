#include "runtime/recorded_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>  // fmt::join, since fmt 11

#include <algorithm>
#include <map>
#include <set>

#include "runtime/report_names.h"

namespace terrane::runtime {
namespace {

using Kind = RecordedOp::Kind;

constexpr std::size_t kMostPages = 4096, kMostTokens = 1024, kMostLines = 256;
constexpr std::size_t kMostVariables = 3;        // of a page
constexpr std::uint64_t kBetweenVariables = 64;  // bytes

bool uses_blocks(const RecordedOp& op) { return op.kind == Kind::kRead || op.kind == Kind::kUse; }
bool uses_token(const RecordedOp& op) { return op.kind >= Kind::kLock && op.kind <= Kind::kArrive; }

bool is_static(const protocol::Region& region) {
  std::string_view own = region.name;
  return own == "static data" || own == "data of libraries";
}

class Namer {
 public:
  Namer(const PageSpace& space, Engine& engine, const ProgramNames& names)
      : space_(space), engine_(engine), names_(names) {}

  // An allocation has one name; of static data, each page has those of its variables.
  std::string name_block(std::uint64_t block) {
    protocol::Region region = engine_.allocation_of(block);
    if (region.blocks.count == 0) return {};
    if (is_static(region)) return fmt::format("m {} 1 {}\n", block, variables(block, region.name));
    return fmt::format("m {} {} {}\n", region.blocks.first, region.blocks.count,
                       name_of(region.name));
  }

 private:
  std::string variables(std::uint64_t block, std::string_view own) const {
    std::vector<std::string> found;
    auto page = reinterpret_cast<std::uintptr_t>(space_.address_of(block));
    for (std::uint64_t at = 0; names_.variable && at < space_.unit(); at += kBetweenVariables) {
      std::string name = names_.variable(page + at).name;
      if (name.empty() || std::find(found.begin(), found.end(), name) != found.end()) continue;
      found.push_back(name);
      if (found.size() > kMostVariables) break;
    }
    if (found.empty()) return std::string(own);
    bool has_more = found.size() > kMostVariables;
    if (has_more) found.pop_back();
    return fmt::format("{}{}", fmt::join(found, ", "), has_more ? ", ..." : "");
  }

  // The same text is asked for again and again, and takes some milliseconds.
  std::string name_of(std::string_view own) {
    auto [at, fresh] = texts_.try_emplace(std::string(own), own);
    if (fresh && names_.allocation && texts_.size() <= kMostLines)
      at->second = names_.allocation(at->second);
    return at->second.empty() ? "memory without a name" : at->second;
  }

  const PageSpace& space_;
  Engine& engine_;
  const ProgramNames& names_;
  std::map<std::string, std::string> texts_;
};

}  // namespace

std::vector<std::uint64_t> to_be_named(std::span<const RecordedOp> ops, Engine& engine) {
  std::set<std::uint64_t> tokens, regions, blocks;
  for (const RecordedOp& op : ops) {
    if (uses_token(op) && tokens.size() < kMostTokens) tokens.insert(op.id);
    if (!uses_blocks(op)) continue;
    protocol::Region region = engine.allocation_of(op.id);
    bool is_new = is_static(region) || regions.insert(region.blocks.first).second;
    if (is_new && blocks.size() < kMostPages) blocks.insert(op.id);
    for (std::uint64_t b = op.id + 1; is_static(region) && b < op.id + op.pages; ++b)
      if (blocks.size() < kMostPages) blocks.insert(b);
  }
  std::vector<std::uint64_t> all = {tokens.size()};
  all.insert(all.end(), tokens.begin(), tokens.end());
  all.insert(all.end(), blocks.begin(), blocks.end());
  return all;
}

std::string names_of(std::span<const std::uint64_t> asked, const PageSpace& space, Engine& engine,
                     const ProgramNames& names) {
  std::string text;
  if (asked.empty()) return text;
  Namer namer(space, engine, names);
  std::size_t tokens = std::min<std::size_t>(asked[0], asked.size() - 1);
  for (std::uint64_t token : asked.subspan(1, tokens))
    text += fmt::format("l {} {}\n", token, name_of_lock(token, names));
  for (std::uint64_t block : asked.subspan(1 + tokens)) text += namer.name_block(block);
  return text;
}

}  // namespace terrane::runtime
