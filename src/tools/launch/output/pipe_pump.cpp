#include "tools/launch/output/pipe_pump.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace terrane::tools {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;

}  // namespace

StreamReader::StreamReader(Loop& loop, base::UniqueFd fd, Handlers handlers)
    : loop_(loop),
      fd_(std::move(fd)),
      handlers_(std::move(handlers)),
      again_(loop, [this] { read_on(); }) {
  struct stat status {};
  is_file_ =
      ::fstat(fd_.get(), &status) == 0 && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
}

void StreamReader::allow(std::uint32_t bytes) {
  allowed_ += bytes;
  update_watch();
}

void StreamReader::drain() {
  draining_ = true;
  update_watch();
}

void StreamReader::stop() {
  if (watched_) loop_.forget(fd_.get());
  watched_ = false;
  again_.clear();
  fd_.reset();
}

// Watched only while it may be read: a pipe at its end would be ready without end.
void StreamReader::update_watch() {
  if (!fd_) return;
  bool wanted = allowed_ > 0;
  if (wanted && (is_file_ || draining_)) return again_.set_in(0);
  if (wanted == watched_) return;
  if (watched_) {
    loop_.forget(fd_.get());
    watched_ = false;
  } else {
    watched_ = loop_.watch(fd_.get(), EPOLLIN, [this](std::uint32_t) { read_on(); });
    if (!watched_) {  // what cannot be watched is always ready
      is_file_ = true;
      again_.set_in(0);
    }
  }
}

void StreamReader::read_on() {
  if (!fd_ || allowed_ == 0) return;
  pollfd ready{fd_.get(), POLLIN, 0};
  if (::poll(&ready, 1, 0) == 0) {
    if (draining_) end();
    return;
  }
  std::string bytes(std::min<std::size_t>(kReadBytes, allowed_), '\0');
  ssize_t got = ::read(fd_.get(), bytes.data(), bytes.size());
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return update_watch();
  if (got <= 0) return end();
  bytes.resize(static_cast<std::size_t>(got));
  allowed_ -= static_cast<std::uint32_t>(got);
  handlers_.on_bytes(std::move(bytes));
  update_watch();
}

void StreamReader::end() {
  stop();
  handlers_.on_end();
}

StreamWriter::StreamWriter(Loop& loop, base::UniqueFd fd, Handlers handlers)
    : loop_(loop), fd_(std::move(fd)), handlers_(std::move(handlers)) {
  ::fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
}

void StreamWriter::write(std::string_view bytes) {
  if (!fd_) return;
  waiting_ += bytes;
  write_on();
}

void StreamWriter::finish() {
  finishing_ = true;
  write_on();
}

void StreamWriter::close() {
  if (watched_) loop_.forget(fd_.get());
  watched_ = false;
  fd_.reset();
}

void StreamWriter::write_on() {
  std::size_t done = 0;
  while (fd_ && done < waiting_.size()) {
    ssize_t wrote = ::write(fd_.get(), waiting_.data() + done, waiting_.size() - done);
    if (wrote > 0) {
      done += static_cast<std::size_t>(wrote);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      close();
      waiting_.clear();
      return handlers_.on_broken();
    }
  }
  waiting_.erase(0, done);
  bool wants_room = fd_ && !waiting_.empty();
  if (wants_room != watched_ && fd_) {
    if (watched_) loop_.forget(fd_.get());
    watched_ =
        wants_room && loop_.watch(fd_.get(), EPOLLOUT, [this](std::uint32_t) { write_on(); });
  }
  if (finishing_ && waiting_.empty()) close();
  if (done != 0) handlers_.on_taken(static_cast<std::uint32_t>(done));
}

}  // namespace terrane::tools
