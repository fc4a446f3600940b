// Functions of the C library that allocate what their caller is to free: it lies in the caller's
// heap, so that threads of other nodes can read it.
#include "frontend/interpose/for_caller.h"

#include <glob.h>
#include <mntent.h>
#include <regex.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

#include <cstdarg>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/next.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::ForCaller;
using terrane::frontend::ForNode;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;

extern "C" int __vasprintf_chk(char**, int, const char*, va_list);

#pragma GCC visibility push(default)
extern "C" {

char* strdup(const char* text) noexcept {
  ForCaller memory;
  return next<"strdup">(::strdup)(text);
}
char* __strdup(const char* text) noexcept { return strdup(text); }

char* strndup(const char* text, size_t bytes) noexcept {
  ForCaller memory;
  return next<"strndup">(::strndup)(text, bytes);
}
char* __strndup(const char* text, size_t bytes) noexcept { return strndup(text, bytes); }

wchar_t* wcsdup(const wchar_t* text) noexcept {
  ForCaller memory;
  return next<"wcsdup">(::wcsdup)(text);
}

int vasprintf(char** out, const char* format, va_list arguments) noexcept {
  ForCaller memory;
  return next<"vasprintf">(::vasprintf)(out, format, arguments);
}

int asprintf(char** out, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(out, format, arguments);
  va_end(arguments);
  return length;
}

int __vasprintf_chk(char** out, int flag, const char* format, va_list arguments) {
  ForCaller memory;
  return next<"__vasprintf_chk">(::__vasprintf_chk)(out, flag, format, arguments);
}

int __asprintf_chk(char** out, int flag, const char* format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  int length = __vasprintf_chk(out, flag, format, arguments);
  va_end(arguments);
  return length;
}

ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  if (is_elsewhere(stream))
    return call_elsewhere(stream, ::getdelim, line, room, delimiter, stream);
  // The kernel writes into the stream's buffer, which is no part of what the caller gets.
  if (stream->_IO_buf_base == nullptr) {
    int byte = next<"fgetc">(::fgetc)(stream);
    if (byte != EOF) next<"ungetc">(::ungetc)(byte, stream);
  }
  ForCaller memory;
  return next<"getdelim">(::getdelim)(line, room, delimiter, stream);
}
ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return getdelim(line, room, delimiter, stream);
}
ssize_t getline(char** line, size_t* room, FILE* stream) {
  return getdelim(line, room, '\n', stream);
}

char* get_current_dir_name(void) noexcept {
  ForCaller memory;
  return next<"get_current_dir_name">(::get_current_dir_name)();
}

char* canonicalize_file_name(const char* path) noexcept {
  ForCaller memory;
  return next<"canonicalize_file_name">(::canonicalize_file_name)(path);
}

int glob(const char* pattern, int flags, int (*wrong)(const char*, int), glob_t* out) noexcept {
  ForCaller memory;
  return next<"glob">(::glob)(pattern, flags, wrong, out);
}

int glob64(const char* pattern, int flags, int (*wrong)(const char*, int), glob64_t* out) noexcept {
  ForCaller memory;
  return next<"glob64">(::glob64)(pattern, flags, wrong, out);
}

int regcomp(regex_t* out, const char* pattern, int flags) noexcept {
  ForCaller memory;
  return next<"regcomp">(::regcomp)(out, pattern, flags);
}

char* tempnam(const char* folder, const char* prefix) noexcept {
  ForCaller memory;
  return next<"tempnam">(::tempnam)(folder, prefix);
}

int wordexp(const char* words, wordexp_t* out, int flags) {
  ForCaller memory;
  return next<"wordexp">(::wordexp)(words, out, flags);
}

// The nodes of a tree.
void* tsearch(const void* key, void** root, int (*order)(const void*, const void*)) {
  ForCaller memory;
  return next<"tsearch">(::tsearch)(key, root, order);
}

// Streams are good on the node alone that opened them.
FILE* fdopen(int fd, const char* mode) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fdopen, fd, mode);
  ForNode memory;
  return next<"fdopen">(::fdopen)(fd, mode);
}

FILE* tmpfile(void) {
  ForNode memory;
  return terrane::frontend::adopt(next<"tmpfile">(::tmpfile)());
}

FILE* tmpfile64(void) { return tmpfile(); }

FILE* setmntent(const char* path, const char* mode) noexcept {
  ForNode memory;
  auto* call = next<"setmntent">(::setmntent);
  return terrane::frontend::adopt(call(terrane::frontend::InPath(path).get(), mode));
}

int endmntent(FILE* stream) noexcept {
  if (stream != nullptr && is_elsewhere(stream)) return call_elsewhere(stream, ::endmntent, stream);
  return next<"endmntent">(::endmntent)(stream);
}

FILE* fmemopen(void* buffer, size_t bytes, const char* mode) noexcept {
  ForNode memory;
  return next<"fmemopen">(::fmemopen)(buffer, bytes, mode);
}

FILE* fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions) noexcept {
  ForNode memory;
  return next<"fopencookie">(::fopencookie)(cookie, mode, functions);
}

}  // extern "C"
#pragma GCC visibility pop
