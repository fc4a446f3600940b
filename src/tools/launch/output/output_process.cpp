#include "tools/launch/output/output_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "tools/launch/output/line_tagger.h"

namespace terrane::tools {
namespace {

constexpr std::size_t kReadSize = 64 * 1024;

// What is written has nowhere to go: the disk is full, say. Its number is the process's exit code.
[[noreturn]] void give_up(int error) { ::_exit(error); }

// False: the reader of our output has gone.
bool write_all(int fd, std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {  // somebody made our output non-blocking
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno == EPIPE) {
      text.clear();
      return false;
    } else if (errno != EINTR) {
      give_up(errno);
    }
  }
  text.clear();
  return true;
}

struct Stream {
  base::UniqueFd fd;
  bool is_error;
  std::optional<LineTagger> tagger;
};

// Takes in what there is to read. False: the stream has ended.
bool take(Stream& stream, std::vector<char>& buffer, std::string& out) {
  ssize_t got = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (got > 0) {
    std::string_view text(buffer.data(), static_cast<std::size_t>(got));
    if (stream.tagger) {
      stream.tagger->add(text, out);
    } else {
      out += text;
    }
    return true;
  }
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (stream.tagger) stream.tagger->finish(out);
  return false;
}

// Closes every descriptor of the launcher but the standard ones and the streams': it must not keep
// sockets or pipes of the job alive.
void keep_only(const std::vector<Stream>& streams) {
  std::vector<unsigned> kept{STDERR_FILENO};
  for (const Stream& stream : streams) kept.push_back(static_cast<unsigned>(stream.fd.get()));
  std::sort(kept.begin(), kept.end());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    unsigned last = i + 1 < kept.size() ? kept[i + 1] - 1 : ~0u;
    if (kept[i] + 1 <= last) ::close_range(kept[i] + 1, last, 0);
  }
}

// Until every stream has ended.
void pump(std::vector<Stream> streams) {
  std::vector<char> buffer(kReadSize);
  std::vector<pollfd> ready;
  bool broken[2] = {false, false};
  while (!streams.empty()) {
    ready.clear();
    for (const Stream& stream : streams) ready.push_back({stream.fd.get(), POLLIN, 0});
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    std::string out[2];
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (ready[i].revents == 0) continue;
      if (!take(streams[i], buffer, out[streams[i].is_error])) streams[i].fd.reset();
    }
    for (int which : {0, 1}) {
      if (!write_all(which == 0 ? STDOUT_FILENO : STDERR_FILENO, out[which])) broken[which] = true;
    }
    std::erase_if(streams, [&](const Stream& s) { return !s.fd || broken[s.is_error]; });
  }
}

}  // namespace

std::optional<std::string> OutputProcess::failure(int status) {
  if (!WIFEXITED(status) || WEXITSTATUS(status) == 0) return std::nullopt;
  return fmt::format(
      "the job's output cannot be written ({}); make room, or send it elsewhere: terrane run ... > "
      "FILE",
      std::strerror(WEXITSTATUS(status)));
}

base::Result<base::UniqueFd> OutputProcess::add(bool is_error, std::optional<std::string> tag) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) < 0) return base::errno_error("cannot make the pipes for output");
  pipes_.push_back({base::UniqueFd(ends[0]), is_error, std::move(tag)});
  return base::UniqueFd(ends[1]);
}

void OutputProcess::work(pid_t parent, int nice, int output, int error) {
  ::setpriority(PRIO_PROCESS, 0, nice);
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "job-output");
  if (::getppid() != parent) ::_exit(1);
  if (output >= 0) ::dup2(output, STDOUT_FILENO);
  if (error >= 0) ::dup2(error, STDERR_FILENO);
  std::vector<Stream> streams;
  for (Pipe& pipe : pipes_) {
    std::optional<LineTagger> tagger;
    if (pipe.tag) tagger.emplace(*pipe.tag);
    streams.push_back({std::move(pipe.read), pipe.is_error, std::move(tagger)});
  }
  keep_only(streams);
  pump(std::move(streams));
  ::_exit(0);
}

base::Result<pid_t> OutputProcess::start(int nice, int output, int error) {
  pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child < 0) return base::errno_error("cannot start the process that writes the output");
  if (child == 0) work(parent, nice, output, error);
  pipes_.clear();
  return child;
}

}  // namespace terrane::tools
