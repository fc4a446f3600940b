#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "tools/launch/loop.h"

namespace terrane::tools {

// How many bytes of a stream may be on their way between two hosts: the reader stops there until
// the other end has written some, so that nobody holds more.
inline constexpr std::uint32_t kStreamWindow = 256 * 1024;

// Reads a stream (a pipe, a file) as far as it is allowed to. Owns the descriptor. The descriptor
// may be one that others share: it is not made non-blocking.
class StreamReader {
 public:
  struct Handlers {
    std::function<void(std::string)> on_bytes;
    std::function<void()> on_end;  // once, unless stop() comes first
  };

  StreamReader(Loop& loop, base::UniqueFd fd, Handlers handlers);
  ~StreamReader() { stop(); }
  StreamReader(const StreamReader&) = delete;
  StreamReader& operator=(const StreamReader&) = delete;

  // As many bytes more may be read; at first none.
  void allow(std::uint32_t bytes);
  // What is in the pipe is the last of it: each possible writer has gone.
  void drain();
  void stop();
  bool ended() const { return !fd_; }

 private:
  void read_on();
  void update_watch();
  void end();

  Loop& loop_;
  base::UniqueFd fd_;
  Handlers handlers_;
  std::uint32_t allowed_ = 0;
  bool watched_ = false;
  bool is_file_ = false;  // always ready; cannot be watched
  bool draining_ = false;
  Timer again_;
};

// Writes a stream to a pipe whose reader may be slow; keeps what does not fit. Owns the descriptor
// and makes it non-blocking.
class StreamWriter {
 public:
  struct Handlers {
    std::function<void(std::uint32_t bytes)> on_taken;
    std::function<void()> on_broken;  // nobody reads it any more; the rest is dropped
  };

  StreamWriter(Loop& loop, base::UniqueFd fd, Handlers handlers);
  ~StreamWriter() { close(); }
  StreamWriter(const StreamWriter&) = delete;
  StreamWriter& operator=(const StreamWriter&) = delete;

  void write(std::string_view bytes);
  // Closes the pipe once everything is written.
  void finish();
  void close();
  bool is_open() const { return static_cast<bool>(fd_); }

 private:
  void write_on();

  Loop& loop_;
  base::UniqueFd fd_;
  Handlers handlers_;
  std::string waiting_;
  bool finishing_ = false;
  bool watched_ = false;
};

}  // namespace terrane::tools
