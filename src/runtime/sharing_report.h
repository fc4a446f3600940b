#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/program_names.h"
#include "runtime/sharing_watch.h"
#include "runtime/slow_report.h"

namespace terrane::runtime {

// What one node writes in a page.
struct PageWriter {
  std::uint32_t node = 0;            // kOthers: it is not known which
  NamedVariable variable;            // of the first byte
  std::string last;                  // the variable of the last byte
  std::uint32_t first = 0, end = 0;  // bytes of the page: from the first to behind the last
  PageMask bytes;

  static constexpr std::uint32_t kOthers = ~0u;
};

// Pages of one kind that hold the same variables: a line of the report.
struct SharingLine {
  SharingKind kind{};
  std::vector<PageWriter> writers;  // of the page that cost most, by node
  std::uint64_t offset = 0;         // of that page, in shared memory
  std::uint64_t pages = 0;          // in all
  struct Cost {
    std::uint64_t again = 0, flushed = 0, waited_ns = 0;
  };
  std::map<std::uint32_t, Cost> costs;  // by node
  Cost all() const;
  // The node to which they cost the largest share of its time, and that share.
  std::uint32_t waiter = 0;
  double share = 0;
  double per_second = 0;  // how often they came again, in a second of the job
};

// What a node has told about one page.
struct NodeRecord {
  std::uint32_t node = 0;
  SharingRecord record;
};

// The lines of the records of all nodes, by what they cost. times: of each node. variable: that
// holds the byte at this offset in shared memory. page_bytes: of a page.
std::vector<SharingLine> sharing_lines(
    std::span<const NodeRecord> records, std::span<const NodeTimes> times, std::size_t page_bytes,
    const std::function<NamedVariable(std::uint64_t offset)>& variable);

// Whether the line costs so much, or its pages come so often, that the report has it. Where pages
// come with a barrier, threads wait in the barrier for them.
bool matters(const SharingLine& line);
// How many lines of false sharing matter: what --check-fails looks at.
std::size_t count_false(std::span<const SharingLine> lines);

// What to do about it, in one sentence.
std::string remedy(const SharingLine& line);
// The bytes of all writers in at most 64 letters: the number of the node (a letter from 10 on), '*'
// where several are within one letter, '.' for nobody. first: the first byte that is drawn; scale:
// bytes for a letter.
struct Drawing {
  std::string letters;
  std::uint32_t first = 0, scale = 1;
};
Drawing draw(const SharingLine& line);

// The report, several lines. address: of an offset in shared memory. left_out: as
// SharingWatch::left_out.
std::vector<std::string> sharing_texts(
    std::span<const SharingLine> lines, std::uint64_t left_out,
    const std::function<std::uint64_t(std::uint64_t offset)>& address);
// A line for an event log (trace::Event::kShared): its writers, how often pages came and went, the
// drawing, the remedy; a line of text each.
std::string sharing_record(const SharingLine& line);
// The sentence about the dearest line.
std::vector<SlowSentence> slow_pages(std::span<const SharingLine> lines);

// The same for programs: {"sharing": [...], "slow": [...], "left_out": N}.
std::string sharing_json(std::span<const SharingLine> lines, std::span<const std::string> slow,
                         std::uint64_t left_out,
                         const std::function<std::uint64_t(std::uint64_t offset)>& address);

}  // namespace terrane::runtime
