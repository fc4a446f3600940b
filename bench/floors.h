#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "raw_space.h"

// What the machine itself takes for each step of page coherence, measured on the bare mechanisms.
// Each function runs one short batch and returns nanoseconds, so that a benchmark can interleave it
// with what it compares: a floor is worth something only beside a figure of the same minute.
namespace terrane::bench {

// Pages handled in one batch: what a batch returns is a mean over these.
inline constexpr std::size_t kBatchPages = 256;

class Floors {
 public:
  static base::Result<Floors> create();

  // A read of a page that is not there: signal, copy of 4 KiB from a peer's memory,
  // UFFDIO_CONTINUE.
  double read_fault_warm();                 // into memory that the page had before
  double read_fault_cold();                 // into fresh memory
  double read_fault_cold_copy_into_hole();  // the same by UFFDIO_COPY
  double read_fault_without_copy();         // signal and UFFDIO_CONTINUE alone
  // The first write to a protected page: noted by the kernel, or signal and unprotect.
  double first_write_async();
  double first_write_sync();
  // A scan + protect, a zap: nanoseconds a call over `pages` pages, all of them written.
  double scan(std::size_t pages);
  double scan_clean(std::size_t pages);
  double zap(std::size_t pages);
  // Entering pages that have memory, nanoseconds a call.
  double enter(std::size_t pages);
  // memcpy of 4 KiB, in the nearest cache.
  double copy_page();
  // Two processes meet at a pair of shared cache lines.
  static double pairwise_barrier();

 private:
  Floors(std::unique_ptr<RawSpace> async, std::unique_ptr<RawSpace> sync)
      : async_(std::move(async)), sync_(std::move(sync)) {}

  double read_all_pages(RawSpace::Fill fill);

  std::unique_ptr<RawSpace> async_;
  std::unique_ptr<RawSpace> sync_;
};

// A thread of this process that keeps the other processor busy while it lives: calls that change
// page tables then have to interrupt it.
class BusySibling {
 public:
  BusySibling();
  ~BusySibling();
  BusySibling(const BusySibling&) = delete;
  BusySibling& operator=(const BusySibling&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One line of a table: a name, how to take a sample in nanoseconds, and the samples taken.
struct Row {
  std::string name;
  std::function<double()> sample;
  std::vector<double> samples;

  double quantile(double at) const;
};

// Takes `rounds` samples of every row, one of each in turn, after one round that is thrown away.
void sample_interleaved(std::vector<Row>& rows, std::size_t rounds);
// Prints name, median and the middle 80 % of each row.
void print_rows(const std::vector<Row>& rows);

// All floors of page faults as rows; `floors` must outlive them.
std::vector<Row> fault_rows(Floors& floors);

}  // namespace terrane::bench
