// Calls about a stream that moves or asks for little: on the node that has opened it. Those that
// move many bytes are in frontend/interpose.
#include <stdio.h>
#include <string.h>

#include <cstdarg>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/call_headers.h"
#include "frontend/threads/output.h"
#include "frontend/threads/program.h"
#include "frontend/threads/waiting_texts.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::Elsewhere;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::OutShared;
using terrane::frontend::threads::lock_stream;
using terrane::frontend::threads::stdout_is_locked;
using terrane::frontend::threads::stdout_is_unlocked;
using terrane::frontend::threads::unlock_stream;

namespace {

// Whether the call is the program's, on several nodes. Libraries of the runtime have streams of
// their own, maybe in an operation of the node.
bool is_programs_call() {
  return Elsewhere::get() != nullptr && terrane::frontend::threads::is_in_program();
}

char* get_line_elsewhere(char* to, int bytes, FILE* stream) {
  OutShared shared(to, static_cast<size_t>(bytes));
  if (shared.get() == nullptr) return nullptr;
  char* line = call_elsewhere(stream, ::fgets, static_cast<char*>(shared.get()), bytes, stream);
  if (line == nullptr) return nullptr;
  shared.done(strlen(line) + 1);
  return to;
}

using Scan = int(FILE*, const char*, va_list);

int scan_elsewhere(Scan* function, FILE* stream, const char* format, va_list arguments) {
  auto scan = +[](Scan* call, FILE* there, const char* text, va_list* all) {
    return call(there, text, *all);
  };
  va_list own;
  va_copy(own, arguments);
  int read = call_elsewhere(stream, scan, function, stream, format, &own);
  va_end(own);
  return read;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int terrane_vfscanf(FILE*, const char*, va_list) __asm__("vfscanf");
int terrane_vscanf(const char*, va_list) __asm__("vscanf");
int terrane_fscanf(FILE*, const char*, ...) __asm__("fscanf");
int terrane_scanf(const char*, ...) __asm__("scanf");

int fputc(int byte, FILE* stream) {
  if (is_elsewhere(stream)) {
    auto text = static_cast<unsigned char>(byte);
    return Elsewhere::get()->append(stream, &text, 1) ? text : EOF;
  }
  return next<"fputc">(::fputc)(byte, stream);
}

char* fgets(char* to, int bytes, FILE* stream) {
  if (is_elsewhere(stream) && bytes > 0) return get_line_elsewhere(to, bytes, stream);
  return next<"fgets">(::fgets)(to, bytes, stream);
}

// Texts of this node go to the node of the stream before the call does, since that is an operation.
int fflush(FILE* stream) {
  bool failed = stream == nullptr && Elsewhere::get() != nullptr && !Elsewhere::get()->flush_all();
  if (failed) return EOF;
  if (stream != nullptr && is_elsewhere(stream)) {
    if (!terrane::frontend::threads::send_output(stream)) return EOF;
    return call_elsewhere(stream, ::fflush, stream);
  }
  return next<"fflush">(::fflush)(stream);
}

int fclose(FILE* stream) {
  if (is_elsewhere(stream)) {
    bool sent = terrane::frontend::threads::send_output(stream);
    int closed = call_elsewhere(stream, ::fclose, stream);
    return sent ? closed : EOF;
  }
  if (is_programs_call()) terrane::frontend::threads::close_waiting_texts(stream);
  return next<"fclose">(::fclose)(stream);
}

int pclose(FILE* stream) {
  if (is_elsewhere(stream)) {
    terrane::frontend::threads::send_output(stream);
    return call_elsewhere(stream, ::pclose, stream);
  }
  if (is_programs_call()) terrane::frontend::threads::close_waiting_texts(stream);
  return next<"pclose">(::pclose)(stream);
}

void rewind(FILE* stream) {
  if (!is_elsewhere(stream)) return next<"rewind">(::rewind)(stream);
  fseeko(stream, 0, SEEK_SET);
  clearerr(stream);
}

static_assert(sizeof(fpos_t) == sizeof(fpos64_t));

void clearerr(FILE* stream) noexcept {
  if (!is_elsewhere(stream)) return next<"clearerr">(::clearerr)(stream);
  auto clear = +[](FILE* there) {
    ::clearerr(there);
    return 0;
  };
  call_elsewhere(stream, clear, stream);
}

// C99's forms have names of their own: the header gives calls these names, or those of C23. The
// arguments lie on the calling thread's stack, which is shared memory.
int __isoc99_vfscanf(FILE* stream, const char* format, va_list arguments) {
  if (!is_elsewhere(stream)) return next<"__isoc99_vfscanf">(::vfscanf)(stream, format, arguments);
  return scan_elsewhere(__isoc99_vfscanf, stream, format, arguments);
}

// The same of C89, for programs that ask for it with GNU's extensions.
int terrane_vfscanf(FILE* stream, const char* format, va_list arguments) {
  if (!is_elsewhere(stream)) return next<"vfscanf">(::vfscanf)(stream, format, arguments);
  return scan_elsewhere(terrane_vfscanf, stream, format, arguments);
}
int terrane_vscanf(const char* format, va_list arguments) {
  return terrane_vfscanf(stdin, format, arguments);
}

int terrane_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = terrane_vfscanf(stream, format, arguments);
  va_end(arguments);
  return read;
}

int terrane_scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = terrane_vfscanf(stdin, format, arguments);
  va_end(arguments);
  return read;
}

// Threads of the stream's node, which print without a lock, wait for the C library's lock as well.
void flockfile(FILE* stream) noexcept {
  bool shared = is_programs_call();
  if (shared) lock_stream(stream, true);
  if (is_elsewhere(stream)) return;
  next<"flockfile">(::flockfile)(stream);
  if (shared && stream == stdout) stdout_is_locked();
}

int ftrylockfile(FILE* stream) noexcept {
  if (!is_programs_call()) return next<"ftrylockfile">(::ftrylockfile)(stream);
  if (!lock_stream(stream, false)) return EBUSY;
  if (is_elsewhere(stream)) return 0;
  next<"flockfile">(::flockfile)(stream);
  if (stream == stdout) stdout_is_locked();
  return 0;
}

void funlockfile(FILE* stream) noexcept {
  bool shared = is_programs_call();
  if (!is_elsewhere(stream)) {
    if (shared && stream == stdout) stdout_is_unlocked();
    next<"funlockfile">(::funlockfile)(stream);
  }
  if (shared) unlock_stream(stream);
}

}  // extern "C"
#pragma GCC visibility pop
