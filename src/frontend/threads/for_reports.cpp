// What a library of teams needs for a report of its regions (for_teams.h).
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "frontend/threads/for_teams.h"
#include "frontend/threads/program.h"
#include "frontend/threads/symbols.h"
#include "runtime/node_report.h"

namespace terrane::frontend::threads {
namespace {

// Lists pages in private memory, most flushes first.
std::vector<terrane_program_page> pages_written() {
  Private ours;
  std::vector<terrane_program_page> all;
  Program::get()->node().page_writes()->for_each([&](std::uint64_t block, const auto& page) {
    all.push_back({block, page.phases.load(), page.flushes.load()});
  });
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.flushes > b.flushes; });
  return all;
}

runtime::PageTrace* trace() { return runtime::NodeReport::trace(Program::get()->node()); }

// Calls name(folders of commands) on the thread's own stack; the result goes to the program's
// memory.
template <typename Function>
void copy_name(Function name, char* to, std::size_t bytes) {
  const char* set = std::getenv("PATH");
  char folders[4096] = "";
  if (set != nullptr) std::strncpy(folders, set, sizeof folders - 1);
  Private ours;
  auto* path = new std::string(folders);
  std::string* found = runtime::on_own_stack([=] { return new std::string(name(*path)); });
  std::strncpy(to, found->c_str(), bytes - 1);
  to[bytes - 1] = '\0';
  delete found;
  delete path;
}

std::string name_of_block(std::uint64_t block, const std::string& search_path) {
  Program& program = *Program::get();
  std::uintptr_t at = program.address_of(block);
  std::string name = variable_at(at);
  if (!name.empty()) return name;
  std::string allocation = line_of_call(program.node().allocation_of(block).name, search_path);
  std::uint64_t bytes = program.node().block_bytes();
  for (std::uint64_t b = 8; allocation == "static data" && b < bytes; b += 8) {
    name = variable_at(at + b);
    if (!name.empty()) return name;
  }
  return fmt::format("{} {:#x}", allocation.empty() ? "memory" : allocation, at);
}

}  // namespace
}  // namespace terrane::frontend::threads

using namespace terrane::frontend::threads;

#pragma GCC visibility push(default)
extern "C" {

unsigned terrane_program_reports() {
  if (Program::get() == nullptr) return kReportsNothing;
  return terrane::runtime::NodeReport::wanted(Program::get()->node());
}

void terrane_program_log_region(std::uint32_t number, std::uint64_t ns) {
  trace()->was_in_region(number, ns);
}

void terrane_program_log_region_counts(std::uint32_t number, const char* place, std::uint64_t ns,
                                       const std::uint64_t* counts) {
  Private ours;
  // The arguments may lie in shared memory, which the log's own stack must not touch.
  auto* made = new terrane::runtime::RegionTotals{number, place, ns, {}};
  std::copy_n(counts, made->counts.size(), made->counts.begin());
  terrane::runtime::on_own_stack([made] { trace()->record_region(*made); });
  delete made;
}

void terrane_program_work_done(bool with_own_threads, terrane_program_work* work) {
  terrane::runtime::Work done = Program::get()->node().work(with_own_threads);
  *work = {done.faults,  done.fetched,       done.refreshed, done.unused,
           done.flushed, done.flushed_bytes, done.messages,  done.waited_ns};
}

void terrane_program_phase(std::uint32_t phase) {
  Program::get()->node().page_writes()->set_phase(phase);
}

std::size_t terrane_program_pages_written(terrane_program_page* pages, std::size_t room) {
  std::vector<terrane_program_page> all = pages_written();
  std::size_t count = std::min(all.size(), room);
  std::copy_n(all.begin(), count, pages);
  return count;
}

void terrane_program_name_code(const void* address, char* name, std::size_t bytes) {
  auto at = reinterpret_cast<std::uintptr_t>(address);
  copy_name([at](const std::string& path) { return place_of_code(at, path); }, name, bytes);
}

void terrane_program_name_block(std::uint64_t block, char* name, std::size_t bytes) {
  copy_name([block](const std::string& path) { return name_of_block(block, path); }, name, bytes);
}

}  // extern "C"
#pragma GCC visibility pop
