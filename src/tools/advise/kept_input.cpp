#include "tools/advise/kept_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>

namespace terrane::tools::advise {

base::Result<std::unique_ptr<KeptInput>> KeptInput::begin(const std::string& path) {
  std::unique_ptr<KeptInput> input(new KeptInput());
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0 || ::isatty(STDIN_FILENO) != 0) return input;
  if (S_ISREG(status.st_mode)) {
    std::string own = "/proc/self/fd/0";
    input->file_.reset(::open(own.c_str(), O_RDONLY | O_CLOEXEC));
    if (input->file_ &&
        ::lseek(input->file_.get(), ::lseek(STDIN_FILENO, 0, SEEK_CUR), SEEK_SET) >= 0) {
      input->again_ = input->file_.get();
      return input;
    }
  }
  if (auto begun = input->pump_to(path); !begun) return begun.error();
  return input;
}

base::Result<> KeptInput::pump_to(const std::string& path) {
  file_.reset(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  int ends[2];
  if (!file_ || ::pipe2(ends, O_CLOEXEC) != 0)
    return base::errno_error("the program's input cannot be kept");
  read_end_.reset(ends[0]);
  write_end_.reset(ends[1]);
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!stop_) return base::errno_error("the program's input cannot be kept");
  first_ = read_end_.get();
  again_ = file_.get();
  pump_ = std::thread([this] { pump(write_end_.get()); });
  return {};
}

// Ends with the input, with the first program, or with the room for the file.
void KeptInput::pump(int to) {
  sigset_t broken_pipe;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, nullptr);  // the program need not read all
  char some[65536];
  for (;;) {
    pollfd wait[] = {{STDIN_FILENO, POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(wait, 2, -1) < 0) continue;
    if (wait[1].revents != 0) break;
    ssize_t got = ::read(STDIN_FILENO, some, sizeof some);
    if (got <= 0 || ::write(file_.get(), some, static_cast<std::size_t>(got)) != got) break;
    for (ssize_t done = 0, more = 0; done < got; done += more)
      if ((more = ::write(to, some + done, static_cast<std::size_t>(got - done))) <= 0) return;
  }
  write_end_.reset();
}

void KeptInput::stop() {
  if (!pump_.joinable()) return;
  read_end_.reset();  // a write that waits for the program ends
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t told = ::write(stop_.get(), &one, sizeof one);
  pump_.join();
}

int KeptInput::again() {
  stop();
  if (again_ == file_.get() && first_ != STDIN_FILENO) ::lseek(again_, 0, SEEK_SET);
  return again_;
}

}  // namespace terrane::tools::advise
