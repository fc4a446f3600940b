#pragma once

// Headers of the functions in table_calls.cpp, beyond those of copies.h.
#include <glob.h>
#include <mqueue.h>
#include <obstack.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <sys/timerfd.h>
#include <wchar.h>
#include <wordexp.h>

#include <cstdarg>

extern "C" {
[[noreturn]] void __chk_fail() noexcept;
int __uflow(FILE*);
// The headers give scanf and its kin the names of a version of C, which depends on the C library:
// so they are served by those names, of C99 and of C23.
int __isoc99_vfscanf(FILE*, const char*, va_list);
int __isoc99_vfwscanf(FILE*, const wchar_t*, va_list);
int __isoc23_vfscanf(FILE*, const char*, va_list);
int __isoc23_vfwscanf(FILE*, const wchar_t*, va_list);
int __vasprintf_chk(char**, int, const char*, va_list);
int __obstack_vprintf_chk(obstack*, int, const char*, va_list);
}
