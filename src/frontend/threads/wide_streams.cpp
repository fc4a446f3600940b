// Calls about a stream of another node that read by a format, or wide characters without a lock;
// and about all streams. The headers give the functions that read by a format the names of a
// version of C: C89's are plain, then __isoc99_, and from glibc 2.38 on __isoc23_, whose numbers
// may be binary.
#include <stdio.h>
#include <wchar.h>

#include <cstdarg>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"
#include "frontend/threads/call_headers.h"
#include "frontend/threads/program.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::find_next_if_any;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;

namespace {

using WideScan = int(FILE*, const wchar_t*, va_list);
using Scan = int(FILE*, const char*, va_list);

// The arguments lie on the calling thread's stack, which is shared memory.
template <typename Letter>
int scan_elsewhere(int (*function)(FILE*, const Letter*, va_list), FILE* stream,
                   const Letter* format, va_list arguments) {
  auto scan = +[](int (*call)(FILE*, const Letter*, va_list), FILE* there, const Letter* text,
                  va_list* all) { return call(there, text, *all); };
  va_list own;
  va_copy(own, arguments);
  int read = call_elsewhere(stream, scan, function, stream, format, &own);
  va_end(own);
  return read;
}

// function(arguments), whose last parameter is the list of its own.
template <typename Function, typename Letter>
int with_list(Function function, FILE* stream, const Letter* format, va_list arguments) {
  int read = function(stream, format, arguments);
  va_end(arguments);
  return read;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int terrane_vfwscanf(FILE*, const wchar_t*, va_list) __asm__("vfwscanf");
int terrane_vwscanf(const wchar_t*, va_list) __asm__("vwscanf");
int terrane_fwscanf(FILE*, const wchar_t*, ...) __asm__("fwscanf");
int terrane_wscanf(const wchar_t*, ...) __asm__("wscanf");

int fcloseall(void) {
  fflush(nullptr);
  return next<"fcloseall">(::fcloseall)();
}

int __isoc99_vfwscanf(FILE* stream, const wchar_t* format, va_list arguments) {
  if (is_elsewhere(stream)) return scan_elsewhere(__isoc99_vfwscanf, stream, format, arguments);
  return next<"__isoc99_vfwscanf">(::vfwscanf)(stream, format, arguments);
}

int terrane_vfwscanf(FILE* stream, const wchar_t* format, va_list arguments) {
  if (is_elsewhere(stream)) return scan_elsewhere(terrane_vfwscanf, stream, format, arguments);
  return next<"vfwscanf">(::vfwscanf)(stream, format, arguments);
}
int terrane_vwscanf(const wchar_t* format, va_list arguments) {
  return terrane_vfwscanf(stdin, format, arguments);
}
int terrane_fwscanf(FILE* stream, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  return with_list(terrane_vfwscanf, stream, format, arguments);
}
int terrane_wscanf(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  return with_list(terrane_vfwscanf, stdin, format, arguments);
}

// Of glibc 2.38 and later, which is not needed to build this.
int __isoc23_vfscanf(FILE* stream, const char* format, va_list arguments) {
  if (is_elsewhere(stream)) return scan_elsewhere(__isoc23_vfscanf, stream, format, arguments);
  static Scan* const behind = reinterpret_cast<Scan*>(find_next_if_any("__isoc23_vfscanf"));
  return (behind != nullptr ? behind : next<"__isoc99_vfscanf">(::vfscanf))(stream, format,
                                                                            arguments);
}

int __isoc23_vfwscanf(FILE* stream, const wchar_t* format, va_list arguments) {
  if (is_elsewhere(stream)) return scan_elsewhere(__isoc23_vfwscanf, stream, format, arguments);
  static auto* const behind = reinterpret_cast<WideScan*>(find_next_if_any("__isoc23_vfwscanf"));
  return (behind != nullptr ? behind : next<"__isoc99_vfwscanf">(::vfwscanf))(stream, format,
                                                                              arguments);
}

}  // extern "C"
#pragma GCC visibility pop
