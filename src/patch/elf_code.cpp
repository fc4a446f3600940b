#include "patch/elf_code.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/unique_fd.h"

namespace terrane::patch {

ElfCode::ElfCode(ElfCode&& other) noexcept
    : path_(std::move(other.path_)),
      has_unwinding_(other.has_unwinding_),
      file_(std::exchange(other.file_, nullptr)),
      size_(other.size_),
      has_text_relocations_(other.has_text_relocations_),
      segments_(std::move(other.segments_)),
      code_(std::move(other.code_)),
      functions_(std::move(other.functions_)),
      by_symbol_(std::move(other.by_symbol_)),
      names_(std::move(other.names_)) {}

ElfCode::~ElfCode() {
  if (file_ != nullptr) ::munmap(const_cast<std::uint8_t*>(file_), size_);
}

// nullptr: the file does not have it.
template <typename Part>
const Part* ElfCode::part(std::uint64_t offset, std::uint64_t count) const {
  bool is_inside = count <= size_ / sizeof(Part) && offset <= size_ - count * sizeof(Part);
  bool is_aligned = offset % alignof(Part) == 0;
  return is_inside && is_aligned ? reinterpret_cast<const Part*>(file_ + offset) : nullptr;
}

base::Result<ElfCode> ElfCode::open(const std::string& path) {
  base::UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat state {};
  if (file.get() < 0 || ::fstat(file.get(), &state) != 0)
    return base::errno_error(fmt::format("cannot read {}", path));
  ElfCode code;
  code.path_ = path;
  code.size_ = static_cast<std::size_t>(state.st_size);
  void* at = code.size_ < sizeof(Elf64_Ehdr)
                 ? MAP_FAILED
                 : ::mmap(nullptr, code.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (at != MAP_FAILED) code.file_ = static_cast<const std::uint8_t*>(at);
  const auto* head = at == MAP_FAILED ? nullptr : code.part<Elf64_Ehdr>(0);
  if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
    return base::error("{} is no executable file (ELF)", path);
  if (head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_machine != EM_X86_64)
    return base::error("{} is for another machine: locked instructions are known of x86-64 alone",
                       path);
  if (auto read = code.read_segments(); !read) return read.error();
  code.read_sections();
  code.sort_functions();
  return code;
}

base::Result<> ElfCode::read_segments() {
  const auto* head = part<Elf64_Ehdr>(0);
  const auto* segments = part<Elf64_Phdr>(head->e_phoff, head->e_phnum);
  if (segments == nullptr) return base::error("{}: its list of segments is not in the file", path_);
  const Elf64_Phdr* unwinding = nullptr;
  for (std::size_t i = 0; i < head->e_phnum; ++i) {
    const Elf64_Phdr& one = segments[i];
    if (one.p_type == PT_GNU_EH_FRAME) unwinding = &one;
    if (one.p_type == PT_DYNAMIC) {
      const auto* entries = part<Elf64_Dyn>(one.p_offset, one.p_filesz / sizeof(Elf64_Dyn));
      for (std::size_t d = 0; entries != nullptr && d < one.p_filesz / sizeof(Elf64_Dyn); ++d)
        has_text_relocations_ |=
            entries[d].d_tag == DT_TEXTREL ||
            (entries[d].d_tag == DT_FLAGS && (entries[d].d_un.d_val & DF_TEXTREL) != 0);
    }
    if (one.p_type != PT_LOAD) continue;
    if (part<std::uint8_t>(one.p_offset, one.p_filesz) == nullptr)
      return base::error("{} is cut short: a segment is not in the file", path_);
    segments_.push_back({one.p_vaddr, one.p_offset, one.p_filesz, (one.p_flags & PF_X) != 0});
  }
  if (unwinding != nullptr) read_unwinding(unwinding->p_vaddr);
  return {};
}

void ElfCode::read_unwinding(std::uint64_t header) {
  constexpr std::uint8_t kRelative = 0x1b;  // four bytes with a sign, from where they are
  constexpr std::uint64_t kPointer = 4;
  std::span<const std::uint8_t> start = bytes(header, 2 * kPointer);
  if (start.size() < 2 * kPointer || start[0] != 1 || start[1] != kRelative) return;
  std::int32_t away = 0;
  std::memcpy(&away, start.data() + kPointer, sizeof away);
  std::uint64_t tables = header + kPointer + static_cast<std::uint64_t>(std::int64_t{away});
  functions_ = unwound_functions(bytes(tables, ~std::uint64_t{0}), tables);
  has_unwinding_ = !functions_.empty();
}

void ElfCode::read_sections() {
  const auto* head = part<Elf64_Ehdr>(0);
  const auto* sections =
      head->e_shnum == 0 ? nullptr : part<Elf64_Shdr>(head->e_shoff, head->e_shnum);
  for (std::size_t i = 0; sections != nullptr && i < head->e_shnum; ++i) {
    const Elf64_Shdr& one = sections[i];
    bool is_code = (one.sh_flags & SHF_EXECINSTR) != 0 && (one.sh_flags & SHF_ALLOC) != 0;
    if (is_code && one.sh_type == SHT_PROGBITS)
      code_.push_back({one.sh_addr, one.sh_addr + one.sh_size});
    bool has_symbols = one.sh_type == SHT_SYMTAB || one.sh_type == SHT_DYNSYM;
    if (!has_symbols || one.sh_link >= head->e_shnum) continue;
    read_symbols(one.sh_offset, one.sh_size, sections[one.sh_link].sh_offset,
                 sections[one.sh_link].sh_size);
  }
  if (!code_.empty()) return;
  for (const Segment& one : segments_)
    if (one.is_code) code_.push_back({one.address, one.address + one.bytes});
}

void ElfCode::read_symbols(std::uint64_t offset, std::uint64_t bytes, std::uint64_t names,
                           std::uint64_t names_bytes) {
  std::uint64_t count = bytes / sizeof(Elf64_Sym);
  const auto* symbols = part<Elf64_Sym>(offset, count);
  const auto* texts = part<char>(names, names_bytes);
  if (symbols == nullptr || texts == nullptr) return;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Elf64_Sym& one = symbols[i];
    unsigned type = ELF64_ST_TYPE(one.st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || one.st_size == 0) continue;
    if (one.st_shndx == SHN_UNDEF || one.st_name >= names_bytes) continue;
    std::size_t most = names_bytes - one.st_name;
    std::string_view name(texts + one.st_name, ::strnlen(texts + one.st_name, most));
    names_.try_emplace(one.st_value, one.st_value + one.st_size, name);
    by_symbol_.push_back({one.st_value, one.st_value + one.st_size});
  }
}

// Ranges of unwinding come first: they are the compiler's own. Symbols fill the gaps.
void ElfCode::sort_functions() {
  auto by_begin = [](const CodeRange& a, const CodeRange& b) { return a.begin < b.begin; };
  std::sort(functions_.begin(), functions_.end(), by_begin);
  std::sort(by_symbol_.begin(), by_symbol_.end(), by_begin);
  std::vector<CodeRange> all;
  auto add = [&all](CodeRange one) {
    if (!all.empty()) one.begin = std::max(one.begin, all.back().end);
    if (one.begin < one.end) all.push_back(one);
  };
  std::size_t next = 0;
  for (const CodeRange& known : functions_) {
    for (; next < by_symbol_.size() && by_symbol_[next].begin < known.begin; ++next)
      add({by_symbol_[next].begin, std::min(by_symbol_[next].end, known.begin)});
    while (next < by_symbol_.size() && by_symbol_[next].begin < known.end) ++next;
    add(known);
  }
  for (; next < by_symbol_.size(); ++next) add(by_symbol_[next]);
  functions_ = std::move(all);
  by_symbol_.clear();
}

std::span<const std::uint8_t> ElfCode::bytes(std::uint64_t address, std::uint64_t size) const {
  for (const Segment& one : segments_) {
    std::uint64_t inside = address - one.address;
    if (inside >= one.bytes) continue;
    return {file_ + one.offset + inside, std::min(size, one.bytes - inside)};
  }
  return {};
}

std::string ElfCode::function_at(std::uint64_t address) const {
  auto next = names_.upper_bound(address);
  if (next == names_.begin()) return {};
  auto [begin, rest] = *std::prev(next);
  if (address >= rest.first) return {};
  std::string name(rest.second);
  int status = 0;
  char* plain = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  if (plain != nullptr) name = plain;
  std::free(plain);
  return name;
}

}  // namespace terrane::patch
