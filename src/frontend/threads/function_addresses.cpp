#include "frontend/threads/function_addresses.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "frontend/interpose/next.h"
#include "frontend/threads/libraries.h"
#include "frontend/threads/symbols.h"
#include "platform/page_size.h"

namespace terrane::frontend::threads {
namespace {

using Addresses = std::map<std::uintptr_t, std::uintptr_t>;  // of a stub, of its function

// Stores into memory that the loader may have made read-only.
template <typename T>
void store(T* at, T value, int rights) {
  std::size_t page = platform::page_bytes();
  auto begin = reinterpret_cast<std::uintptr_t>(at) / page * page;
  auto end = reinterpret_cast<std::uintptr_t>(at + 1);
  auto* change = next<"mprotect">(::mprotect);
  auto* pages = reinterpret_cast<void*>(begin);
  if (change(pages, end - begin, PROT_READ | PROT_WRITE) != 0) return;
  *at = value;
  change(pages, end - begin, rights);
}

const ElfW(Dyn) * dynamic_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      return reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  return nullptr;
}

std::uintptr_t entry_of(const dl_phdr_info& info, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* one = dynamic_of(info); one != nullptr && one->d_tag != DT_NULL; ++one)
    if (one->d_tag == tag) return one->d_un.d_ptr;
  return 0;
}

bool is_read_only(const dl_phdr_info& info, std::uintptr_t address) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info.dlpi_phdr[i];
    if (part.p_type == PT_GNU_RELRO && address - info.dlpi_addr - part.p_vaddr < part.p_memsz)
      return true;
  }
  return false;
}

// Takes the stubs out of the program's table of symbols, and finds the functions behind.
Addresses take_stubs(const dl_phdr_info& program) {
  Addresses found;
  auto* symbols = reinterpret_cast<ElfW(Sym)*>(entry_of(program, DT_SYMTAB));
  for (const auto& [index, name] : program_stubs()) {
    std::uintptr_t stub = program.dlpi_addr + symbols[index].st_value;
    store(&symbols[index].st_value, ElfW(Addr){0}, PROT_READ);
    auto* function = ::dlsym(RTLD_DEFAULT, name.c_str());
    if (function != nullptr) found[stub] = reinterpret_cast<std::uintptr_t>(function);
  }
  return found;
}

void replace_in(const dl_phdr_info& info, const Addresses& addresses) {
  const auto* table = reinterpret_cast<const ElfW(Rela)*>(entry_of(info, DT_RELA));
  std::size_t count = entry_of(info, DT_RELASZ) / sizeof(ElfW(Rela));
  for (std::size_t i = 0; table != nullptr && i < count; ++i) {
    if (ELF64_R_SYM(table[i].r_info) == 0) continue;
    auto* place = reinterpret_cast<std::uintptr_t*>(info.dlpi_addr + table[i].r_offset);
    auto known = addresses.find(*place);
    if (known == addresses.end()) continue;
    bool fixed = is_read_only(info, reinterpret_cast<std::uintptr_t>(place));
    store(place, known->second, fixed ? PROT_READ : PROT_READ | PROT_WRITE);
  }
}

}  // namespace

void separate_function_addresses() {
  Addresses addresses;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        *static_cast<Addresses*>(raw) = take_stubs(*info);
        return 1;  // the program is the first
      },
      &addresses);
  if (addresses.empty()) return;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        bool programs = libraries().owner_at(info->dlpi_addr) == platform::ModuleOwner::kProgram;
        std::string_view name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        bool kernels = name.starts_with("linux-");
        if (!programs && !kernels) replace_in(*info, *static_cast<Addresses*>(raw));
        return 0;
      },
      &addresses);
}

}  // namespace terrane::frontend::threads
