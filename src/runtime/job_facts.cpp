#include "runtime/job_facts.h"

namespace terrane::runtime {

JobFacts job_facts(const Options& options) {
  JobFacts facts;
  std::strncpy(facts.version, TERRANE_VERSION, sizeof facts.version - 1);
  facts.unit_bytes = options.unit_bytes;
  facts.space_bytes = options.space_bytes;
  facts.page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return facts;
}

base::Result<> compare_facts(const JobFacts& mine, std::span<const std::byte> theirs,
                             std::uint32_t node) {
  JobFacts other;
  if (theirs.size() < sizeof other) return base::error("node {} did not introduce itself", node);
  std::memcpy(&other, theirs.data(), sizeof other);
  if (std::memcmp(other.version, mine.version, sizeof mine.version) != 0)
    return base::error("node {} runs another version of Terrane than {}: install one on all hosts",
                       node, mine.version);
  for (auto [what, a, b] : {std::tuple{"TERRANE_UNIT", mine.unit_bytes, other.unit_bytes},
                            std::tuple{"TERRANE_SPACE", mine.space_bytes, other.space_bytes},
                            std::tuple{"the page size", mine.page_bytes, other.page_bytes}}) {
    if (a != b)
      return base::error("{} is {} here, but {} on node {}: it must be the same", what, a, b, node);
  }
  return {};
}

}  // namespace terrane::runtime
