#include "platform/imports.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "platform/page_size.h"

namespace terrane::platform {
namespace {

// The tables of a module by which the loader has bound its imports.
struct Tables {
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * calls = nullptr;  // of its procedure linkage table
  std::size_t calls_bytes = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t others_bytes = 0;
};

Tables tables_of(const dl_phdr_info& info) {
  Tables tables;
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entry = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  // Some C libraries leave the file's addresses there.
  auto at = [&](ElfW(Addr) address) {
    return address + (address < info.dlpi_addr ? info.dlpi_addr : 0);
  };
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    ElfW(Addr) address = entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) tables.strings = reinterpret_cast<const char*>(at(address));
    if (entry->d_tag == DT_SYMTAB) tables.symbols = reinterpret_cast<const ElfW(Sym)*>(at(address));
    if (entry->d_tag == DT_JMPREL) tables.calls = reinterpret_cast<const ElfW(Rela)*>(at(address));
    if (entry->d_tag == DT_PLTRELSZ) tables.calls_bytes = entry->d_un.d_val;
    if (entry->d_tag == DT_RELA) tables.others = reinterpret_cast<const ElfW(Rela)*>(at(address));
    if (entry->d_tag == DT_RELASZ) tables.others_bytes = entry->d_un.d_val;
  }
  return tables;
}

// The place may be on a page that the loader has made read-only.
void store(void** place, void* value, int protection) {
  if (__atomic_load_n(place, __ATOMIC_RELAXED) == value) return;
  auto page = reinterpret_cast<std::uintptr_t>(place) / page_bytes() * page_bytes();
  auto* start = reinterpret_cast<void*>(page);
  if (protection == PROT_READ) ::mprotect(start, page_bytes(), PROT_READ | PROT_WRITE);
  __atomic_store_n(place, value, __ATOMIC_RELEASE);  // other threads may call through it
  if (protection == PROT_READ) ::mprotect(start, page_bytes(), PROT_READ);
}

int protection_of(const dl_phdr_info& info, std::uintptr_t place) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    bool holds = begin <= place && place < begin + header.p_memsz;
    if (header.p_type == PT_GNU_RELRO && holds) return PROT_READ;
  }
  return PROT_READ | PROT_WRITE;
}

struct Work {
  std::string_view prefix;
  std::span<Redirection> functions;
  bool changes;
};

void visit(const dl_phdr_info& info, const Tables& tables, std::span<const ElfW(Rela)> relocations,
           const Work& work) {
  for (const ElfW(Rela) & relocation : relocations) {
    std::size_t symbol = ELF64_R_SYM(relocation.r_info);
    if (symbol == 0 || relocation.r_addend != 0) continue;
    const ElfW(Sym)& imported = tables.symbols[symbol];
    if (imported.st_shndx != SHN_UNDEF) continue;
    const char* name = tables.strings + imported.st_name;
    for (Redirection& function : work.functions) {
      if (std::strcmp(name, function.name) != 0) continue;
      ++function.places;
      std::uintptr_t place = info.dlpi_addr + relocation.r_offset;
      if (work.changes)
        store(reinterpret_cast<void**>(place), function.to, protection_of(info, place));
    }
  }
}

void do_work(Work work) {
  for (Redirection& function : work.functions) function.places = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        const Work& all = *static_cast<const Work*>(context);
        std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (!path.substr(path.rfind('/') + 1).starts_with(all.prefix)) return 0;
        Tables tables = tables_of(*info);
        if (tables.symbols == nullptr || tables.strings == nullptr) return 0;
        visit(*info, tables, {tables.calls, tables.calls_bytes / sizeof(ElfW(Rela))}, all);
        visit(*info, tables, {tables.others, tables.others_bytes / sizeof(ElfW(Rela))}, all);
        return 0;
      },
      &work);
}

}  // namespace

void redirect_imports(std::string_view prefix, std::span<Redirection> functions) {
  do_work({prefix, functions, true});
}

void count_imports(std::string_view prefix, std::span<Redirection> functions) {
  do_work({prefix, functions, false});
}

}  // namespace terrane::platform
