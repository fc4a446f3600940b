#include "tools/binary/program_libraries.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/unique_fd.h"
#include "platform/command_output.h"
#include "platform/module_owners.h"

namespace terrane::tools {
namespace {

// The loader that the program names; empty: none.
std::string loader_of(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  Elf64_Ehdr head{};
  if (::pread(file.get(), &head, sizeof head, 0) != sizeof head ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_phentsize != sizeof(Elf64_Phdr))
    return {};
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr part{};
    auto at = static_cast<off_t>(head.e_phoff + static_cast<std::uint64_t>(i) * sizeof part);
    if (::pread(file.get(), &part, sizeof part, at) != sizeof part) return {};
    if (part.p_type != PT_INTERP || part.p_filesz >= PATH_MAX) continue;
    std::string loader(part.p_filesz, '\0');
    auto bytes = static_cast<ssize_t>(part.p_filesz);
    if (::pread(file.get(), loader.data(), part.p_filesz, static_cast<off_t>(part.p_offset)) !=
        bytes)
      return {};
    return loader.c_str();
  }
  return {};
}

}  // namespace

std::vector<std::string> paths_in_list(std::string_view list) {
  constexpr std::string_view kArrow = " => ", kAddress = " (0x";
  std::vector<std::string> paths;
  while (!list.empty()) {
    std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(line.size() + 1, list.size()));
    std::size_t arrow = line.find(kArrow), address = line.rfind(kAddress);
    if (address == std::string_view::npos) continue;
    std::size_t begin =
        arrow == std::string_view::npos ? line.find_first_not_of("\t ") : arrow + kArrow.size();
    if (begin >= address) continue;
    std::string_view path = line.substr(begin, address - begin);
    bool language = platform::is_language_library(path.substr(path.rfind('/') + 1));
    bool is_shared = !language && !platform::is_node_library(path);
    if (path.find('/') != std::string_view::npos && is_shared) paths.emplace_back(path);
  }
  return paths;
}

std::vector<std::string> program_libraries(const std::string& path) {
  std::string loader = loader_of(path);
  if (loader.empty()) return {};
  const char* command[] = {loader.c_str(), "--list", path.c_str(), nullptr};
  return paths_in_list(platform::command_output(command, environ));
}

}  // namespace terrane::tools
