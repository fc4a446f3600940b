#include "frontend/threads/output.h"

#include <limits.h>
#include <poll.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/locked_code.h"
#include "frontend/threads/program.h"
#include "frontend/threads/waiting_texts.h"
#include "platform/fault_signal.h"
#include "runtime/before_operations.h"

extern "C" FILE _IO_2_1_stdout_, _IO_2_1_stderr_;
extern "C" FILE* _IO_list_all;  // linked by their member _chain

namespace terrane::frontend::threads {
namespace {

constexpr std::size_t kMostHeld = 64 << 10;  // of texts for one stream of another node

// The C library's objects themselves: the variables `stdout` and `stderr` are shared memory.
FILE* const own_stdout = &_IO_2_1_stdout_;
FILE* const own_stderr = &_IO_2_1_stderr_;

enum class Mode : std::uint32_t { kFull, kLines, kNone };

Mode mode_of(FILE* stream) {
  constexpr int kUnbuffered = 2;  // _IO_UNBUFFERED
  if ((stream->_flags & kUnbuffered) != 0) return Mode::kNone;
  return __flbf(stream) != 0 ? Mode::kLines : Mode::kFull;
}

bool is_standard(FILE* stream) { return stream == own_stdout || stream == own_stderr; }

// The calling thread's operations send nothing while it lives.
class Sending {
 public:
  Sending() { ++this_thread().keeps_output; }
  ~Sending() { --this_thread().keeps_output; }
  Sending(const Sending&) = delete;
};

// What threads of this node have written to one stream of another node, and what became of it.
struct Held {
  FILE* stream;
  std::uint32_t node = 0;
  std::string text;
  Mode mode = Mode::kNone;          // as of the last text; at first, until it is known
  int error = 0;                    // of a text that was not written
  WaitingTexts* waiting = nullptr;  // where texts may wait on their node, as of the last text
};

// Such texts. Each goes to its node in the order in which it came, by one thread at a time.
class Texts {
 public:
  bool append(std::uint32_t node, FILE* stream, const void* text, std::size_t bytes);
  bool send(FILE* stream);
  // The program ends: texts do not wait any more.
  void end() { ends_.store(true); }
  bool is_empty() const { return held_texts_.load(std::memory_order_acquire) == 0; }

 private:
  Held& of(FILE* stream);
  void send_one(FILE* stream);
  bool take_error(FILE* stream);

  std::mutex sending_;  // before mutex_
  std::mutex mutex_;
  std::vector<Held> all_;
  std::atomic<std::uint32_t> held_texts_{0};  // not empty, or on their way
  std::atomic<bool> ends_{false};
};

Texts& texts() {
  static auto* one = new Texts();
  return *one;
}

// A text as another node writes it to a stream of its own. In shared memory.
struct Put {
  FILE* stream;
  const void* text;
  std::size_t bytes;
  Mode mode;
  int error;
  WaitingTexts* waiting;
};

void* put_here(void* raw) {
  auto& put = *static_cast<Put*>(raw);
  errno = 0;
  bool done = std::fwrite(put.text, 1, put.bytes, put.stream) == put.bytes;
  put.error = done ? 0 : errno != 0 ? errno : EIO;
  put.mode = mode_of(put.stream);
  bool has_buffer = put.mode == Mode::kFull && !is_standard(put.stream);
  put.waiting = has_buffer ? open_waiting_texts(put.stream) : nullptr;
  return nullptr;
}

// The calling thread may be on a private stack, so all of it is made in the heap.
Put put_elsewhere(std::uint32_t node, FILE* stream, const std::string& text) {
  Put put{stream, nullptr, text.size(), Mode::kFull, ENOMEM, nullptr};
  runtime::Heap& heap = Program::get()->heap();
  void* block = heap.allocate(sizeof put + text.size());
  if (block == nullptr) return put;
  auto* there = new (block) Put(put);
  there->text = there + 1;
  std::memcpy(there + 1, text.data(), text.size());
  int error = run_on(node, put_here, there);
  put = *there;
  if (error != 0) put.error = error;
  heap.free(block);
  return put;
}

Held& Texts::of(FILE* stream) {
  for (Held& one : all_)
    if (one.stream == stream) return one;
  all_.push_back({stream, {}});
  return all_.back();
}

bool Texts::append(std::uint32_t node, FILE* stream, const void* text, std::size_t bytes) {
  Private ours;
  bool is_due = false;
  {
    std::lock_guard hold(mutex_);
    Held& held = of(stream);
    if (held.error != 0) {
      errno = std::exchange(held.error, 0);
      return false;
    }
    if (held.text.empty() && bytes != 0) held_texts_.fetch_add(1);
    held.node = node;
    held.text.append(static_cast<const char*>(text), bytes);
    if (is_standard(stream)) held.mode = mode_of(stream);
    is_due = held.text.size() >= kMostHeld || held.mode == Mode::kNone ||
             (held.mode == Mode::kLines && std::memchr(text, '\n', bytes) != nullptr);
  }
  return !is_due || send(stream);
}

// A thread that finds nothing to send waits for one that sends: its own text may be among that.
bool Texts::send(FILE* stream) {
  Private ours;
  Sending sending;
  std::lock_guard hold(sending_);
  std::vector<FILE*> streams{stream};
  if (stream == nullptr) {
    std::lock_guard hold_all(mutex_);
    streams.clear();
    for (const Held& one : all_) streams.push_back(one.stream);
  }
  for (FILE* one : streams) send_one(one);
  return stream == nullptr || take_error(stream);
}

void Texts::send_one(FILE* stream) {
  std::string text;
  Held known{};
  {
    std::lock_guard hold(mutex_);
    text.swap(of(stream).text);
    known = of(stream);
  }
  if (text.empty()) return;
  bool waits = known.waiting != nullptr && !ends_.load() &&
               add_waiting_text(*known.waiting, text.data(), text.size(), known.error);
  if (!waits) {
    Put put = put_elsewhere(known.node, stream, text);
    known.mode = put.mode;
    known.error = put.error;
    known.waiting = put.waiting;
  }
  std::lock_guard hold(mutex_);
  Held& held = of(stream);
  held.mode = known.mode;
  held.error = known.error;
  held.waiting = known.waiting;
  held_texts_.fetch_sub(1);
}

bool Texts::take_error(FILE* stream) {
  std::lock_guard hold(mutex_);
  int error = std::exchange(of(stream).error, 0);
  if (error != 0) errno = error;
  return error == 0;
}

// How often the calling thread has the lock of standard output, by the C library's record of it:
// more often than the program has locked it, and the thread is in a call about the stream, which a
// signal handler has interrupted.
bool is_inside_stdout() {
  struct Lock {  // _IO_lock_t
    int lock, count;
    void* owner;
  };
  const auto* lock = reinterpret_cast<const Lock*>(own_stdout->_lock);
  auto* self = reinterpret_cast<void*>(next<"pthread_self">(::pthread_self)());
  if (lock == nullptr || lock->owner != self) return false;
  return lock->count > static_cast<int>(this_thread().stdout_locks);
}

// Threads of this node that have locked standard output and found it flushed then.
std::atomic<std::uint32_t> stdout_lockers{0};

// Where another thread has locked standard output, only that thread has written to it since.
void flush_stdout() {
  if (next<"__fpending">(::__fpending)(own_stdout) == 0 || is_inside_stdout()) return;
  for (useconds_t us = 0; next<"ftrylockfile">(::ftrylockfile)(own_stdout) != 0; ++us) {
    if (stdout_lockers.load() != 0) return;
    next<"usleep">(::usleep)(std::min<useconds_t>(us, 100));
  }
  next<"fflush_unlocked">(::fflush_unlocked)(own_stdout);
  next<"funlockfile">(::funlockfile)(own_stdout);
}

void send_before_operation() {
  if (next<"__fpending">(::__fpending)(own_stdout) == 0 && texts().is_empty()) return;
  const ThreadState& me = this_thread();
  bool is_programs = me.record != nullptr || me.has_run;
  if (!is_programs || me.keeps_output != 0 || runtime::is_in_operation() ||
      platform::is_in_fault_handler())
    return;
  int before = errno;
  Sending sending;
  flush_stdout();
  if (!texts().is_empty()) texts().send(nullptr);
  errno = before;
}

bool is_pipe(int fd) {
  struct stat facts {};
  return next<"fstat">(::fstat)(fd, &facts) == 0 && S_ISFIFO(facts.st_mode);
}

// How many of the first bytes go in one write, of a pipe, where larger ones may be cut: whole
// lines.
std::size_t piece_of(const char* text, std::size_t bytes) {
  if (bytes <= PIPE_BUF) return bytes;
  const void* end = ::memrchr(text, '\n', PIPE_BUF);
  return end == nullptr ? PIPE_BUF
                        : static_cast<std::size_t>(static_cast<const char*>(end) - text) + 1;
}

// More than the stream's buffer holds, under the stream's lock.
std::size_t write_past(FILE* stream, const char* text, std::size_t bytes) {
  constexpr int kError = 0x20;  // _IO_ERR_SEEN
  bool in_pieces = is_pipe(stream->_fileno);
  std::size_t done = 0;
  while (done < bytes) {
    std::size_t asked = in_pieces ? piece_of(text + done, bytes - done) : bytes - done;
    ssize_t taken = next<"write">(::write)(stream->_fileno, text + done, asked);
    if (taken > 0) {
      done += static_cast<std::size_t>(taken);
    } else if (errno != EINTR) {
      stream->_flags |= kError;
      break;
    }
  }
  if (stream->_offset >= 0) stream->_offset += static_cast<off_t>(done);
  return done;
}

// A buffer before the first text needs one: of the size that the C library would take, since
// put_output asks how large it is.
void give_stdout_a_buffer() {
  struct stat facts {};
  if (next<"__fbufsize">(::__fbufsize)(own_stdout) != 0 || mode_of(own_stdout) != Mode::kFull)
    return;
  if (::isatty(STDOUT_FILENO) != 0 || next<"fstat">(::fstat)(STDOUT_FILENO, &facts) != 0) return;
  auto bytes = static_cast<std::size_t>(facts.st_blksize);
  if (S_ISFIFO(facts.st_mode)) bytes = PIPE_BUF;
  auto* buffer = static_cast<char*>(std::malloc(bytes));
  if (buffer != nullptr) next<"setvbuf">(::setvbuf)(own_stdout, buffer, _IOFBF, bytes);
}

}  // namespace

OutputFile output_file(int fd) {
  struct stat facts {};
  bool is_own = std::getenv("TERRANE_TAG_OUTPUT") != nullptr;
  if (next<"fstat">(::fstat)(fd, &facts) != 0) return {0, 0, is_own};
  return {facts.st_dev, facts.st_ino, is_own};
}

bool is_same_output(const OutputFile& first, const OutputFile& other, bool same_host) {
  if (other.is_own != 0) return true;
  return same_host && first.device == other.device && first.inode == other.inode;
}

void share_output() {
  Private ours;
  give_stdout_a_buffer();
  texts();
  runtime::before_operations().store(send_before_operation);
  send_before_atomics(own_stdout);
}

bool append_output(std::uint32_t node, std::FILE* stream, const void* text, std::size_t bytes) {
  return texts().append(node, stream, text, bytes);
}

bool send_output(std::FILE* stream) { return texts().is_empty() || texts().send(stream); }

void set_buffer_of_output(std::FILE* stream, int mode, std::size_t bytes) {
  if (is_pipe(stream->_fileno)) bytes = std::min<std::size_t>(bytes, PIPE_BUF);
  next<"setvbuf">(::setvbuf)(stream, nullptr, mode, bytes);
  if (stream == own_stdout) give_stdout_a_buffer();
}

// The C library would fill the rest of its buffer first, so that a line is written in two parts.
std::size_t put_output(std::FILE* stream, const void* text, std::size_t bytes) {
  std::size_t room = next<"__fbufsize">(::__fbufsize)(stream);
  std::size_t used = next<"__fpending">(::__fpending)(stream);
  bool is_full = mode_of(stream) == Mode::kFull && room != 0;
  if (is_full && used != 0 && used + bytes > room &&
      next<"fflush_unlocked">(::fflush_unlocked)(stream) != 0)
    return 0;
  if (is_full && bytes > room) return write_past(stream, static_cast<const char*>(text), bytes);
  return next<"fwrite_unlocked">(::fwrite_unlocked)(text, 1, bytes, stream);
}

bool lock_stream(std::FILE* stream, bool waits) {
  Private ours;
  if (pages::Hold* hold = pages::find_hold(stream)) {
    ++hold->times;
  } else {
    auto until = waits ? pages::kForEver : pages::kNoWait;
    auto result = Program::get()->node().lock_until(lock_of(stream), until);
    if (result != protocol::LockResult::kOk) return false;
    pages::add_hold(stream, true);
  }
  return true;
}

void unlock_stream(std::FILE* stream) {
  pages::Hold* hold = pages::find_hold(stream);
  if (hold == nullptr || --hold->times != 0) return;
  Private ours;
  pages::drop_hold(stream);
  Program::get()->node().unlock_held(lock_of(stream));
}

void stdout_is_locked() {
  if (this_thread().stdout_locks++ != 0) return;
  next<"fflush_unlocked">(::fflush_unlocked)(own_stdout);
  stdout_lockers.fetch_add(1);
}

void stdout_is_unlocked() {
  if (--this_thread().stdout_locks != 0) return;
  next<"fflush_unlocked">(::fflush_unlocked)(own_stdout);
  stdout_lockers.fetch_sub(1);
}

// A thread that waits for the end, or for input, may have the lock of a stream: such a stream is
// flushed without the lock, as by the exit of the C library. Streams that are read give back to
// their file what the program has not read.
void flush_output() {
  constexpr int kMostTries = 100;
  std::cout.flush();
  write_all_waiting_texts();
  for (FILE* stream = _IO_list_all; stream != nullptr; stream = stream->_chain) {
    bool holds = next<"ftrylockfile">(::ftrylockfile)(stream) == 0;
    for (int tries = 0; !holds && tries < kMostTries && __fpending(stream) != 0; ++tries) {
      next<"usleep">(::usleep)(100);
      holds = next<"ftrylockfile">(::ftrylockfile)(stream) == 0;
    }
    if (holds || __fpending(stream) != 0) next<"fflush_unlocked">(::fflush_unlocked)(stream);
    if (holds) next<"funlockfile">(::funlockfile)(stream);
  }
  if (Elsewhere::get() == nullptr) return;
  texts().end();
  send_output(nullptr);
}

// Another thread may be writing the same bytes; afterwards no thread has them to write.
void flush_output_of_crash() {
  constexpr int kMostTries = 100;
  FILE* out = own_stdout;
  for (int tries = 0; next<"ftrylockfile">(::ftrylockfile)(out) != 0; ++tries) {
    if (tries == kMostTries) return;
    next<"usleep">(::usleep)(100);
  }
  const char* from = out->_IO_write_base;
  if (from == nullptr || out->_IO_write_ptr <= from) return;
  auto bytes = static_cast<std::size_t>(out->_IO_write_ptr - from);
  out->_IO_write_ptr = out->_IO_write_base;
  while (bytes > 0) {
    ssize_t taken = ::write(STDOUT_FILENO, from, bytes);
    if (taken <= 0) return;
    from += taken;
    bytes -= static_cast<std::size_t>(taken);
  }
}

}  // namespace terrane::frontend::threads
