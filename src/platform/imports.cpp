#include "platform/imports.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
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
  const std::uint32_t* hashes = nullptr;  // DT_GNU_HASH
  const ElfW(Half) * versions = nullptr;  // of the symbols; nullptr: they have none
  std::span<const ElfW(Rela)> of_calls() const { return {calls, calls_bytes / sizeof *calls}; }
  std::span<const ElfW(Rela)> of_others() const { return {others, others_bytes / sizeof *others}; }
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
    if (entry->d_tag == DT_GNU_HASH)
      tables.hashes = reinterpret_cast<const std::uint32_t*>(at(address));
    if (entry->d_tag == DT_VERSYM)
      tables.versions = reinterpret_cast<const ElfW(Half)*>(at(address));
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

bool holds(const dl_phdr_info& info, const void* address) {
  auto place = reinterpret_cast<std::uintptr_t>(address);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && begin <= place && place < begin + header.p_memsz) return true;
  }
  return false;
}

// Calls visit(name, place) for each reference of a module to a function of another one.
template <typename Visit>
void each_import(const dl_phdr_info& info, Visit visit) {
  Tables tables = tables_of(info);
  if (tables.symbols == nullptr || tables.strings == nullptr) return;
  for (std::span<const ElfW(Rela)> relocations : {tables.of_calls(), tables.of_others()}) {
    for (const ElfW(Rela) & relocation : relocations) {
      std::size_t symbol = ELF64_R_SYM(relocation.r_info);
      if (symbol == 0 || relocation.r_addend != 0) continue;
      const ElfW(Sym)& imported = tables.symbols[symbol];
      if (imported.st_shndx != SHN_UNDEF) continue;
      visit(tables.strings + imported.st_name, info.dlpi_addr + relocation.r_offset);
    }
  }
}

std::string_view file_name(const dl_phdr_info& info) {
  std::string_view path = info.dlpi_name == nullptr ? "" : info.dlpi_name;
  return path.substr(path.rfind('/') + 1);
}

struct Work {
  std::string_view prefix;
  std::span<Redirection> functions;
  bool changes;
};

void visit(const dl_phdr_info& info, const Work& work) {
  each_import(info, [&](const char* name, std::uintptr_t place) {
    for (Redirection& function : work.functions) {
      if (std::strcmp(name, function.name) != 0) continue;
      ++function.places;
      if (work.changes)
        store(reinterpret_cast<void**>(place), function.to, protection_of(info, place));
    }
  });
}

void do_work(Work work) {
  for (Redirection& function : work.functions) function.places = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        const Work& all = *static_cast<const Work*>(context);
        if (file_name(*info).starts_with(all.prefix)) visit(*info, all);
        return 0;
      },
      &work);
}

// The table says only where the last chain of names ends.
std::size_t symbol_count(const std::uint32_t* hashes) {
  std::uint32_t buckets = hashes[0], first = hashes[1], words = hashes[2];
  const std::uint32_t* bucket = hashes + 4 + words * (sizeof(ElfW(Addr)) / sizeof *hashes);
  const std::uint32_t* chain = bucket + buckets;
  std::uint32_t last = buckets == 0 ? 0 : *std::max_element(bucket, bucket + buckets);
  if (last < first) return first;
  while ((chain[last - first] & 1) == 0) ++last;
  return last + 1;
}

using Exports = std::vector<std::pair<std::string, void*>>;

void add_exports(const dl_phdr_info& info, Exports& exports) {
  constexpr ElfW(Half) kNoVersion = VER_NDX_GLOBAL;
  Tables tables = tables_of(info);
  if (tables.hashes == nullptr) return;
  for (std::size_t i = 1; i < symbol_count(tables.hashes); ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    bool is_function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!is_function || (tables.versions != nullptr && tables.versions[i] != kNoVersion)) continue;
    exports.emplace_back(tables.strings + symbol.st_name,
                         reinterpret_cast<void*>(info.dlpi_addr + symbol.st_value));
  }
}

}  // namespace

void rebind_imports(std::span<const std::string_view> others, const Binding& binding) {
  struct All {
    std::span<const std::string_view> others;
    const Binding& binding;
  } all{others, binding};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        const All& given = *static_cast<const All*>(context);
        for (std::string_view other : given.others)
          if (file_name(*info).starts_with(other)) return 0;
        each_import(*info, [&](const char* name, std::uintptr_t at) {
          auto* place = reinterpret_cast<void**>(at);
          void* bound = __atomic_load_n(place, __ATOMIC_RELAXED);
          void* wanted = given.binding(name, holds(*info, bound) ? nullptr : bound);
          if (wanted != nullptr) store(place, wanted, protection_of(*info, at));
        });
        return 0;
      },
      &all);
}

Exports exports_without_version(const void* address) {
  struct All {
    const void* address;
    Exports exports;
  } all{address, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        All& given = *static_cast<All*>(context);
        if (!holds(*info, given.address)) return 0;
        add_exports(*info, given.exports);
        return 1;
      },
      &all);
  return std::move(all.exports);
}

void redirect_imports(std::string_view prefix, std::span<Redirection> functions) {
  do_work({prefix, functions, true});
}

void count_imports(std::string_view prefix, std::span<Redirection> functions) {
  do_work({prefix, functions, false});
}

}  // namespace terrane::platform
