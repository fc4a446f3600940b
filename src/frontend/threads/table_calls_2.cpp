// Made by scripts/process_state.py --write from src/frontend/process_state.txt: change that.
// clang-format off
#include "frontend/interpose/made_calls.h"
#include "frontend/threads/call_headers.h"
#include "frontend/threads/copies.h"
#include "frontend/threads/state_calls.h"

using namespace terrane::frontend;
using namespace terrane::frontend::made;
using namespace terrane::frontend::threads;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC visibility push(default)
extern "C" {

// Answers that the kernel writes
int getlogin_r(char* name, size_t bytes) { return on_private_stack<"getlogin_r">(::getlogin_r, name, bytes); }
int getloadavg(double loads[], int count) noexcept {
  return on_private_stack<"getloadavg">(::getloadavg, loads, count); }
int getpw(uid_t user, char* buffer) { return on_private_stack<"getpw">(::getpw, user, buffer); }
long int pathconf(const char* path, int name) noexcept {
  InPath own_path(path);
  return on_private_stack<"pathconf">(::pathconf, own_path.get(), name); }
key_t ftok(const char* path, int number) noexcept {
  InPath own_path(path);
  return on_private_stack<"ftok">(::ftok, own_path.get(), number); }

// Descriptors that calls open, or are given
void backtrace_symbols_fd(void* const* places, int count, int fd) noexcept {
  return called<"backtrace_symbols_fd">(::backtrace_symbols_fd, places, count, Of{fd}); }
int open_by_handle_at(int fd, file_handle* handle, int flags) {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("open_by_handle_at", fd);
  return adopt(next<"open_by_handle_at">(::open_by_handle_at)(fd, handle, flags)); }
int fanotify_init(unsigned int flags, unsigned int event_flags) noexcept {
  return adopt(next<"fanotify_init">(::fanotify_init)(flags, event_flags)); }
int pidfd_getfd(int fd, int other, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("pidfd_getfd", fd);
  return adopt(next<"pidfd_getfd">(::pidfd_getfd)(fd, other, flags)); }
int fsopen(const char* name, unsigned int flags) noexcept { return adopt(next<"fsopen">(::fsopen)(name, flags)); }
int fsmount(int fd, unsigned int flags, unsigned int attributes) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("fsmount", fd);
  return adopt(next<"fsmount">(::fsmount)(fd, flags, attributes)); }
int fspick(int fd, const char* path, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("fspick", fd);
  return adopt(next<"fspick">(::fspick)(fd, path, flags)); }
int open_tree(int fd, const char* path, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("open_tree", fd);
  return adopt(next<"open_tree">(::open_tree)(fd, path, flags)); }
int rresvport(int* port) { return adopt(next<"rresvport">(::rresvport)(port)); }
int rresvport_af(int* port, sa_family_t family) { return adopt(next<"rresvport_af">(::rresvport_af)(port, family)); }
int pidfd_send_signal(int fd, int number, siginfo_t* info, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("pidfd_send_signal", fd);
  return next<"pidfd_send_signal">(::pidfd_send_signal)(fd, number, info, flags); }
ssize_t process_madvise(int fd, const iovec* parts, size_t count, int advice, unsigned flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("process_madvise", fd);
  return next<"process_madvise">(::process_madvise)(fd, parts, count, advice, flags); }
int process_mrelease(int fd, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("process_mrelease", fd);
  return next<"process_mrelease">(::process_mrelease)(fd, flags); }
int getipv4sourcefilter(int fd, in_addr own, in_addr group, uint32_t* mode, uint32_t* count, in_addr* list) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("getipv4sourcefilter", fd);
  return next<"getipv4sourcefilter">(::getipv4sourcefilter)(fd, own, group, mode, count, list); }
int setipv4sourcefilter(int fd, in_addr own, in_addr group, uint32_t mode, uint32_t count,
    const in_addr* list) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("setipv4sourcefilter", fd);
  return next<"setipv4sourcefilter">(::setipv4sourcefilter)(fd, own, group, mode, count, list); }
int getsourcefilter(int fd, uint32_t own, const sockaddr* group, socklen_t size, uint32_t* mode, uint32_t* count,
    sockaddr_storage* list) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("getsourcefilter", fd);
  return next<"getsourcefilter">(::getsourcefilter)(fd, own, group, size, mode, count, list); }
int setsourcefilter(int fd, uint32_t own, const sockaddr* group, socklen_t size, uint32_t mode, uint32_t count,
    const sockaddr_storage* list) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("setsourcefilter", fd);
  return next<"setsourcefilter">(::setsourcefilter)(fd, own, group, size, mode, count, list); }

// Entries one by one, of node 0
int getutid_r(const utmp* id, utmp* buffer, utmp** result) noexcept {
  return at_node_0<"getutid_r">(::getutid_r, id, buffer, result); }
int getutline_r(const utmp* line, utmp* buffer, utmp** result) noexcept {
  return at_node_0<"getutline_r">(::getutline_r, line, buffer, result); }
void login(const utmp* entry) noexcept { return at_node_0<"login">(::login, entry); }
int logout(const char* line) noexcept { return at_node_0<"logout">(::logout, line); }
void logwtmp(const char* line, const char* name, const char* host) noexcept {
  return at_node_0<"logwtmp">(::logwtmp, line, name, host); }
void updwtmpx(const char* file, const utmpx* entry) { return at_node_0<"updwtmpx">(::updwtmpx, file, entry); }

// Options, times, programs
int brk(void* end) noexcept {
  return refused<"brk">(::brk, ENOMEM,
      "it would give memory of the calling node alone; use malloc or mmap", end); }
int pkey_alloc(unsigned flags, unsigned rights) noexcept {
  return refused<"pkey_alloc">(::pkey_alloc, ENOSPC,
      "the keys of shared memory would be those of the calling node alone", flags, rights); }
FILE* open_wmemstream(wchar_t** text, size_t* characters) noexcept {
  return refused<"open_wmemstream">(::open_wmemstream, ENOSYS,
      "its text would be memory of the calling node alone; `open_memstream` works", text, characters); }
pid_t _Fork(void) noexcept {
  return refused<"_Fork">(::_Fork, ENOSYS,
      "the child would not have the program's memory; `posix_spawn` works"); }
int forkpty(int* master, char* name, const termios* terminal, const winsize* size) noexcept {
  return refused<"forkpty">(::forkpty, ENOSYS,
      "the child would not have the program's memory; `openpty` and `posix_spawn` work", master, name, terminal, size); }

// Descriptors of another node, which the calls are made on
off_t lseek(int fd, off_t offset, int from) noexcept { return called<"lseek">(::lseek, Of{fd}, offset, from); }
int ftruncate(int fd, off_t bytes) noexcept { return called<"ftruncate">(::ftruncate, Of{fd}, bytes); }
int fallocate(int fd, int mode, off_t offset, off_t bytes) {
  return called<"fallocate">(::fallocate, Of{fd}, mode, offset, bytes); }
int posix_fallocate(int fd, off_t offset, off_t bytes) {
  return called<"posix_fallocate">(::posix_fallocate, Of{fd}, offset, bytes); }
int fchmod(int fd, mode_t mode) noexcept { return called<"fchmod">(::fchmod, Of{fd}, mode); }
int fchown(int fd, uid_t user, gid_t group) noexcept { return called<"fchown">(::fchown, Of{fd}, user, group); }
int syncfs(int fd) noexcept { return called<"syncfs">(::syncfs, Of{fd}); }
int tcgetattr(int fd, termios* to) noexcept { return called<"tcgetattr">(::tcgetattr, Of{fd}, to); }
int tcsetattr(int fd, int when, const termios* from) noexcept {
  return called<"tcsetattr">(::tcsetattr, Of{fd}, when, from); }
int flock(int fd, int operation) noexcept { return called<"flock">(::flock, Of{fd}, operation); }
int isatty(int fd) noexcept { return called<"isatty">(::isatty, Of{fd}); }
int ptsname_r(int fd, char* to, size_t bytes) noexcept { return called<"ptsname_r">(::ptsname_r, Of{fd}, to, bytes); }
int mq_close(mqd_t queue) noexcept { return called<"mq_close">(::mq_close, Of{queue}); }
int listen(int fd, int most) noexcept { return called<"listen">(::listen, Of{fd}, most); }
int shutdown(int fd, int how) noexcept { return called<"shutdown">(::shutdown, Of{fd}, how); }
int fsync(int fd) { return waited<"fsync">(::fsync, Of{fd}); }
int fdatasync(int fd) { return waited<"fdatasync">(::fdatasync, Of{fd}); }
int lockf(int fd, int command, off_t bytes) { return waited<"lockf">(::lockf, Of{fd}, command, bytes); }
int dup(int fd) noexcept { return opened<"dup">(::dup, Of{fd}); }
int posix_openpt(int flags) { return opened<"posix_openpt">(::posix_openpt, flags); }
int socket(int domain, int type, int protocol) noexcept { return opened<"socket">(::socket, domain, type, protocol); }
int eventfd(unsigned count, int flags) noexcept { return opened<"eventfd">(::eventfd, count, flags); }
int epoll_create(int size) noexcept { return opened<"epoll_create">(::epoll_create, size); }
int epoll_create1(int flags) noexcept { return opened<"epoll_create1">(::epoll_create1, flags); }
int timerfd_create(clockid_t clock, int flags) noexcept {
  return opened<"timerfd_create">(::timerfd_create, clock, flags); }
int inotify_init1(int flags) noexcept { return opened<"inotify_init1">(::inotify_init1, flags); }
int getpt(void) { return posix_openpt(O_RDWR); }
int inotify_init(void) noexcept { return inotify_init1(0); }
off64_t lseek64(int fd, off64_t offset, int from) noexcept { return lseek(fd, offset, from); }
int ftruncate64(int fd, off64_t bytes) noexcept { return ftruncate(fd, bytes); }
int fallocate64(int fd, int mode, off64_t offset, off64_t bytes) { return fallocate(fd, mode, offset, bytes); }
int posix_fallocate64(int fd, off64_t offset, off64_t bytes) { return posix_fallocate(fd, offset, bytes); }
int posix_fadvise64(int fd, off64_t offset, off64_t bytes, int advice) noexcept {
  return posix_fadvise(fd, offset, bytes, advice); }
int lockf64(int fd, int command, off64_t bytes) { return lockf(fd, command, bytes); }
int fstatvfs(int fd, struct statvfs* to) noexcept { return called<"fstatvfs">(::fstatvfs, Of{fd}, To{to}); }
int fstatvfs64(int fd, struct statvfs64* to) noexcept { return called<"fstatvfs64">(::fstatvfs64, Of{fd}, To{to}); }

// Streams of another node
int fgetc(FILE* stream) { return called<"fgetc">(::fgetc, Of{stream}); }
int ungetc(int byte, FILE* stream) { return called<"ungetc">(::ungetc, byte, Of{stream}); }
int fseeko(FILE* stream, off_t offset, int from) { return called<"fseeko">(::fseeko, Of{stream}, offset, from); }
off_t ftello(FILE* stream) { return called<"ftello">(::ftello, Of{stream}); }
int fgetpos(FILE* stream, fpos_t* place) { return called<"fgetpos">(::fgetpos, Of{stream}, place); }
int fsetpos(FILE* stream, const fpos_t* place) { return called<"fsetpos">(::fsetpos, Of{stream}, place); }
int feof(FILE* stream) noexcept { return called<"feof">(::feof, Of{stream}); }
int ferror(FILE* stream) noexcept { return called<"ferror">(::ferror, Of{stream}); }
int fileno(FILE* stream) noexcept { return called<"fileno">(::fileno, Of{stream}); }
int getw(FILE* stream) { return called<"getw">(::getw, Of{stream}); }
int putw(int word, FILE* stream) { return called<"putw">(::putw, word, Of{stream}); }
wint_t fgetwc(FILE* stream) { return called<"fgetwc">(::fgetwc, Of{stream}); }
wint_t fputwc(wchar_t character, FILE* stream) { return called<"fputwc">(::fputwc, character, Of{stream}); }
wint_t ungetwc(wint_t character, FILE* stream) { return called<"ungetwc">(::ungetwc, character, Of{stream}); }
int fwide(FILE* stream, int mode) noexcept { return called<"fwide">(::fwide, Of{stream}, mode); }
int getc(FILE* stream) { return fgetc(stream); }
int getchar(void) { return fgetc(stdin); }
int putc(int byte, FILE* stream) { return fputc(byte, stream); }
int putchar(int byte) { return fputc(byte, stdout); }
int fseeko64(FILE* stream, off64_t offset, int from) { return fseeko(stream, offset, from); }
int fseek(FILE* stream, long offset, int from) { return fseeko(stream, offset, from); }
off64_t ftello64(FILE* stream) { return ftello(stream); }
long ftell(FILE* stream) { return ftello(stream); }
int __isoc99_vscanf(const char* format, va_list arguments) { return __isoc99_vfscanf(stdin, format, arguments); }
int __isoc99_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc99_vfscanf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __isoc99_scanf(const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc99_vfscanf(stdin, format, arguments);
  va_end(arguments);
  return result; }
int getc_unlocked(FILE* stream) { return fgetc_unlocked(stream); }
int getchar_unlocked(void) { return fgetc_unlocked(stdin); }
int putc_unlocked(int byte, FILE* stream) { return fputc_unlocked(byte, stream); }
int putchar_unlocked(int byte) { return fputc_unlocked(byte, stdout); }
wint_t getwc(FILE* stream) { return fgetwc(stream); }
wint_t getwchar(void) { return fgetwc(stdin); }
wint_t putwc(wchar_t character, FILE* stream) { return fputwc(character, stream); }
wint_t putwchar(wchar_t character) { return fputwc(character, stdout); }
int vwprintf(const wchar_t* format, va_list arguments) { return vfwprintf(stdout, format, arguments); }
int fwprintf(FILE* stream, const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfwprintf(stream, format, arguments);
  va_end(arguments);
  return result; }
int wprintf(const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return result; }
int __vwprintf_chk(int, const wchar_t* format, va_list arguments) { return vfwprintf(stdout, format, arguments); }
int __fwprintf_chk(FILE* stream, int, const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfwprintf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __wprintf_chk(int, const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfwprintf(stdout, format, arguments);
  va_end(arguments);
  return result; }
int __vfwprintf_chk(FILE* stream, int, const wchar_t* format, va_list arguments) {
  return vfwprintf(stream, format, arguments); }
int fgetc_unlocked(FILE* stream) {
  return is_elsewhere(stream) ? fgetc(stream) : next<"fgetc_unlocked">(::fgetc_unlocked)(stream); }
int fputc_unlocked(int byte, FILE* stream) {
  return is_elsewhere(stream) ? fputc(byte, stream) : next<"fputc_unlocked">(::fputc_unlocked)(byte, stream); }
char* fgets_unlocked(char* to, int bytes, FILE* stream) {
  return is_elsewhere(stream) ? fgets(to, bytes, stream) : next<"fgets_unlocked">(::fgets_unlocked)(to, bytes,
      stream); }
int feof_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? feof(stream) : next<"feof_unlocked">(::feof_unlocked)(stream); }
int ferror_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? ferror(stream) : next<"ferror_unlocked">(::ferror_unlocked)(stream); }
void clearerr_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? clearerr(stream) : next<"clearerr_unlocked">(::clearerr_unlocked)(stream); }
int fileno_unlocked(FILE* stream) noexcept {
  return is_elsewhere(stream) ? fileno(stream) : next<"fileno_unlocked">(::fileno_unlocked)(stream); }
int __uflow(FILE* stream) { return is_elsewhere(stream) ? fgetc(stream) : next<"__uflow">(::__uflow)(stream); }
wint_t fgetwc_unlocked(FILE* stream) {
  return is_elsewhere(stream) ? fgetwc(stream) : next<"fgetwc_unlocked">(::fgetwc_unlocked)(stream); }
wint_t fputwc_unlocked(wchar_t character, FILE* stream) {
  return is_elsewhere(stream) ? fputwc(character, stream) : next<"fputwc_unlocked">(::fputwc_unlocked)(character,
      stream); }
wchar_t* fgetws_unlocked(wchar_t* to, int count, FILE* stream) {
  return is_elsewhere(stream) ? fgetws(to, count, stream) : next<"fgetws_unlocked">(::fgetws_unlocked)(to, count,
      stream); }
int fputws_unlocked(const wchar_t* text, FILE* stream) {
  return is_elsewhere(stream) ? fputws(text, stream) : next<"fputws_unlocked">(::fputws_unlocked)(text, stream); }
wint_t getwc_unlocked(FILE* stream) { return fgetwc_unlocked(stream); }
wint_t getwchar_unlocked(void) { return fgetwc_unlocked(stdin); }
wint_t putwc_unlocked(wchar_t character, FILE* stream) { return fputwc_unlocked(character, stream); }
wint_t putwchar_unlocked(wchar_t character) { return fputwc_unlocked(character, stdout); }
void _flushlbf(void) { fflush(nullptr); }
int __isoc99_vwscanf(const wchar_t* format, va_list arguments) { return __isoc99_vfwscanf(stdin, format, arguments); }
int __isoc99_fwscanf(FILE* stream, const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc99_vfwscanf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __isoc99_wscanf(const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc99_vfwscanf(stdin, format, arguments);
  va_end(arguments);
  return result; }
int fgetpos64(FILE* stream, fpos64_t* place) { return fgetpos(stream, reinterpret_cast<fpos_t*>(place)); }
int fsetpos64(FILE* stream, const fpos64_t* place) { return fsetpos(stream, reinterpret_cast<const fpos_t*>(place)); }
char* __fgets_chk(char* to, size_t room, int bytes, FILE* stream) {
  if (!(bytes <= 0 || static_cast<size_t>(bytes) <= room)) __chk_fail();
  return fgets(to, bytes, stream); }
char* __fgets_unlocked_chk(char* to, size_t room, int bytes, FILE* stream) {
  if (!(bytes <= 0 || static_cast<size_t>(bytes) <= room)) __chk_fail();
  return fgets_unlocked(to, bytes, stream); }
wchar_t* __fgetws_chk(wchar_t* to, size_t room, int count, FILE* stream) {
  if (!(count <= 0 || static_cast<size_t>(count) <= room)) __chk_fail();
  return fgetws(to, count, stream); }
int __isoc23_vscanf(const char* format, va_list arguments) { return __isoc23_vfscanf(stdin, format, arguments); }
int __isoc23_fscanf(FILE* stream, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc23_vfscanf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __isoc23_scanf(const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc23_vfscanf(stdin, format, arguments);
  va_end(arguments);
  return result; }
int __isoc23_vwscanf(const wchar_t* format, va_list arguments) { return __isoc23_vfwscanf(stdin, format, arguments); }
int __isoc23_fwscanf(FILE* stream, const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc23_vfwscanf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __isoc23_wscanf(const wchar_t* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __isoc23_vfwscanf(stdin, format, arguments);
  va_end(arguments);
  return result; }

// Memory for the caller, and what it gives to later calls
char* strdup(const char* text) noexcept { return called<"strdup", ForCaller>(::strdup, text); }
char* strndup(const char* text, size_t bytes) noexcept { return called<"strndup", ForCaller>(::strndup, text, bytes); }
wchar_t* wcsdup(const wchar_t* text) noexcept { return called<"wcsdup", ForCaller>(::wcsdup, text); }
int vasprintf(char** out, const char* format, va_list arguments) noexcept {
  return called<"vasprintf", ForCaller>(::vasprintf, out, format, arguments); }
int __vasprintf_chk(char** out, int flag, const char* format, va_list arguments) {
  return called<"__vasprintf_chk", ForCaller>(::__vasprintf_chk, out, flag, format, arguments); }
char* get_current_dir_name(void) noexcept { return called<"get_current_dir_name", ForCaller>(::get_current_dir_name); }
char* canonicalize_file_name(const char* path) noexcept {
  return called<"canonicalize_file_name", ForCaller>(::canonicalize_file_name, path); }
int glob(const char* pattern, int flags, int (*wrong)(const char*, int), glob_t* out) noexcept {
  return called<"glob", ForCaller>(::glob, pattern, flags, wrong, out); }
int glob64(const char* pattern, int flags, int (*wrong)(const char*, int), glob64_t* out) noexcept {
  return called<"glob64", ForCaller>(::glob64, pattern, flags, wrong, out); }
int regcomp(regex_t* out, const char* pattern, int flags) noexcept {
  return called<"regcomp", ForCaller>(::regcomp, out, pattern, flags); }
char* tempnam(const char* in, const char* prefix) noexcept {
  return called<"tempnam", ForCaller>(::tempnam, in, prefix); }
int wordexp(const char* words, wordexp_t* out, int flags) {
  return called<"wordexp", ForCaller>(::wordexp, words, out, flags); }
void* tsearch(const void* key, void** root, int (*order)(const void*, const void*)) {
  return called<"tsearch", ForCaller>(::tsearch, key, root, order); }
int _obstack_begin(obstack* to, int bytes, int alignment, void* (*allocate)(long), void (*free)(void*)) {
  return called<"_obstack_begin", ForCaller>(::_obstack_begin, to, bytes, alignment, allocate, free); }
int _obstack_begin_1(obstack* to, int bytes, int alignment, void* (*allocate)(void*, long), void (*free)(void*,
    void*), void* argument) {
  return called<"_obstack_begin_1", ForCaller>(::_obstack_begin_1, to, bytes, alignment, allocate, free, argument); }
void _obstack_newchunk(obstack* to, int bytes) {
  return called<"_obstack_newchunk", ForCaller>(::_obstack_newchunk, to, bytes); }
int obstack_vprintf(obstack* to, const char* format, va_list arguments) noexcept {
  return called<"obstack_vprintf", ForCaller>(::obstack_vprintf, to, format, arguments); }
int __obstack_vprintf_chk(obstack* to, int flag, const char* format, va_list arguments) {
  return called<"__obstack_vprintf_chk", ForCaller>(::__obstack_vprintf_chk, to, flag, format, arguments); }
FILE* fdopen(int fd, const char* mode) noexcept { return called<"fdopen", ForNode>(::fdopen, Of{fd}, mode); }
FILE* fmemopen(void* buffer, size_t bytes, const char* mode) noexcept {
  return called<"fmemopen", ForNode>(::fmemopen, buffer, bytes, mode); }
FILE* fopencookie(void* cookie, const char* mode, cookie_io_functions_t functions) noexcept {
  return called<"fopencookie", ForNode>(::fopencookie, cookie, mode, functions); }
FILE* tmpfile(void) { return opened<"tmpfile", ForNode>(::tmpfile); }
FILE* setmntent(const char* path, const char* mode) noexcept {
  return opened<"setmntent", ForNode>(::setmntent, Path{path}, Path{mode}); }
char* __strdup(const char* text) noexcept { return strdup(text); }
char* __strndup(const char* text, size_t bytes) noexcept { return strndup(text, bytes); }
int asprintf(char** out, const char* format, ...) noexcept {
  va_list arguments; va_start(arguments, format);
  auto result = vasprintf(out, format, arguments);
  va_end(arguments);
  return result; }
int __asprintf_chk(char** out, int flag, const char* format, ...) noexcept {
  va_list arguments; va_start(arguments, format);
  auto result = __vasprintf_chk(out, flag, format, arguments);
  va_end(arguments);
  return result; }
ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return getdelim(line, room, delimiter, stream); }
ssize_t getline(char** line, size_t* room, FILE* stream) { return getdelim(line, room, '\n', stream); }
FILE* tmpfile64(void) { return tmpfile(); }
int obstack_printf(obstack* to, const char* format, ...) noexcept {
  va_list arguments; va_start(arguments, format);
  auto result = obstack_vprintf(to, format, arguments);
  va_end(arguments);
  return result; }
int __obstack_printf_chk(obstack* to, int flag, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __obstack_vprintf_chk(to, flag, format, arguments);
  va_end(arguments);
  return result; }

}  // extern "C"
#pragma GCC visibility pop
