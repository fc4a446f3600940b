#include "frontend/threads/symbols.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>

#include "base/unique_fd.h"
#include "frontend/interpose/next.h"
#include "platform/command_output.h"

namespace terrane::frontend::threads {
namespace {

// A loaded file, and what the loader has added to its addresses.
struct Module {
  std::string path;
  std::uintptr_t base = 0;
};

std::string own_file() {
  char path[4096];
  ssize_t bytes = ::readlink("/proc/self/exe", path, sizeof path);
  return {path, bytes < 0 ? 0 : static_cast<std::size_t>(bytes)};
}

Module module_of(std::uintptr_t at) {
  struct Search {
    std::uintptr_t at;
    Module found;
  } search{at, {}};
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        auto& own = *static_cast<Search*>(raw);
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD || own.at - info->dlpi_addr - part.p_vaddr >= part.p_memsz)
            continue;
          bool is_program = info->dlpi_name == nullptr || *info->dlpi_name == '\0';
          own.found = {is_program ? own_file() : info->dlpi_name, info->dlpi_addr};
          return 1;
        }
        return 0;
      },
      &search);
  return search.found;
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// A file as it lies on the disk.
class Contents {
 public:
  explicit Contents(const char* path) {
    base::UniqueFd file(next<"open">(::open)(path, O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (file.get() < 0 || ::fstat(file.get(), &facts) != 0 || facts.st_size == 0) return;
    void* at = next<"mmap">(::mmap)(nullptr, static_cast<std::size_t>(facts.st_size), PROT_READ,
                                    MAP_PRIVATE, file.get(), 0);
    if (at == MAP_FAILED) return;
    begin_ = static_cast<const std::byte*>(at);
    bytes_ = static_cast<std::size_t>(facts.st_size);
  }
  ~Contents() {
    if (begin_ != nullptr) next<"munmap">(::munmap)(const_cast<std::byte*>(begin_), bytes_);
  }
  Contents(const Contents&) = delete;

  // `count` of them at an offset; nullptr: the file ends before.
  template <typename T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const {
    bool inside = offset <= bytes_ && count <= (bytes_ - offset) / sizeof(T);
    return inside ? reinterpret_cast<const T*>(begin_ + offset) : nullptr;
  }

 private:
  const std::byte* begin_ = nullptr;
  std::size_t bytes_ = 0;
};

// A name in a file that is mapped, and how far behind its beginning an address lies.
struct Symbol {
  const char* name = nullptr;  // nullptr: there is none
  std::size_t length = 0;
  std::uintptr_t inside = 0;
};

// The symbol of that type (STT_FUNC, STT_OBJECT) that holds the address; in a table of the file of
// that type. Async-signal-safe.
Symbol symbol_in(const Contents& file, std::uint32_t table, std::uintptr_t address,
                 unsigned char type) {
  const auto* head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return {};
  const auto* sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (std::size_t i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    const ElfW(Shdr)& section = sections[i];
    if (section.sh_type != table || section.sh_link >= head->e_shnum) continue;
    std::size_t count = section.sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(section.sh_offset, count);
    const ElfW(Shdr)& names = sections[section.sh_link];
    const auto* text = file.at<char>(names.sh_offset, names.sh_size);
    for (std::size_t s = 0; symbols != nullptr && text != nullptr && s < count; ++s) {
      const ElfW(Sym)& symbol = symbols[s];
      if (ELF64_ST_TYPE(symbol.st_info) != type || symbol.st_shndx == SHN_UNDEF) continue;
      if (address - symbol.st_value >= symbol.st_size || symbol.st_name >= names.sh_size) continue;
      return {text + symbol.st_name,
              ::strnlen(text + symbol.st_name, names.sh_size - symbol.st_name),
              address - symbol.st_value};
    }
  }
  return {};
}

Symbol symbol_of(const Contents& file, std::uintptr_t address, unsigned char type) {
  Symbol symbol = symbol_in(file, SHT_SYMTAB, address, type);
  return symbol.name == nullptr ? symbol_in(file, SHT_DYNSYM, address, type) : symbol;
}

// "name+0x10"
std::string symbol_at(const Module& module, std::uintptr_t address, unsigned char type) {
  Contents file(module.path.c_str());
  Symbol symbol = symbol_of(file, address, type);
  if (symbol.name == nullptr) return {};
  std::string name(symbol.name, symbol.length);
  return symbol.inside == 0 ? name : fmt::format("{}+{:#x}", name, symbol.inside);
}

// Where a command lies; empty: nowhere.
std::string find_command(const char* name, std::string_view search_path) {
  while (!search_path.empty()) {
    std::string_view folder = search_path.substr(0, search_path.find(':'));
    search_path.remove_prefix(std::min(folder.size() + 1, search_path.size()));
    std::string path = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && ::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

// "folder/file.c:12"; empty: the file has no debug information, or there is no addr2line.
std::string whole_line_of(const std::string& path, std::uintptr_t address,
                          const std::string& search_path) {
  std::string program = find_command("addr2line", search_path);
  if (program.empty()) return {};
  std::string hex = fmt::format("{:#x}", address);
  const char* command[] = {program.c_str(), "-e", path.c_str(), hex.c_str(), nullptr};
  // Without our environment, which would load us into it.
  const char* variables[] = {"LC_ALL=C", nullptr};
  std::string output = platform::command_output(command, const_cast<char* const*>(variables));
  std::string_view line = std::string_view(output).substr(0, output.find_first_of(" \n"));
  bool known = !line.empty() && !line.starts_with('?') && !line.ends_with('?');
  return known && !line.ends_with(":0") ? std::string(line) : "";
}

// "file.c:12".
std::string line_of(const std::string& path, std::uintptr_t address,
                    const std::string& search_path) {
  return std::string(file_name(whole_line_of(path, address, search_path)));
}

bool is_about_atomics(std::string_view text) {
  return text.find("atomic") != std::string_view::npos;
}

}  // namespace

bool source_says_atomic(std::uintptr_t at, const std::string& search_path) {
  Module module = module_of(at);
  std::string place = whole_line_of(module.path, at - module.base, search_path);
  std::size_t colon = place.rfind(':');
  if (colon == std::string::npos) return false;
  if (is_about_atomics(file_name(place))) return true;
  unsigned long line = std::strtoul(place.c_str() + colon + 1, nullptr, 10);
  std::ifstream source(place.substr(0, colon));
  std::string text;
  for (unsigned long number = 1; number <= line && std::getline(source, text); ++number)
    if (number + 1 >= line && is_about_atomics(text)) return true;
  return false;
}

std::string place_of_code(std::uintptr_t at, const std::string& search_path) {
  Module module = module_of(at);
  std::uintptr_t address = at - module.base;
  std::string name = line_of(module.path, address, search_path);
  if (name.empty()) name = symbol_at(module, address, STT_FUNC);
  return name.empty() ? fmt::format("{}:{:#x}", file_name(module.path), address) : name;
}

const char* CodePlace::file() const {
  const char* slash = ::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

CodePlace loaded_place(std::uintptr_t at) {
  CodePlace place;
  dl_find_object object{};
  if (::_dl_find_object(reinterpret_cast<void*>(at), &object) != 0) return place;
  const link_map& map = *object.dlfo_link_map;
  place.offset = at - map.l_addr;
  if (*map.l_name == '\0') {
    ssize_t bytes =
        next<"readlink">(::readlink)("/proc/self/exe", place.path, sizeof place.path - 1);
    if (bytes < 0) return place;
  } else {
    ::strncpy(place.path, map.l_name, sizeof place.path - 1);
  }
  Contents file(place.path);
  Symbol symbol = symbol_of(file, at - map.l_addr, STT_FUNC);
  if (symbol.name == nullptr) return place;
  std::memcpy(place.function, symbol.name, std::min(symbol.length, sizeof place.function - 1));
  place.inside = symbol.inside;
  return place;
}

// As C++ writes it: "space::name+0x8" of "_ZN5space4nameE+0x8".
static std::string plain(const std::string& symbol) {
  std::string name = symbol.substr(0, symbol.rfind("+0x"));
  int failed = 0;
  char* written = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed);
  std::string text = failed != 0 ? symbol : written + symbol.substr(name.size());
  std::free(written);
  return text;
}

std::string variable_at(std::uintptr_t at) {
  Module module = module_of(at);
  return module.path.empty() ? "" : plain(symbol_at(module, at - module.base, STT_OBJECT));
}

namespace {

constexpr std::size_t kMostNamed = 2;

// A variable that has bytes in a range, and its address in the file.
struct Inside {
  std::uintptr_t value;
  std::string name;
  bool operator<(const Inside& other) const { return value < other.value; }
};

std::vector<Inside> variables_of(const Contents& file, std::uint32_t table, std::uintptr_t from,
                                 std::size_t bytes) {
  std::vector<Inside> all;
  const auto* head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return all;
  const auto* sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (std::size_t i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    if (sections[i].sh_type != table || sections[i].sh_link >= head->e_shnum) continue;
    std::size_t count = sections[i].sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(sections[i].sh_offset, count);
    const ElfW(Shdr)& names = sections[sections[i].sh_link];
    const auto* text = file.at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text == nullptr) continue;
    for (std::size_t s = 0; s < count; ++s) {
      const ElfW(Sym)& symbol = symbols[s];
      bool is_variable = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT &&
                         symbol.st_shndx != SHN_UNDEF && symbol.st_name < names.sh_size;
      bool is_inside = symbol.st_value < from + bytes && symbol.st_value + symbol.st_size > from;
      if (!is_variable || !is_inside) continue;
      const char* name = text + symbol.st_name;
      all.push_back({symbol.st_value, {name, ::strnlen(name, names.sh_size - symbol.st_name)}});
    }
  }
  return all;
}

}  // namespace

std::string variables_in(std::uintptr_t at, std::size_t bytes) {
  // The file's part may begin or end within the range.
  Module module = module_of(at);
  if (module.path.empty()) module = module_of(at + bytes - 1);
  if (module.path.empty()) return {};
  std::uintptr_t from = at - module.base;
  Contents file(module.path.c_str());
  std::vector<Inside> all = variables_of(file, SHT_SYMTAB, from, bytes);
  if (all.empty()) all = variables_of(file, SHT_DYNSYM, from, bytes);
  std::sort(all.begin(), all.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostNamed); ++i) {
    text += (i == 0 ? "" : ", ") + all[i].name;
    if (all[i].value < from) text += fmt::format("+{:#x}", from - all[i].value);
  }
  return all.size() > kMostNamed ? fmt::format("{} and {} more", text, all.size() - kMostNamed)
                                 : text;
}

namespace {

// Calls function(index, symbol, name) for each symbol by which the program is linked to libraries.
// False: the file does not tell them.
template <typename Function>
bool for_each_dynamic_symbol(Function function) {
  Contents file(own_file().c_str());
  const auto* head = file.at<ElfW(Ehdr)>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const auto* sections = file.at<ElfW(Shdr)>(head->e_shoff, head->e_shnum);
  for (std::size_t i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    const ElfW(Shdr)& section = sections[i];
    if (section.sh_type != SHT_DYNSYM || section.sh_link >= head->e_shnum) continue;
    std::size_t count = section.sh_size / sizeof(ElfW(Sym));
    const auto* symbols = file.at<ElfW(Sym)>(section.sh_offset, count);
    const ElfW(Shdr)& names = sections[section.sh_link];
    const auto* text = file.at<char>(names.sh_offset, names.sh_size);
    if (symbols == nullptr || text == nullptr) return false;
    std::string_view all(text, names.sh_size);
    for (std::size_t s = 0; s < count; ++s) {
      if (symbols[s].st_name >= all.size()) continue;
      std::string_view name = all.substr(symbols[s].st_name);
      function(s, symbols[s], name.substr(0, name.find('\0')));
    }
    return true;
  }
  return false;
}

bool is_stub(const ElfW(Sym) & symbol) {
  return symbol.st_shndx == SHN_UNDEF && symbol.st_value != 0 &&
         ELF64_ST_TYPE(symbol.st_info) == STT_FUNC;
}

}  // namespace

bool program_defines(std::string_view function) {
  bool defines = false;
  bool known = for_each_dynamic_symbol([&](std::size_t, const auto& symbol, auto name) {
    defines = defines || (name == function && symbol.st_shndx != SHN_UNDEF);
  });
  return defines || !known;
}

std::vector<std::pair<std::size_t, std::string>> program_stubs() {
  std::vector<std::pair<std::size_t, std::string>> found;
  for_each_dynamic_symbol([&](std::size_t index, const auto& symbol, auto name) {
    if (is_stub(symbol)) found.emplace_back(index, name);
  });
  return found;
}

std::string line_of_call(const std::string& place, const std::string& search_path) {
  std::size_t colon = place.rfind(":0x");
  std::string path = own_file();
  if (colon == std::string::npos || !file_name(path).starts_with(place.substr(0, colon)))
    return place;
  std::uintptr_t address = 0;
  std::from_chars(place.data() + colon + 3, place.data() + place.size(), address, 16);
  std::string line = line_of(path, address, search_path);
  return line.empty() ? place : line;
}

}  // namespace terrane::frontend::threads
