#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace terrane::patch {

// Addresses as the file has them; the loader adds the same number to all of them.
struct CodeRange {
  std::uint64_t begin = 0, end = 0;
  bool contains(std::uint64_t address) const { return address - begin < end - begin; }
};

// A file in the format ELF for x86-64, for what its code consists of. Owns a private mapping of the
// file. Every offset in the file is checked: a file that contradicts itself has no code there.
class ElfCode {
 public:
  static base::Result<ElfCode> open(const std::string& path);
  ElfCode(ElfCode&& other) noexcept;
  ElfCode& operator=(ElfCode&&) = delete;
  ~ElfCode();

  const std::string& path() const { return path_; }
  // Stretches of instructions: sections that may be executed, or whole segments where the file
  // names no sections.
  const std::vector<CodeRange>& code() const { return code_; }
  // Whether the loader changes bytes of the code, so that the file does not say what runs.
  bool has_text_relocations() const { return has_text_relocations_; }
  // Functions by the tables of unwinding (.eh_frame) and by symbols, in order, without overlaps.
  const std::vector<CodeRange>& functions() const { return functions_; }
  // Whether it has tables of unwinding: what compilers make is then in functions.
  bool has_unwinding() const { return has_unwinding_; }
  // The bytes of [address, address + size) that the file has; fewer at the end of a segment.
  std::span<const std::uint8_t> bytes(std::uint64_t address, std::uint64_t size) const;
  // The symbol of the function that holds an address, demangled; empty: it is not known.
  std::string function_at(std::uint64_t address) const;

 private:
  struct Segment {
    std::uint64_t address, offset, bytes;
    bool is_code;
  };
  ElfCode() = default;
  template <typename Part>
  const Part* part(std::uint64_t offset, std::uint64_t count = 1) const;
  base::Result<> read_segments();
  void read_sections();
  void read_symbols(std::uint64_t offset, std::uint64_t bytes, std::uint64_t names,
                    std::uint64_t names_bytes);
  void read_unwinding(std::uint64_t header);
  void sort_functions();

  std::string path_;
  bool has_unwinding_ = false;
  const std::uint8_t* file_ = nullptr;
  std::size_t size_ = 0;
  bool has_text_relocations_ = false;
  std::vector<Segment> segments_;
  std::vector<CodeRange> code_, functions_;
  std::vector<CodeRange> by_symbol_;
  std::map<std::uint64_t, std::pair<std::uint64_t, std::string_view>> names_;  // begin, end
};

// Of the tables of unwinding that begin at `address` in `bytes`: each function's range. What cannot
// be read is left out. (Linux Standard Base 5, core, section 10.6.)
std::vector<CodeRange> unwound_functions(std::span<const std::uint8_t> bytes,
                                         std::uint64_t address);

}  // namespace terrane::patch
