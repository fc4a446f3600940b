#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "forecast/program.h"
#include "runtime/recorded_op.h"

namespace terrane::tools::advise {

// A program as the nodes of a job have recorded it (runtime/recorded_op.h): all of its threads,
// those of node 0 first. Pages that are far from each other come nearer: the forecast keeps tables
// of all pages. It may be played several times.
class RecordedProgram final : public forecast::Program {
 public:
  // folder: that of the files. times: that of another run, without pages, which was not slowed down
  // by them: threads compute as long as there; empty: there is none. An error names the file.
  static base::Result<std::unique_ptr<RecordedProgram>> read(const std::string& folder,
                                                             const std::string& times);

  std::uint32_t threads() const override { return static_cast<std::uint32_t>(threads_.size()); }
  std::span<const forecast::Region> regions() const override { return regions_; }
  bool uses_barrier(std::uint32_t thread, std::uint64_t id) const override {
    return threads_[thread].barriers.contains(id);
  }
  bool next(std::uint32_t thread, forecast::Op& op) override;
  bool ends_waiting(std::uint32_t thread) const override {
    const Thread& one = threads_[thread];
    return one.at == one.ops.size() && !one.ops.empty() && one.ops.back().pages == 0;
  }

  // The next play begins at the start, with the homes of so many nodes.
  void rewind(std::uint32_t nodes);
  std::uint32_t nodes() const { return nodes_; }  // that recorded
  // Of each thread: the node that recorded it.
  std::uint32_t node_of(std::uint32_t thread) const { return threads_[thread].node; }
  // What all threads have computed, in nanoseconds of processor time.
  std::uint64_t computing() const { return computing_; }
  std::uint64_t page_bytes() const { return page_bytes_; }
  std::uint64_t pages_used() const { return pages_used_; }
  // Calls use(node, operation) for each use of a page, by thread.
  using Use = std::function<void(std::uint32_t node, const runtime::RecordedOp& op)>;
  void each_use(std::uint64_t page, const Use& use) const;
  // The program's address of a page.
  std::uint64_t address_of(std::uint64_t page) const;
  // What is in a page: variables, an allocation; empty: nobody has named it.
  std::string name_of(std::uint64_t page) const;
  std::string name_of_lock(std::uint64_t token) const;

 private:
  using Recorded = runtime::RecordedOp;

  struct Thread {
    std::uint32_t node = 0, number = 0;  // the number on its node
    std::vector<Recorded> ops;
    std::set<std::uint64_t> barriers;
    std::size_t at = 0;
    std::uint32_t inside = 0;  // pages of the operation that are done
  };
  // Blocks of a node's memory that are pages of the forecast in the same order.
  struct Part {
    std::uint64_t first = 0, blocks = 0, page = 0;
  };

  base::Result<> read_nodes(const std::string& folder);
  base::Result<> read_node(const std::string& path, std::uint32_t node);
  void read_names(const std::string& path);
  void take_times(const RecordedProgram& other);
  void number_pages();
  std::uint64_t page_of(std::uint64_t block) const;
  const Part* part_with(std::uint64_t block) const;
  std::uint64_t block_of(std::uint64_t page) const;

  std::vector<Thread> threads_;
  std::vector<Part> parts_;  // by first block
  std::vector<forecast::Region> all_regions_, regions_;
  std::map<std::uint64_t, Recorded> allocations_;  // kRegion, by first block
  std::map<std::uint64_t, std::uint64_t> placed_;  // addresses, by block
  struct Named {
    std::uint64_t blocks = 0;
    std::string name;
  };
  std::map<std::uint64_t, Named> names_;  // by first block
  std::map<std::uint64_t, std::string> lock_names_;
  std::uint32_t nodes_ = 0;
  std::uint64_t base_ = 0, page_bytes_ = 0, computing_ = 0, pages_used_ = 0;
};

}  // namespace terrane::tools::advise
