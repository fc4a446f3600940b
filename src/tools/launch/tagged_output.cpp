#include "tools/launch/tagged_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace terrane::tools {
namespace {

constexpr std::size_t kReadSize = 64 * 1024;

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
    } else if (errno != EINTR) {
      text.clear();
      return false;
    }
  }
  text.clear();
  return true;
}

struct Stream {
  base::UniqueFd fd;
  bool is_error;
  LineTagger tagger;
};

// Takes in what there is to read. False: the stream has ended.
bool take(Stream& stream, std::vector<char>& buffer, std::string& out) {
  ssize_t got = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (got > 0) {
    stream.tagger.add({buffer.data(), static_cast<std::size_t>(got)}, out);
    return true;
  }
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  stream.tagger.finish(out);
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

// Until every stream has ended. A stream whose reader has gone is closed, so that its writers learn
// of it (SIGPIPE).
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

LineTagger::LineTagger(std::uint32_t node) : tag_(fmt::format("[{}] ", node)) {}

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
    std::size_t room = TaggedOutput::kMaxLine - rest_.size();
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

base::Result<> TaggedOutput::open() {
  for (Pipe& pipe : pipes_) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) {
      return base::errno_error("cannot make the pipes for --tag-output");
    }
    pipe.read.reset(ends[0]);
    pipe.write.reset(ends[1]);
  }
  return {};
}

base::Result<pid_t> TaggedOutput::start() {
  pid_t parent = ::getpid();
  pid_t child = ::fork();
  if (child < 0) return base::errno_error("cannot start the process for --tag-output");
  if (child == 0) {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::prctl(PR_SET_NAME, "tagged-output");
    if (::getppid() != parent) ::_exit(1);
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < pipes_.size(); ++i) {
      streams.push_back(
          {std::move(pipes_[i].read), i % 2 == 1, LineTagger(static_cast<std::uint32_t>(i / 2))});
    }
    keep_only(streams);
    pump(std::move(streams));
    ::_exit(0);
  }
  for (Pipe& pipe : pipes_) pipe.read.reset();
  return child;
}

}  // namespace terrane::tools
