#include "frontend/threads/waiting_texts.h"

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "frontend/interpose/next.h"
#include "frontend/threads/program.h"

namespace terrane::frontend::threads {
namespace {

struct Known {
  FILE* stream;
  WaitingTexts* waiting;
};

// Of this node's streams. An address that the C library uses again has the same texts again.
struct Streams {
  std::mutex mutex;
  std::vector<Known> all;
  std::atomic<bool> has_any{false};
};

Streams& streams() {
  static auto* one = new Streams();
  return *one;
}

WaitingTexts* find(FILE* stream) {
  if (!streams().has_any.load(std::memory_order_acquire)) return nullptr;
  Private ours;
  std::lock_guard hold(streams().mutex);
  for (const Known& one : streams().all)
    if (one.stream == stream) return one.waiting;
  return nullptr;
}

// The lock of the stream comes first: a thread of the program may have it and wait for texts here.
// The kernel sees private memory alone.
void write(FILE* stream, WaitingTexts& waiting, bool closes) {
  int before = errno;
  next<"flockfile">(::flockfile)(stream);
  {
    Holding hold(&waiting);
    Private ours;
    std::string text(waiting.text, std::exchange(waiting.used, 0));
    errno = 0;
    std::size_t written =
        next<"fwrite_unlocked">(::fwrite_unlocked)(text.data(), 1, text.size(), stream);
    if (written != text.size()) waiting.error = errno != 0 ? errno : EIO;
    if (closes) waiting.is_open = 0;
  }
  next<"funlockfile">(::funlockfile)(stream);
  errno = before;
}

}  // namespace

WaitingTexts* open_waiting_texts(FILE* stream) {
  WaitingTexts* waiting = find(stream);
  if (waiting == nullptr) {
    waiting = static_cast<WaitingTexts*>(Program::get()->heap().allocate(sizeof(WaitingTexts)));
    if (waiting == nullptr) return nullptr;
    waiting->is_open = waiting->used = 0;
    Private ours;
    std::lock_guard hold(streams().mutex);
    streams().all.push_back({stream, waiting});
    streams().has_any.store(true, std::memory_order_release);
  }
  Holding hold(waiting);
  if (waiting->is_open == 0) waiting->error = 0;
  waiting->is_open = 1;
  return waiting;
}

bool add_waiting_text(WaitingTexts& waiting, const char* text, std::size_t bytes, int& error) {
  Holding hold(&waiting);
  if (waiting.is_open == 0 || bytes > WaitingTexts::kRoom - waiting.used) return false;
  std::memcpy(waiting.text + waiting.used, text, bytes);
  waiting.used += static_cast<std::uint32_t>(bytes);
  error = std::exchange(waiting.error, 0);
  return true;
}

void write_waiting_texts(FILE* stream) {
  WaitingTexts* waiting = find(stream);
  if (waiting != nullptr && waiting->used != 0) write(stream, *waiting, false);
}

void close_waiting_texts(FILE* stream) {
  if (WaitingTexts* waiting = find(stream)) write(stream, *waiting, true);
}

void write_all_waiting_texts() {
  Private ours;
  std::vector<Known> all;
  {
    std::lock_guard hold(streams().mutex);
    all = streams().all;
  }
  for (const Known& one : all)
    if (one.waiting->is_open != 0 && one.waiting->used != 0) write(one.stream, *one.waiting, false);
}

}  // namespace terrane::frontend::threads
