// The printf family on streams and descriptors: the C library hands a string that is longer than
// its own buffer to the kernel as it lies. So the text is made in private memory first.
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "frontend/interpose/next.h"
#include "frontend/interpose/shared_range.h"

using terrane::frontend::next;
using terrane::frontend::SharedRange;

extern "C" {
int __vsnprintf_chk(char*, size_t, int, size_t, const char*, va_list) noexcept;
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __vdprintf_chk(int, int, const char*, va_list);
}

namespace {

constexpr int kUnchecked = -1;  // instead of the flag of the checking forms

// The text of one call. Owns its memory.
class Text {
 public:
  Text(int flag, const char* format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    size_ = make(flag, own_, sizeof own_, format, again);
    va_end(again);
    if (size_ < static_cast<int>(sizeof own_)) return;
    std::size_t room = static_cast<std::size_t>(size_) + 1;
    long_ = static_cast<char*>(std::malloc(room));
    size_ = long_ == nullptr ? -1 : make(flag, long_, room, format, arguments);
  }
  ~Text() { std::free(long_); }
  Text(const Text&) = delete;

  const char* data() const { return long_ != nullptr ? long_ : own_; }
  int size() const { return size_; }  // -1: there is none, errno says why

 private:
  static int make(int flag, char* to, std::size_t room, const char* format, va_list arguments) {
    if (flag == kUnchecked) return std::vsnprintf(to, room, format, arguments);
    return __vsnprintf_chk(to, room, flag, room, format, arguments);
  }

  char own_[512];
  char* long_ = nullptr;
  int size_;
};

int print(FILE* stream, int flag, const char* format, va_list arguments) {
  Text text(flag, format, arguments);
  if (text.size() <= 0) return text.size();
  auto bytes = static_cast<std::size_t>(text.size());
  return std::fwrite(text.data(), 1, bytes, stream) == bytes ? text.size() : -1;
}

int print(int fd, int flag, const char* format, va_list arguments) {
  Text text(flag, format, arguments);
  for (int done = 0; done < text.size();) {
    ssize_t taken = write(fd, text.data() + done, static_cast<std::size_t>(text.size() - done));
    if (taken <= 0) return -1;
    done += static_cast<int>(taken);
  }
  return text.size();
}

}  // namespace

// Which of the arguments lie in shared memory only the format knows: all calls go this way once the
// process has shared memory.
#pragma GCC visibility push(default)
extern "C" {

int vfprintf(FILE* stream, const char* format, va_list arguments) {
  if (SharedRange::exists()) return print(stream, kUnchecked, format, arguments);
  return next<"vfprintf">(::vfprintf)(stream, format, arguments);
}

int __vfprintf_chk(FILE* stream, int flag, const char* format, va_list arguments) {
  if (SharedRange::exists()) return print(stream, flag, format, arguments);
  return next<"__vfprintf_chk">(::__vfprintf_chk)(stream, flag, format, arguments);
}

int vdprintf(int fd, const char* format, va_list arguments) {
  if (SharedRange::exists()) return print(fd, kUnchecked, format, arguments);
  return next<"vdprintf">(::vdprintf)(fd, format, arguments);
}

int __vdprintf_chk(int fd, int flag, const char* format, va_list arguments) {
  if (SharedRange::exists()) return print(fd, flag, format, arguments);
  return next<"__vdprintf_chk">(::__vdprintf_chk)(fd, flag, format, arguments);
}

}  // extern "C"
#pragma GCC visibility pop
