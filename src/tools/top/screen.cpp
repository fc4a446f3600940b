#include "tools/top/screen.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "tools/launch/loop.h"

namespace terrane::tools::top {
namespace {

std::atomic<bool> wants_to_go{false}, wants_to_stop{false};

void on_signal(int number) { (number == SIGTSTP ? wants_to_stop : wants_to_go) = true; }

void write_all(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    ssize_t written = ::write(STDOUT_FILENO, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

}  // namespace

Screen::Screen() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) ::sigaction(number, &action, nullptr);
  action.sa_handler = [](int) {};  // ends a wait: the size has changed
  ::sigaction(SIGWINCH, &action, nullptr);
  has_keys_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
  enter();
}

Screen::~Screen() { leave(); }

void Screen::enter() {
  if (has_keys_) {
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSANOW, &quiet);
  }
  write_all("\033[?1049h\033[?25l");
}

void Screen::leave() {
  write_all("\033[?25h\033[?1049l");
  if (has_keys_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

Screen::Size Screen::size() const {
  winsize size{};
  bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? Size{size.ws_col, size.ws_row} : Size{80, 24};
}

void Screen::draw(const std::vector<std::string>& lines) {
  std::string text = "\033[H";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    bool is_head = i == 0 || lines[i].find_first_of("abcdefghijklmnopqrstuvwxyz0123456789") ==
                                 std::string::npos;
    if (is_head) text += "\033[1m";
    text += lines[i];
    if (is_head) text += "\033[0m";
    text += i + 1 < lines.size() ? "\033[K\r\n" : "\033[K";
  }
  write_all(text + "\033[J");
}

bool Screen::wait(std::uint64_t ms) {
  std::uint64_t until = now_ms() + ms;
  for (;;) {
    if (wants_to_go) return false;
    if (wants_to_stop.exchange(false)) {
      leave();
      ::raise(SIGSTOP);
      enter();
      return true;
    }
    std::uint64_t now = now_ms();
    if (now >= until) return true;
    pollfd keys{has_keys_ ? STDIN_FILENO : -1, POLLIN, 0};
    int ready = ::poll(&keys, 1, static_cast<int>(std::min<std::uint64_t>(until - now, 60'000)));
    if (ready < 0 && errno == EINTR && !wants_to_go && !wants_to_stop) return true;
    if (ready <= 0) continue;
    char key = 0;
    if (::read(STDIN_FILENO, &key, 1) <= 0) {
      has_keys_ = false;
    } else if (key == 'q' || key == 'Q') {
      return false;
    } else if (key == ' ') {
      return true;
    }
  }
}

}  // namespace terrane::tools::top
