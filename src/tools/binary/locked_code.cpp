#include "tools/binary/locked_code.h"

namespace terrane::tools {
namespace {

constexpr std::string_view kBlank = " \t";

std::string_view trim(std::string_view text) {
  std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// The text's first word, which goes.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  std::string_view word = text.substr(0, text.find_first_of(kBlank));
  text = trim(text.substr(word.size()));
  return word;
}

// "0000000000401136 <add(int*)>:" -> add(int*); else nothing.
std::string_view function_of(std::string_view line) {
  std::size_t begin = line.find(" <");
  if (begin == std::string_view::npos || !line.ends_with(">:")) return {};
  if (line.find_first_not_of("0123456789abcdef") != begin) return {};
  return line.substr(begin + 2, line.size() - begin - 4);
}

}  // namespace

bool LockedCode::is_private(std::string_view operands) const {
  auto holds = [&](std::string_view part) { return operands.find(part) != std::string_view::npos; };
  if (holds("%fs:") || holds("%gs:") || operands == "$0x0,(%rsp)") return true;
  if (scope_ == SharedScope::kProgram) return false;
  return holds("(%rsp") || holds("(%rip") || (has_frame_pointer_ && holds("(%rbp"));
}

void LockedCode::add_line(std::string_view line) {
  if (std::string_view name = function_of(line); !name.empty()) {
    function_ = name;
    has_frame_pointer_ = false;
    is_new_ = true;
    return;
  }
  std::size_t end = line.find(":\t");
  if (end != std::string_view::npos)
    add_instruction(trim(line.substr(0, end)), line.substr(end + 2));
}

void LockedCode::add_instruction(std::string_view address, std::string_view instruction) {
  instruction = trim(instruction.substr(0, instruction.find('#')));
  std::string_view operands = instruction;
  std::string_view name = take_word(operands);
  bool locked = false;
  while (name == "lock" || name == "xacquire" || name == "xrelease" || name == "bnd" ||
         name.starts_with("rex")) {
    locked = locked || name == "lock";
    name = take_word(operands);
  }
  if (name == "mov" && operands == "%rsp,%rbp") has_frame_pointer_ = true;
  bool swaps = name.starts_with("xchg") && operands.find('(') != std::string_view::npos;
  if ((!locked && !swaps) || is_private(operands)) return;
  if (is_new_) {
    functions_.push_back({function_, std::string(instruction), std::string(address), 0});
    is_new_ = false;
  }
  ++functions_.back().count;
}

}  // namespace terrane::tools
