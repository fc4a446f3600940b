// Streams. The C library copies small pieces by itself, which faults as any access does, but hands
// the program's buffer to the kernel where it is larger than the stream's own.
#include <cstdio>
#include <cstring>
#include <string>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/interpose/transfer.h"

using namespace terrane::frontend;

namespace {

// The stream's lock, held over all the pieces of one call. Streams that the C library makes for
// itself, such as what functions of register_printf_specifier get, have none.
class Locked {
 public:
  explicit Locked(FILE* stream) : stream_(stream->_lock != nullptr ? stream : nullptr) {
    if (stream_ != nullptr) next<"flockfile">(::flockfile)(stream_);
  }
  ~Locked() {
    if (stream_ != nullptr) next<"funlockfile">(::funlockfile)(stream_);
  }
  Locked(const Locked&) = delete;

 private:
  FILE* stream_;
};

bool is_common(FILE* stream) {
  Elsewhere* elsewhere = Elsewhere::get();
  return elsewhere != nullptr && elsewhere->is_common(stream);
}

// Whether the C library's own function writes a text right.
bool is_plain(const void* text, FILE* stream) {
  return !SharedRange::contains(text) && !is_common(stream);
}

// `bytes` in pieces; how many were moved.
std::size_t read_stream(void* to, std::size_t bytes, FILE* stream) {
  auto* call = next<"fread_unlocked">(::fread_unlocked);
  std::size_t done = 0;
  while (done < bytes) {
    std::size_t asked = std::min(bytes - done, kReadStep);
    ssize_t got = receive(-1, static_cast<std::byte*>(to) + done, asked,
                          [=](void* own, std::size_t n, std::size_t) {
                            return static_cast<ssize_t>(call(own, 1, n, stream));
                          });
    if (got <= 0) break;
    done += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < asked) break;
  }
  return done;
}

std::size_t write_stream(const void* from, std::size_t bytes, FILE* stream) {
  auto* call = next<"fwrite_unlocked">(::fwrite_unlocked);
  bool common = is_common(stream);
  if (common && !SharedRange::contains(from)) return Elsewhere::get()->put(stream, from, bytes);
  std::size_t done = 0;
  while (done < bytes) {
    std::size_t asked = std::min(bytes - done, kMostBytes);
    ssize_t taken = deliver(static_cast<const std::byte*>(from) + done, asked,
                            [=](const void* own, std::size_t n, std::size_t) {
                              std::size_t put = common ? Elsewhere::get()->put(stream, own, n)
                                                       : call(own, 1, n, stream);
                              return static_cast<ssize_t>(put);
                            });
    if (taken <= 0) break;
    done += static_cast<std::size_t>(taken);
    if (static_cast<std::size_t>(taken) < asked) break;
  }
  return done;
}

// A call on the node of the stream; how many items.
std::size_t read_elsewhere(void* to, std::size_t size, std::size_t count, FILE* stream) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes)) bytes = ~std::size_t{0} / 2;
  OutShared shared(to, bytes);
  if (shared.get() == nullptr) return 0;
  auto got =
      static_cast<ssize_t>(call_elsewhere(stream, ::fread, shared.get(), size, count, stream));
  if (got > 0) shared.done(static_cast<std::size_t>(got) * size);
  return got < 0 ? 0 : static_cast<std::size_t>(got);
}

std::size_t write_elsewhere(const void* from, std::size_t size, std::size_t count, FILE* stream) {
  return Elsewhere::get()->append(stream, from, size * count) ? count : 0;
}

bool write_string_elsewhere(const char* text, FILE* stream) {
  return Elsewhere::get()->append(stream, text, std::strlen(text));
}

std::size_t write_string(const char* text, FILE* stream) {
  return write_stream(text, std::strlen(text), stream);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  if (is_elsewhere(stream)) return read_elsewhere(to, size, count, stream);
  if (!SharedRange::contains(to))
    return next<"fread_unlocked">(::fread_unlocked)(to, size, count, stream);
  return size == 0 ? 0 : read_stream(to, size * count, stream) / size;
}

size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  if (is_elsewhere(stream)) return read_elsewhere(to, size, count, stream);
  if (!SharedRange::contains(to)) return next<"fread">(::fread)(to, size, count, stream);
  Locked hold(stream);
  return size == 0 ? 0 : read_stream(to, size * count, stream) / size;
}

size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  if (is_elsewhere(stream)) return write_elsewhere(from, size, count, stream);
  if (is_plain(from, stream))
    return next<"fwrite_unlocked">(::fwrite_unlocked)(from, size, count, stream);
  return size == 0 ? 0 : write_stream(from, size * count, stream) / size;
}

size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  if (is_elsewhere(stream)) return write_elsewhere(from, size, count, stream);
  if (is_plain(from, stream)) return next<"fwrite">(::fwrite)(from, size, count, stream);
  Locked hold(stream);
  return size == 0 ? 0 : write_stream(from, size * count, stream) / size;
}

int fputs_unlocked(const char* text, FILE* stream) {
  if (is_elsewhere(stream)) return write_string_elsewhere(text, stream) ? 1 : EOF;
  if (is_plain(text, stream)) return next<"fputs_unlocked">(::fputs_unlocked)(text, stream);
  return write_string(text, stream) == std::strlen(text) ? 1 : EOF;
}

int fputs(const char* text, FILE* stream) {
  if (is_elsewhere(stream)) return write_string_elsewhere(text, stream) ? 1 : EOF;
  if (is_plain(text, stream)) return next<"fputs">(::fputs)(text, stream);
  Locked hold(stream);
  return write_string(text, stream) == std::strlen(text) ? 1 : EOF;
}

int puts(const char* text) {
  if (!is_elsewhere(stdout) && is_plain(text, stdout)) return next<"puts">(::puts)(text);
  std::string line = std::string(text) + "\n";
  return fputs(line.c_str(), stdout);
}

// A buffer in shared memory is not used: the kernel would write to it and read from it. A program
// cannot tell, for what its buffer holds is nobody's business but the stream's.
int setvbuf(FILE* stream, char* buffer, int mode, size_t bytes) noexcept {
  Elsewhere* elsewhere = Elsewhere::get();
  if (elsewhere != nullptr && elsewhere->set_buffer(stream, mode, bytes)) return 0;
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::setvbuf, stream, buffer, mode, bytes);
  bool shared = SharedRange::contains(buffer);
  return next<"setvbuf">(::setvbuf)(stream, shared ? nullptr : buffer, mode, bytes);
}

}  // extern "C"
#pragma GCC visibility pop
