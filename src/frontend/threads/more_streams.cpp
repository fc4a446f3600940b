// Calls about a stream on the node that has opened it: those without a lock, those that compilers
// call where _FORTIFY_SOURCE is set, and those about wide characters.
#include <stdio.h>
#include <wchar.h>

#include <cstdarg>
#include <string>

#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::InShared;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::OutShared;

extern "C" {
[[noreturn]] void __chk_fail() noexcept;
int __uflow(FILE*);
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

// What getc_unlocked and putc_unlocked call where the stream's buffer is empty or full.
int __uflow(FILE* stream) {
  if (is_elsewhere(stream)) return fgetc(stream);
  return next<"__uflow">(::__uflow)(stream);
}

int __overflow(FILE* stream, int byte) {
  if (is_elsewhere(stream)) return byte == EOF ? fflush(stream) : fputc(byte, stream);
  return next<"__overflow">(::__overflow)(stream, byte);
}

int fgetc_unlocked(FILE* stream) {
  if (is_elsewhere(stream)) return fgetc(stream);
  return next<"fgetc_unlocked">(::fgetc_unlocked)(stream);
}
int getc_unlocked(FILE* stream) { return fgetc_unlocked(stream); }
int getchar_unlocked(void) { return fgetc_unlocked(stdin); }

int fputc_unlocked(int byte, FILE* stream) {
  if (is_elsewhere(stream)) return fputc(byte, stream);
  return next<"fputc_unlocked">(::fputc_unlocked)(byte, stream);
}
int putc_unlocked(int byte, FILE* stream) { return fputc_unlocked(byte, stream); }
int putchar_unlocked(int byte) { return fputc_unlocked(byte, stdout); }

char* fgets_unlocked(char* to, int bytes, FILE* stream) {
  if (is_elsewhere(stream)) return fgets(to, bytes, stream);
  return next<"fgets_unlocked">(::fgets_unlocked)(to, bytes, stream);
}

int fflush_unlocked(FILE* stream) {
  if (stream != nullptr && is_elsewhere(stream)) return fflush(stream);
  return next<"fflush_unlocked">(::fflush_unlocked)(stream);
}

int feof_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? feof(stream) : next<"feof_unlocked">(::feof_unlocked)(stream);
}

int ferror_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? ferror(stream) : next<"ferror_unlocked">(::ferror_unlocked)(stream);
}

void clearerr_unlocked(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return clearerr(stream);
  next<"clearerr_unlocked">(::clearerr_unlocked)(stream);
}

int fileno_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? fileno(stream) : next<"fileno_unlocked">(::fileno_unlocked)(stream);
}

char* __fgets_chk(char* to, size_t room, int bytes, FILE* stream) {
  if (bytes > 0 && static_cast<size_t>(bytes) > room) __chk_fail();
  return fgets(to, bytes, stream);
}

char* __fgets_unlocked_chk(char* to, size_t room, int bytes, FILE* stream) {
  if (bytes > 0 && static_cast<size_t>(bytes) > room) __chk_fail();
  return fgets_unlocked(to, bytes, stream);
}

int getw(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::getw, stream);
  return next<"getw">(::getw)(stream);
}

int putw(int word, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::putw, word, stream);
  return next<"putw">(::putw)(word, stream);
}

wint_t fgetwc(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetwc, stream);
  return next<"fgetwc">(::fgetwc)(stream);
}
wint_t getwc(FILE* stream) { return fgetwc(stream); }
wint_t getwchar(void) { return fgetwc(stdin); }

wint_t fputwc(wchar_t character, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fputwc, character, stream);
  return next<"fputwc">(::fputwc)(character, stream);
}
wint_t putwc(wchar_t character, FILE* stream) { return fputwc(character, stream); }
wint_t putwchar(wchar_t character) { return fputwc(character, stdout); }

wint_t ungetwc(wint_t character, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::ungetwc, character, stream);
  return next<"ungetwc">(::ungetwc)(character, stream);
}

wchar_t* fgetws(wchar_t* to, int count, FILE* stream) {
  if (is_elsewhere(stream) && count > 0) return get_line_elsewhere(to, count, stream);
  return next<"fgetws">(::fgetws)(to, count, stream);
}

int fputws(const wchar_t* text, FILE* stream) {
  if (is_elsewhere(stream)) return put_line_elsewhere(text, stream);
  return next<"fputws">(::fputws)(text, stream);
}

int fwide(FILE* stream, int mode) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fwide, stream, mode);
  return next<"fwide">(::fwide)(stream, mode);
}

int vfwprintf(FILE* stream, const wchar_t* format, va_list arguments) {
  if (is_elsewhere(stream)) return print_elsewhere(stream, format, arguments);
  return next<"vfwprintf">(::vfwprintf)(stream, format, arguments);
}
int vwprintf(const wchar_t* format, va_list arguments) {
  return vfwprintf(stdout, format, arguments);
}

int fwprintf(FILE* stream, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int written = vfwprintf(stream, format, arguments);
  va_end(arguments);
  return written;
}

int wprintf(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int written = vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return written;
}

wchar_t* __fgetws_chk(wchar_t* to, size_t room, int count, FILE* stream) {
  if (count > 0 && static_cast<size_t>(count) > room) __chk_fail();
  return fgetws(to, count, stream);
}

int __vfwprintf_chk(FILE* stream, int, const wchar_t* format, va_list arguments) {
  return vfwprintf(stream, format, arguments);
}
int __vwprintf_chk(int, const wchar_t* format, va_list arguments) {
  return vfwprintf(stdout, format, arguments);
}

int __fwprintf_chk(FILE* stream, int, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int written = vfwprintf(stream, format, arguments);
  va_end(arguments);
  return written;
}

int __wprintf_chk(int, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int written = vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return written;
}

}  // extern "C"
#pragma GCC visibility pop
