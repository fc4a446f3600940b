#include "tools/launch/output/line_tagger.h"

#include <algorithm>

namespace terrane::tools {

void LineTagger::put_line(std::string_view line, std::string& out) {
  out += tag_;
  out += rest_;
  out += line;
  out += '\n';
  rest_.clear();
}

void LineTagger::add(std::string_view text, std::string& out) {
  for (;;) {
    std::size_t end = text.find('\n');
    std::size_t length = std::min(end, text.size());
    std::size_t room = kMaxLine - rest_.size();
    if (length > room) {
      put_line(text.substr(0, room), out);
      text.remove_prefix(room);
    } else if (end == std::string_view::npos) {
      rest_ += text;
      return;
    } else {
      put_line(text.substr(0, end), out);
      text.remove_prefix(end + 1);
    }
  }
}

void LineTagger::finish(std::string& out) {
  if (!rest_.empty()) put_line("", out);
}

}  // namespace terrane::tools
