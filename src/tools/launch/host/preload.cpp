#include "tools/launch/host/preload.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/unique_fd.h"
#include "tools/launch/host/library_path.h"
#include "tools/launch/host/program.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of one part of a file that is read
constexpr int kMostScripts = 4;                            // whose interpreter is another script

// `bytes` at `offset`; nullopt: the file has fewer.
std::optional<std::string> bytes_at(int fd, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes > kMostBytes) return std::nullopt;
  std::string text(bytes, '\0');
  ssize_t got = ::pread(fd, text.data(), bytes, static_cast<off_t>(offset));
  if (got != static_cast<ssize_t>(bytes)) return std::nullopt;
  return text;
}

template <typename T>
std::vector<T> items_at(int fd, std::uint64_t offset, std::uint64_t count) {
  auto bytes = bytes_at(fd, offset, count * sizeof(T));
  std::vector<T> items(bytes ? count : 0);
  if (bytes) std::memcpy(items.data(), bytes->data(), bytes->size());
  return items;
}

// Where the file has what lies at an address of the program; 0: nowhere.
std::uint64_t offset_of(const std::vector<Elf64_Phdr>& parts, std::uint64_t address) {
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_LOAD && address - part.p_vaddr < part.p_filesz)
      return part.p_offset + (address - part.p_vaddr);
  }
  return 0;
}

bool is_shell(const std::string& path) {
  constexpr std::string_view kShells[] = {"sh", "bash", "dash", "zsh", "ksh", "fish", "tcsh"};
  std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  return std::find(std::begin(kShells), std::end(kShells), name) != std::end(kShells);
}

// The strings of the dynamic section: names of libraries and of symbols.
void judge_names(std::string_view names, ProgramFile& program) {
  for (std::size_t at = 0; at < names.size();) {
    std::string_view name = names.substr(at, names.find('\0', at) - at);
    program.loads = program.loads || name == "dlopen" || name.starts_with("libpython");
    program.has_terrane = program.has_terrane || name.starts_with("libterrane");
    for (std::string_view sanitizer : {"libasan.", "libtsan.", "libhwasan.", "liblsan."})
      program.has_first = program.has_first || name.starts_with(sanitizer);
    at += name.size() + 1;
  }
}

// The libraries of Terrane that the program is linked with, and where it looks for libraries.
void judge_libraries(const std::vector<Elf64_Dyn>& entries, const std::string& names,
                     ProgramFile& program) {
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) return;
    if (entry.d_un.d_val >= names.size()) continue;
    std::string name = names.c_str() + entry.d_un.d_val;
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
      program.own_path += (program.own_path.empty() ? "" : ":") + name;
    if (entry.d_tag != DT_NEEDED) continue;
    if (name.starts_with("libterrane")) program.terrane_libraries.push_back(name);
    for (const char* openmp : {"libgomp.so", "libomp.so", "libiomp5.so"})
      if (name.starts_with(openmp)) program.needs_openmp = true;
    if (name.starts_with("libjli.") || name.starts_with("libjvm.")) program.run_time = "Java";
  }
}

// Go's linker leaves a note with its own name in each program.
bool has_note_of_go(std::string_view notes) {
  constexpr std::size_t kAlignment = 4;
  auto up = [](std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr head;
    std::memcpy(&head, notes.data(), sizeof head);
    notes.remove_prefix(sizeof head);
    if (notes.substr(0, head.n_namesz).starts_with(std::string_view("Go\0", 3))) return true;
    std::size_t bytes = up(head.n_namesz) + up(head.n_descsz);
    notes.remove_prefix(std::min(bytes, notes.size()));
  }
  return false;
}

// Whose OpenMP library is in a program, by a function of it that no other file sees. Empty: none,
// or the program's symbols are gone.
std::string openmp_in(int fd, const Elf64_Ehdr& head) {
  if (head.e_shentsize != sizeof(Elf64_Shdr)) return {};
  auto sections = items_at<Elf64_Shdr>(fd, head.e_shoff, head.e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    auto names = bytes_at(fd, strings.sh_offset, strings.sh_size);
    if (!names) continue;
    auto has = [&](const char* name) {
      return names->find('\0' + std::string(name) + '\0') != std::string::npos;
    };
    if (has("gomp_team_start")) return "gcc's";
    if (has("__kmp_fork_call")) return "LLVM's";
  }
  return {};
}

void read_elf(int fd, ProgramFile& program) {
  auto heads = items_at<Elf64_Ehdr>(fd, 0, 1);
  if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      heads[0].e_ident[EI_CLASS] != ELFCLASS64 || heads[0].e_phentsize != sizeof(Elf64_Phdr))
    return;
  program.own_openmp = openmp_in(fd, heads[0]);
  auto parts = items_at<Elf64_Phdr>(fd, heads[0].e_phoff, heads[0].e_phnum);
  std::vector<Elf64_Dyn> entries;
  for (const Elf64_Phdr& part : parts) {
    program.is_dynamic = program.is_dynamic || part.p_type == PT_INTERP;
    if (part.p_type == PT_NOTE) {
      auto notes = bytes_at(fd, part.p_offset, part.p_filesz);
      if (notes && has_note_of_go(*notes)) program.run_time = "Go";
    }
    if (part.p_type == PT_DYNAMIC)
      entries = items_at<Elf64_Dyn>(fd, part.p_offset, part.p_filesz / sizeof(Elf64_Dyn));
  }
  std::uint64_t names = 0, bytes = 0;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) names = offset_of(parts, entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRSZ) bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) program.has_own_path = true;
  }
  auto text = bytes_at(fd, names, bytes);
  if (!text || names == 0) return;
  judge_names(*text, program);
  judge_libraries(entries, *text, program);
}

// What the script's first line names; `env NAME` is NAME. Empty: this is no script.
std::string interpreter_of(int fd, const std::string& search_path) {
  char line[256] = {};
  ssize_t size = ::pread(fd, line, sizeof line - 1, 0);
  if (size < 2 || line[0] != '#' || line[1] != '!') return {};
  *std::find(line, line + size, '\n') = '\0';
  std::istringstream words(line + 2);
  std::string word;
  words >> word;
  if (!word.ends_with("/env")) return word;
  while (words >> word) {
    if (word.starts_with("-") || word.find('=') != std::string::npos) continue;
    return find_program(word, search_path).path;
  }
  return {};
}

std::string real_path(const std::string& path) {
  char real[PATH_MAX];
  return ::realpath(path.c_str(), real) != nullptr ? real : std::string();
}

// The file in the installation's folder of libraries, or where it is built.
std::string library_in(const char* installed, const char* built, const char* file) {
  std::string command = real_path("/proc/self/exe");
  std::string folder = command.substr(0, command.rfind('/'));
  for (const char* place : {installed, built}) {
    std::string library = folder + place + file;
    if (::access(library.c_str(), R_OK) == 0) return real_path(library);
  }
  return {};
}

}  // namespace

std::string installed_library(const char* file) {
  return library_in("/../" TERRANE_LIBRARY_FOLDER, "/../" TERRANE_LIBRARY_FOLDER, file);
}

ProgramFile read_program(const std::string& path, const std::string& search_path) {
  ProgramFile program;
  std::string next = path;
  for (int i = 0; i < kMostScripts && !next.empty(); ++i) {
    program.path = real_path(next);
    base::UniqueFd fd(::open(next.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) return program;
    next = interpreter_of(fd.get(), search_path);
    if (next.empty()) read_elf(fd.get(), program);
  }
  if (is_shell(path) || is_shell(program.path)) program.loads = false;
  return program;
}

bool wants_preload(const ProgramFile& program, Preload how) {
  if (how == Preload::kNever || !program.is_dynamic || program.has_terrane) return false;
  if (how == Preload::kAlways || shares_program(how)) return true;
  return program.loads && !program.has_first && !program.has_own_path;
}

std::string why_no_preload(Preload how) {
  std::string library = library_beside_command(how);
  if (library.empty() && shares_program(how)) {
    return how == Preload::kOmp
               ? "terrane/omp/libgomp.so.1 is not there: install it beside libterrane"
               : "libterrane_threads.so.0 is not there: install it beside libterrane";
  }
  std::string folder = installed_library_folder();
  if (folder.find_first_of(" :") == std::string::npos) return {};
  return fmt::format(
      "the dynamic linker cannot preload a library of {}, which has a blank or a colon in its "
      "name: "
      "install Terrane in another folder",
      folder);
}

std::string library_beside_command(Preload how) {
  constexpr const char* kFolder = "/../" TERRANE_LIBRARY_FOLDER;
  if (!shares_program(how))
    return library_in(kFolder, "/../src/frontend/pages", "/libterrane.so.0");
  std::string threads = library_in(kFolder, "/../src/frontend/threads", "/libterrane_threads.so.0");
  if (how == Preload::kThreads || threads.empty()) return threads;
  // By the names of gcc's, clang's and Intel's libraries; the last three have the name alone.
  std::string all = threads;
  for (const char* name : {"/libgomp.so.1", "/libomp.so.5", "/libomp.so", "/libiomp5.so"}) {
    std::string omp =
        library_in("/../" TERRANE_LIBRARY_FOLDER "/terrane/omp", "/../src/frontend/omp", name);
    if (omp.empty()) return omp;
    all += ":" + omp;
  }
  return all;
}

}  // namespace terrane::tools
