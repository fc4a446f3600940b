#include "platform/modules.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "platform/page_size.h"

namespace terrane::platform {
namespace {

std::uintptr_t down(std::uintptr_t address) { return address / page_bytes() * page_bytes(); }
std::uintptr_t up(std::uintptr_t address) { return down(address + page_bytes() - 1); }

// FNV-1a.
void mix(std::uint64_t& hash, const void* bytes, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(bytes)[i]) * 0x100000001b3u;
}

// The shape of a module, and its notes, among them the linker's build id.
std::uint64_t identity_of(const dl_phdr_info& info) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    mix(hash, &header, sizeof header);
    if (header.p_type == PT_NOTE)
      mix(hash, reinterpret_cast<const void*>(info.dlpi_addr + header.p_vaddr), header.p_memsz);
  }
  return hash;
}

// The pages that the loader has made read-only.
struct Relro {
  std::uintptr_t begin = 0, end = 0;
};

Relro relro_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_GNU_RELRO) continue;
    std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    return {down(begin), down(begin + header.p_memsz)};
  }
  return {};
}

void add_pages(std::vector<WritablePages>& all, WritablePages pages) {
  pages.file_end = std::clamp(pages.file_end, pages.begin, pages.end);
  if (pages.begin < pages.end) all.push_back(pages);
}

std::vector<WritablePages> writable_of(const dl_phdr_info& info) {
  std::vector<WritablePages> all;
  Relro relro = relro_of(info);
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    WritablePages pages{down(begin), up(begin + header.p_filesz), up(begin + header.p_memsz),
                        PROT_READ | PROT_WRITE | ((header.p_flags & PF_X) != 0 ? PROT_EXEC : 0)};
    if (relro.begin >= pages.end || relro.end <= pages.begin) {
      add_pages(all, pages);
      continue;
    }
    add_pages(all, {pages.begin, pages.file_end, relro.begin, pages.protection});
    add_pages(all, {relro.end, pages.file_end, pages.end, pages.protection});
  }
  return all;
}

std::vector<CodePages> code_of(const dl_phdr_info& info) {
  std::vector<CodePages> all;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) == 0) continue;
    std::uintptr_t begin = info.dlpi_addr + header.p_vaddr;
    all.push_back({begin, begin + header.p_memsz});
  }
  return all;
}

// The bytes of the data that a program may write, page or not.
std::size_t data_of(const dl_phdr_info& info) {
  std::uintptr_t relro_begin = 0, relro_end = 0;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type == PT_GNU_RELRO)
      relro_begin = header.p_vaddr, relro_end = header.p_vaddr + header.p_memsz;
  }
  std::size_t bytes = 0;
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info.dlpi_phdr[i];
    if (header.p_type != PT_LOAD || (header.p_flags & PF_W) == 0) continue;
    std::uintptr_t begin = header.p_vaddr, end = begin + header.p_memsz;
    bytes += end - begin;
    std::uintptr_t both_begin = std::max(begin, relro_begin), both_end = std::min(end, relro_end);
    if (both_begin < both_end) bytes -= both_end - both_begin;
  }
  return bytes;
}

// The loader's table of functions that are bound at their first call: three words, and one for each
// relocation of them. It is read-only where all are bound at the start.
std::size_t table_of_functions(const ElfW(Dyn) * entries) {
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* one = entries; one != nullptr && one->d_tag != DT_NULL; ++one) {
    if (one->d_tag == DT_FLAGS && (one->d_un.d_val & DF_BIND_NOW) != 0) return 0;
    if (one->d_tag == DT_FLAGS_1 && (one->d_un.d_val & DF_1_NOW) != 0) return 0;
    if (one->d_tag == DT_PLTRELSZ)
      bytes = (3 + one->d_un.d_val / sizeof(ElfW(Rela))) * sizeof(void*);
  }
  return bytes;
}

// What a module's dynamic section says of names: its own, and those of the libraries that it needs;
// and of the size of its data.
void read_dynamic_section(const dl_phdr_info& info, Module& module) {
  const ElfW(Dyn)* entries = nullptr;
  for (int i = 0; i < info.dlpi_phnum; ++i)
    if (info.dlpi_phdr[i].p_type == PT_DYNAMIC)
      entries = reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
  std::size_t table = table_of_functions(entries), data = data_of(info);
  module.state_bytes = data > table ? data - table : 0;
  std::uintptr_t names = 0;
  for (const ElfW(Dyn)* one = entries; one != nullptr && one->d_tag != DT_NULL; ++one)
    if (one->d_tag == DT_STRTAB) names = one->d_un.d_ptr;
  if (names == 0) return;
  // The loader has added the address, but in the kernel's own code, which it may not write.
  if (names < info.dlpi_addr) names += info.dlpi_addr;
  for (const ElfW(Dyn)* one = entries; one->d_tag != DT_NULL; ++one) {
    const char* name = reinterpret_cast<const char*>(names + one->d_un.d_val);
    if (one->d_tag == DT_SONAME) module.soname = name;
    if (one->d_tag == DT_NEEDED) module.needed.emplace_back(name);
  }
}

}  // namespace

std::vector<Module> loaded_modules() {
  std::vector<Module> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        auto& modules = *static_cast<std::vector<Module>*>(context);
        std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
        if (modules.empty()) path = {};
        std::string name(path.substr(path.rfind('/') + 1));  // npos + 1 is 0
        modules.push_back({std::string(path),
                           std::move(name),
                           identity_of(*info),
                           writable_of(*info),
                           info->dlpi_addr,
                           code_of(*info),
                           {},
                           {},
                           0});
        read_dynamic_section(*info, modules.back());
        return 0;
      },
      &all);
  return all;
}

bool keeps_nothing(const Module& module) {
  constexpr std::size_t kOfCompilers = 64;
  return module.state_bytes <= kOfCompilers;
}

std::uint64_t modules_ever_loaded() {
  std::uint64_t loaded = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* context) {
        *static_cast<std::uint64_t*>(context) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

}  // namespace terrane::platform
