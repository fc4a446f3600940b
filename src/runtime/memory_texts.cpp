#include "runtime/memory_texts.h"

#include <fmt/format.h>

namespace terrane::runtime {

std::string size_text(std::uint64_t bytes) {
  return bytes < (1 << 20) ? fmt::format("{} KiB", bytes >> 10)
                           : fmt::format("{} MiB", bytes >> 20);
}

std::string name_of(NodeId node, const bootstrap::Bootstrap& bootstrap) {
  return fmt::format("node {} ({})", node.value, bootstrap.host_name(node));
}

Outcome fits_memory(std::uint64_t bytes, const Allocation& options,
                    const std::vector<MemoryShare>& memory, const bootstrap::Bootstrap& bootstrap) {
  const std::uint32_t nodes = bootstrap.nodes();
  constexpr std::uint32_t kNamed = 4;
  std::uint64_t all = 0;
  std::string where;
  for (std::uint32_t n = 0; n < nodes; ++n) {
    auto [limit, most] = memory[n];
    all = limit > ~0ull - all ? ~0ull : all + limit;
    std::uint64_t part = bytes / nodes;
    if (options.policy.homes == protocol::Homes::kExplicit)
      part = n == options.policy.argument ? bytes : 0;
    if (options.policy.homes == protocol::Homes::kFirstTouch) part = 0;
    if (part > most)
      return {Status::kNoMemory,
              fmt::format("{} would be the home of {} of a region of {} and may keep {}; "
                          "choose other homes, use more nodes, or raise --memory",
                          name_of(NodeId{n}, bootstrap), size_text(part), size_text(bytes),
                          size_text(most))};
    if (n < kNamed)
      where += fmt::format("{}{} {}", n == 0 ? "" : ", ", name_of(NodeId{n}, bootstrap),
                           size_text(limit));
  }
  if (bytes <= all) return {};
  if (nodes > kNamed) where += fmt::format(" and {} more", nodes - kNamed);
  return {Status::kNoMemory,
          fmt::format("a region of {} is larger than the memory of all nodes together, {}: "
                      "{}; use more nodes, or raise --memory",
                      size_text(bytes), size_text(all), where)};
}

std::string others_text(NodeId self, PageSpace& space, const std::vector<MemoryShare>& memory,
                        const bootstrap::Bootstrap& bootstrap) {
  constexpr std::uint32_t kNamed = 4;
  std::string text;
  std::uint32_t named = 0;
  for (std::uint32_t n = 0; n < bootstrap.nodes(); ++n) {
    if (n == self.value || named++ >= kNamed) continue;
    std::uint64_t most = memory[n].home_bytes;
    std::string limit = most == ~0ull ? "all that its host has" : size_text(most);
    bool is_near = space.reaches(NodeId{n});
    text +=
        fmt::format("{}{} {}may keep {}", text.empty() ? ": " : ", ", name_of(NodeId{n}, bootstrap),
                    is_near ? fmt::format("keeps {} and ", size_text(space.kept_bytes(NodeId{n})))
                            : std::string(),
                    limit);
  }
  return named > kNamed ? text + fmt::format(", and {} more", named - kNamed) : text;
}

}  // namespace terrane::runtime
