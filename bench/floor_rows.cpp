#include <algorithm>
#include <cstdio>

#include "floors.h"

namespace terrane::bench {

double Row::quantile(double at) const {
  if (samples.empty()) return 0;
  std::vector<double> sorted = samples;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(at * static_cast<double>(sorted.size() - 1) + 0.5)];
}

void sample_interleaved(std::vector<Row>& rows, std::size_t rounds) {
  for (Row& row : rows) row.sample();
  for (std::size_t round = 0; round < rounds; ++round) {
    for (Row& row : rows) row.samples.push_back(row.sample());
  }
}

void print_rows(const std::vector<Row>& rows) {
  std::printf("%-58s %10s %10s %10s\n", "nanoseconds", "median", "10 %", "90 %");
  for (const Row& row : rows) {
    std::printf("%-58s %10.1f %10.1f %10.1f\n", row.name.c_str(), row.quantile(0.5),
                row.quantile(0.1), row.quantile(0.9));
  }
}

namespace {

// The same call with one thread in the process and with a second one running.
void add_with_and_without_sibling(std::vector<Row>& rows, const std::string& name,
                                  std::function<double()> sample) {
  rows.push_back({name, sample, {}});
  rows.push_back({name + ", sibling running",
                  [sample] {
                    BusySibling sibling;
                    return sample();
                  },
                  {}});
}

}  // namespace

std::vector<Row> fault_rows(Floors& floors) {
  std::vector<Row> rows;
  auto add = [&](const char* name, std::function<double()> sample) {
    rows.push_back({name, std::move(sample), {}});
  };
  add("read fault: signal + CONTINUE", [&] { return floors.read_fault_without_copy(); });
  add("read fault: signal + copy + CONTINUE, warm", [&] { return floors.read_fault_warm(); });
  add("read fault: signal + copy + CONTINUE, cold", [&] { return floors.read_fault_cold(); });
  add("read fault: signal + UFFDIO_COPY, cold",
      [&] { return floors.read_fault_cold_copy_into_hole(); });
  add("first write: noted by the kernel (WP_ASYNC)", [&] { return floors.first_write_async(); });
  add("first write: signal + unprotect", [&] { return floors.first_write_sync(); });
  for (std::size_t pages : {1, 64, 4096}) {
    std::string count = " of " + std::to_string(pages) + (pages == 1 ? " page" : " pages");
    add_with_and_without_sibling(rows, "scan + protect" + count + ", written",
                                 [&floors, pages] { return floors.scan(pages); });
    add_with_and_without_sibling(rows, "zap" + count,
                                 [&floors, pages] { return floors.zap(pages); });
    rows.push_back(
        {"scan" + count + ", clean", [&floors, pages] { return floors.scan_clean(pages); }, {}});
    rows.push_back({"enter" + count, [&floors, pages] { return floors.enter(pages); }, {}});
  }
  add("memcpy of 4 KiB", [&] { return floors.copy_page(); });
  add("barrier of two processes, shared cache lines", [] { return Floors::pairwise_barrier(); });
  return rows;
}

}  // namespace terrane::bench
