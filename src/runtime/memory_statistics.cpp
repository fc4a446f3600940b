// What of the program lies at a node, for its report: homes by what program memory they are, and
// copies of pages whose homes are elsewhere.
#include "runtime/memory_statistics.h"

#include <fmt/format.h>

namespace terrane::runtime {

ProgramMemory program_memory_of(std::string_view allocation) {
  if (allocation == "stack") return ProgramMemory::kStack;
  if (allocation == "static data" || allocation == "data of libraries")
    return ProgramMemory::kStatic;
  if (allocation.starts_with(kMappedFile) || allocation.starts_with(kMappedMemory))
    return ProgramMemory::kMapping;
  return ProgramMemory::kAllocated;
}

std::string memory_text(const MemoryLine& line) {
  auto kib = [&](ProgramMemory kind) { return line.homes[static_cast<std::size_t>(kind)] >> 10; };
  std::string text = fmt::format(
      "  memory at the end: homes {} KiB allocated, {} KiB static, {} KiB mapped, {} KiB of "
      "stacks; copies {} KiB",
      kib(ProgramMemory::kAllocated), kib(ProgramMemory::kStatic), kib(ProgramMemory::kMapping),
      kib(ProgramMemory::kStack), line.copies >> 10);
  if (line.limit != ~0ull) text += fmt::format("; limit {} KiB", line.limit >> 10);
  text += "\n";
  if (line.given + line.taken + line.evicted > 0)
    text += fmt::format(
        "  full: {} pages given to other nodes, {} taken from them, {} copies evicted, {} of them "
        "fetched again\n",
        line.given, line.taken, line.evicted, line.refetched);
  return text;
}

}  // namespace terrane::runtime
