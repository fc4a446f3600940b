#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace terrane::tools::top {

// The terminal while it shows a live view: another screen, without an echo of keys. Puts everything
// back at its end. One in a process.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;

  struct Size {
    std::size_t width, height;
  };
  Size size() const;
  void draw(const std::vector<std::string>& lines);
  // Waits so long, or until the user wants to go (q, Ctrl-C, SIGTERM, SIGHUP). False: to go.
  bool wait(std::uint64_t ms);

 private:
  void enter();
  void leave();

  termios before_{};
  bool has_keys_ = false;  // the standard input is a terminal
};

}  // namespace terrane::tools::top
