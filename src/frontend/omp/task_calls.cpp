// Whether the program creates tasks at all, and fulfils events: its modules say which functions
// they call.
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "frontend/omp/task_queue.h"

namespace terrane::frontend::omp {
namespace {

// Whether a module of the program calls one of the functions.
bool calls(const dl_phdr_info& info, std::span<const std::string_view> functions) {
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  std::uintptr_t symbols = 0, names = 0;
  std::size_t bytes = 0;
  auto at = [&](const ElfW(Dyn) & entry) {
    return entry.d_un.d_ptr < info.dlpi_addr ? info.dlpi_addr + entry.d_un.d_ptr : entry.d_un.d_ptr;
  };
  for (const ElfW(Dyn)* entry = dynamic; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = at(*entry);
    if (entry->d_tag == DT_STRTAB) names = at(*entry);
    if (entry->d_tag == DT_STRSZ) bytes = entry->d_un.d_val;
  }
  // The names follow the symbols, and nothing else says how many symbols there are.
  if (symbols == 0 || names <= symbols) return false;
  auto* symbol = reinterpret_cast<const ElfW(Sym)*>(symbols);
  std::string_view text(reinterpret_cast<const char*>(names), bytes);
  for (std::size_t i = 1; i < (names - symbols) / sizeof *symbol; ++i) {
    if (symbol[i].st_shndx != SHN_UNDEF || symbol[i].st_name >= bytes) continue;
    std::string_view name = text.substr(symbol[i].st_name);
    name = name.substr(0, name.find('\0'));
    if (std::find(functions.begin(), functions.end(), name) != functions.end()) return true;
  }
  return false;
}

constexpr std::string_view kCreate[] = {"GOMP_task", "GOMP_taskloop", "GOMP_taskloop_ull",
                                        "__kmpc_omp_task_alloc"};
constexpr std::string_view kFulfil[] = {"omp_fulfill_event", "omp_fulfill_event_"};

bool program_calls(std::span<const std::string_view> functions) {
  auto look = [](dl_phdr_info* info, std::size_t, void* wanted) {
    return calls(*info, *static_cast<std::span<const std::string_view>*>(wanted)) ? 1 : 0;
  };
  return ::dl_iterate_phdr(look, &functions) != 0;
}

}  // namespace

bool program_has_tasks() {
  static const bool has = program_calls(kCreate);
  return has;
}

bool program_fulfils_events() {
  static const bool has = program_calls(kFulfil);
  return has;
}

}  // namespace terrane::frontend::omp
