// Calls about a stream on the node that has opened it: those without a lock, those that compilers
// call where _FORTIFY_SOURCE is set, and those about wide characters.
#include <stdio.h>
#include <wchar.h>

#include <cstdarg>
#include <string>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::InShared;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::OutShared;

extern "C" {
int __overflow(FILE*, int);
}

namespace {

wchar_t* get_line_elsewhere(wchar_t* to, int count, FILE* stream) {
  OutShared shared(to, static_cast<size_t>(count) * sizeof *to);
  if (shared.get() == nullptr) return nullptr;
  auto* line = call_elsewhere(stream, ::fgetws, static_cast<wchar_t*>(shared.get()), count, stream);
  if (line == nullptr) return nullptr;
  shared.done((wcslen(line) + 1) * sizeof *to);
  return to;
}

int put_line_elsewhere(const wchar_t* text, FILE* stream) {
  InShared shared(text, (wcslen(text) + 1) * sizeof *text);
  if (shared.get() == nullptr) return -1;
  return call_elsewhere(stream, ::fputws, static_cast<const wchar_t*>(shared.get()), stream);
}

// The text is made here, where what the arguments point to is seen.
int print_elsewhere(FILE* stream, const wchar_t* format, va_list arguments) {
  std::wstring text(256, L'\0');
  for (;;) {
    va_list again;
    va_copy(again, arguments);
    int length = vswprintf(text.data(), text.size(), format, again);
    va_end(again);
    if (length >= 0) return put_line_elsewhere(text.c_str(), stream) < 0 ? -1 : length;
    if (errno == EILSEQ || text.size() > (1u << 26)) return -1;
    text.resize(2 * text.size());
  }
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

// What putc_unlocked calls where the stream's buffer is full.
int __overflow(FILE* stream, int byte) {
  if (is_elsewhere(stream)) return byte == EOF ? fflush(stream) : fputc(byte, stream);
  return next<"__overflow">(::__overflow)(stream, byte);
}

int fflush_unlocked(FILE* stream) {
  if (stream != nullptr && is_elsewhere(stream)) return fflush(stream);
  return next<"fflush_unlocked">(::fflush_unlocked)(stream);
}

wchar_t* fgetws(wchar_t* to, int count, FILE* stream) {
  if (is_elsewhere(stream) && count > 0) return get_line_elsewhere(to, count, stream);
  return next<"fgetws">(::fgetws)(to, count, stream);
}

int fputws(const wchar_t* text, FILE* stream) {
  if (is_elsewhere(stream)) return put_line_elsewhere(text, stream);
  return next<"fputws">(::fputws)(text, stream);
}

int vfwprintf(FILE* stream, const wchar_t* format, va_list arguments) {
  if (is_elsewhere(stream)) return print_elsewhere(stream, format, arguments);
  return next<"vfwprintf">(::vfwprintf)(stream, format, arguments);
}

}  // extern "C"
#pragma GCC visibility pop
