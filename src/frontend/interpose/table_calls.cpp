// Made by scripts/process_state.py --write from src/frontend/process_state.txt: change that.
// clang-format off
#include "frontend/interpose/kernel_headers.h"
#include "frontend/interpose/made_calls.h"

using namespace terrane::frontend;
using namespace terrane::frontend::made;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC visibility push(default)
extern "C" {

// files
int stat(const char* path, struct stat* to) noexcept { return called<"stat">(::stat, Path{path}, To{to}); }
int stat64(const char* path, struct stat64* to) noexcept { return called<"stat64">(::stat64, Path{path}, To{to}); }
int lstat(const char* path, struct stat* to) noexcept { return called<"lstat">(::lstat, Path{path}, To{to}); }
int lstat64(const char* path, struct stat64* to) noexcept { return called<"lstat64">(::lstat64, Path{path}, To{to}); }
int fstat(int fd, struct stat* to) noexcept { return called<"fstat">(::fstat, Of{fd}, To{to}); }
int fstat64(int fd, struct stat64* to) noexcept { return called<"fstat64">(::fstat64, Of{fd}, To{to}); }
int fstatat(int folder, const char* path, struct stat* to, int flags) noexcept {
  return called<"fstatat">(::fstatat, Of{folder}, Path{path}, To{to}, flags); }
int fstatat64(int folder, const char* path, struct stat64* to, int flags) noexcept {
  return called<"fstatat64">(::fstatat64, Of{folder}, Path{path}, To{to}, flags); }
int statx(int folder, const char* path, int flags, unsigned mask, struct statx* to) noexcept {
  return called<"statx">(::statx, Of{folder}, Path{path}, flags, mask, To{to}); }
int access(const char* path, int mode) noexcept { return called<"access">(::access, Path{path}, mode); }
int mkdir(const char* path, mode_t mode) noexcept { return called<"mkdir">(::mkdir, Path{path}, mode); }
int rmdir(const char* path) noexcept { return called<"rmdir">(::rmdir, Path{path}); }
int unlink(const char* path) noexcept { return called<"unlink">(::unlink, Path{path}); }
int rename(const char* from, const char* to) noexcept { return called<"rename">(::rename, Path{from}, Path{to}); }
int remove(const char* path) noexcept { return called<"remove">(::remove, Path{path}); }
int truncate(const char* path, off_t bytes) noexcept { return called<"truncate">(::truncate, Path{path}, bytes); }
FILE* fopen(const char* path, const char* mode) { return opened<"fopen", ForNode>(::fopen, Path{path}, Path{mode}); }
FILE* fopen64(const char* path, const char* mode) {
  return opened<"fopen64", ForNode>(::fopen64, Path{path}, Path{mode}); }
int creat64(const char* path, mode_t mode) { return creat(path, mode); }

// names of files
int chmod(const char* path, mode_t mode) noexcept { return called<"chmod">(::chmod, Path{path}, mode); }
int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  return called<"fchmodat">(::fchmodat, Of{folder}, Path{path}, mode, flags); }
int chown(const char* path, uid_t user, gid_t group) noexcept {
  return called<"chown">(::chown, Path{path}, user, group); }
int lchown(const char* path, uid_t user, gid_t group) noexcept {
  return called<"lchown">(::lchown, Path{path}, user, group); }
int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) noexcept {
  return called<"fchownat">(::fchownat, Of{folder}, Path{path}, user, group, flags); }
int symlink(const char* target, const char* path) noexcept {
  return called<"symlink">(::symlink, Path{target}, Path{path}); }
int symlinkat(const char* target, int folder, const char* path) noexcept {
  return called<"symlinkat">(::symlinkat, Path{target}, Of{folder}, Path{path}); }
int link(const char* from, const char* to) noexcept { return called<"link">(::link, Path{from}, Path{to}); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return called<"unlinkat">(::unlinkat, Of{folder}, Path{path}, flags); }
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return called<"mkdirat">(::mkdirat, Of{folder}, Path{path}, mode); }
int mkfifo(const char* path, mode_t mode) noexcept { return called<"mkfifo">(::mkfifo, Path{path}, mode); }
int mkfifoat(int folder, const char* path, mode_t mode) noexcept {
  return called<"mkfifoat">(::mkfifoat, Of{folder}, Path{path}, mode); }
int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return called<"mknod">(::mknod, Path{path}, mode, device); }
int mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
  return called<"mknodat">(::mknodat, Of{folder}, Path{path}, mode, device); }
int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  return called<"faccessat">(::faccessat, Of{folder}, Path{path}, mode, flags); }
int euidaccess(const char* path, int mode) noexcept { return called<"euidaccess">(::euidaccess, Path{path}, mode); }
int truncate64(const char* path, off64_t bytes) noexcept {
  return called<"truncate64">(::truncate64, Path{path}, bytes); }
int statfs(const char* path, struct statfs* to) noexcept { return called<"statfs">(::statfs, Path{path}, To{to}); }
int statfs64(const char* path, struct statfs64* to) noexcept {
  return called<"statfs64">(::statfs64, Path{path}, To{to}); }
int fstatfs(int fd, struct statfs* to) noexcept { return called<"fstatfs">(::fstatfs, Of{fd}, To{to}); }
int fstatfs64(int fd, struct statfs64* to) noexcept { return called<"fstatfs64">(::fstatfs64, Of{fd}, To{to}); }
int statvfs(const char* path, struct statvfs* to) noexcept { return called<"statvfs">(::statvfs, Path{path}, To{to}); }
int statvfs64(const char* path, struct statvfs64* to) noexcept {
  return called<"statvfs64">(::statvfs64, Path{path}, To{to}); }
int utimensat(int folder, const char* path, const timespec times[2], int flags) noexcept {
  return called<"utimensat">(::utimensat, Of{folder}, Path{path}, Two{times}, flags); }
int futimens(int fd, const timespec times[2]) noexcept { return called<"futimens">(::futimens, Of{fd}, Two{times}); }
int utimes(const char* path, const timeval times[2]) noexcept {
  return called<"utimes">(::utimes, Path{path}, Two{times}); }
int utime(const char* path, const utimbuf* times) noexcept { return called<"utime">(::utime, Path{path}, From{times}); }
int inotify_add_watch(int fd, const char* path, uint32_t events) noexcept {
  return called<"inotify_add_watch">(::inotify_add_watch, Of{fd}, Path{path}, events); }
int shm_unlink(const char* name) { return called<"shm_unlink">(::shm_unlink, Path{name}); }
int memfd_create(const char* name, unsigned flags) noexcept {
  return opened<"memfd_create">(::memfd_create, Path{name}, flags); }
int shm_open(const char* name, int flags, mode_t mode) {
  return opened<"shm_open">(::shm_open, Path{name}, flags, mode); }
int scandir(const char* path, dirent*** names, int (*wanted)(const dirent*), int (*order)(const dirent**,
    const dirent**)) {
  return called<"scandir", ForCaller>(::scandir, Path{path}, names, wanted, order); }
int scandir64(const char* path, dirent64*** names, int (*wanted)(const dirent64*), int (*order)(const dirent64**,
    const dirent64**)) {
  return called<"scandir64", ForCaller>(::scandir64, Path{path}, names, wanted, order); }
int scandirat(int folder, const char* path, dirent*** names, int (*wanted)(const dirent*),
    int (*order)(const dirent**, const dirent**)) {
  return called<"scandirat", ForCaller>(::scandirat, Of{folder}, Path{path}, names, wanted, order); }
int eaccess(const char* path, int mode) noexcept { return euidaccess(path, mode); }
int mkstemp64(char* name) { return mkstemp(name); }
int mkostemp64(char* name, int flags) { return mkostemp(name, flags); }
int mkstemps64(char* name, int suffix) { return mkstemps(name, suffix); }
int mkostemps64(char* name, int suffix, int flags) { return mkostemps(name, suffix, flags); }

// attributes of files
int setxattr(const char* path, const char* name, const void* value, size_t bytes, int flags) noexcept {
  return called<"setxattr">(::setxattr, Path{path}, Path{name}, Bytes{value, bytes}, bytes, flags); }
int lsetxattr(const char* path, const char* name, const void* value, size_t bytes, int flags) noexcept {
  return called<"lsetxattr">(::lsetxattr, Path{path}, Path{name}, Bytes{value, bytes}, bytes, flags); }
int fsetxattr(int fd, const char* name, const void* value, size_t bytes, int flags) noexcept {
  return called<"fsetxattr">(::fsetxattr, Of{fd}, Path{name}, Bytes{value, bytes}, bytes, flags); }
int removexattr(const char* path, const char* name) noexcept {
  return called<"removexattr">(::removexattr, Path{path}, Path{name}); }
int lremovexattr(const char* path, const char* name) noexcept {
  return called<"lremovexattr">(::lremovexattr, Path{path}, Path{name}); }
int fremovexattr(int fd, const char* name) noexcept {
  return called<"fremovexattr">(::fremovexattr, Of{fd}, Path{name}); }
ssize_t getxattr(const char* path, const char* name, void* to, size_t room) noexcept {
  return called<"getxattr">(::getxattr, Path{path}, Path{name}, Filled{to, room}, room); }
ssize_t lgetxattr(const char* path, const char* name, void* to, size_t room) noexcept {
  return called<"lgetxattr">(::lgetxattr, Path{path}, Path{name}, Filled{to, room}, room); }
ssize_t fgetxattr(int fd, const char* name, void* to, size_t room) noexcept {
  return called<"fgetxattr">(::fgetxattr, Of{fd}, Path{name}, Filled{to, room}, room); }
ssize_t listxattr(const char* path, char* to, size_t room) noexcept {
  return called<"listxattr">(::listxattr, Path{path}, Filled{to, room}, room); }
ssize_t llistxattr(const char* path, char* to, size_t room) noexcept {
  return called<"llistxattr">(::llistxattr, Path{path}, Filled{to, room}, room); }
ssize_t flistxattr(int fd, char* to, size_t room) noexcept {
  return called<"flistxattr">(::flistxattr, Of{fd}, Filled{to, room}, room); }

// rights, processors
int sysinfo(struct sysinfo* to) noexcept { return called<"sysinfo">(::sysinfo, To{to}); }
int sched_getparam(pid_t process, sched_param* to) noexcept {
  return called<"sched_getparam">(::sched_getparam, process, To{to}); }
int sched_setparam(pid_t process, const sched_param* value) noexcept {
  return called<"sched_setparam">(::sched_setparam, process, From{value}); }
int sched_setscheduler(pid_t process, int policy, const sched_param* value) noexcept {
  return called<"sched_setscheduler">(::sched_setscheduler, process, policy, From{value}); }
int sched_rr_get_interval(pid_t process, timespec* to) noexcept {
  return called<"sched_rr_get_interval">(::sched_rr_get_interval, process, To{to}); }
int getresuid(uid_t* real, uid_t* effective, uid_t* saved) noexcept {
  return called<"getresuid">(::getresuid, To{real}, To{effective}, To{saved}); }
int getresgid(gid_t* real, gid_t* effective, gid_t* saved) noexcept {
  return called<"getresgid">(::getresgid, To{real}, To{effective}, To{saved}); }

// clocks
int clock_getres(clockid_t clock, timespec* to) noexcept {
  return called<"clock_getres">(::clock_getres, clock, To{to}); }
int clock_settime(clockid_t clock, const timespec* time) noexcept {
  return called<"clock_settime">(::clock_settime, clock, From{time}); }
int clock_adjtime(clockid_t clock, timex* both) noexcept {
  return called<"clock_adjtime">(::clock_adjtime, clock, Both{both}); }
int adjtimex(timex* both) noexcept { return called<"adjtimex">(::adjtimex, Both{both}); }
int gettimeofday(timeval* to, void* zone) noexcept { return called<"gettimeofday">(::gettimeofday, To{to}, zone); }
int timerfd_gettime(int fd, itimerspec* to) noexcept {
  return called<"timerfd_gettime">(::timerfd_gettime, Of{fd}, To{to}); }
int timerfd_settime(int fd, int flags, const itimerspec* time, itimerspec* before) noexcept {
  return called<"timerfd_settime">(::timerfd_settime, Of{fd}, flags, From{time}, To{before}); }
int ntp_adjtime(timex* change) noexcept { return adjtimex(change); }

// processes
pid_t wait4(pid_t child, int* both_status, int options, rusage* both_usage) noexcept {
  return called<"wait4">(::wait4, child, Both{both_status}, options, Both{both_usage}); }
int uname(utsname* to) noexcept { return called<"uname">(::uname, To{to}); }
pid_t wait(int* status) { return waited<"wait">(::wait, To{status}); }
pid_t waitpid(pid_t child, int* both, int options) { return waited<"waitpid">(::waitpid, child, Both{both}, options); }
int waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  return waited<"waitid">(::waitid, kind, id, To{info}, options); }

// queues and semaphores
int mq_unlink(const char* name) noexcept { return called<"mq_unlink">(::mq_unlink, Path{name}); }
int mq_setattr(mqd_t queue, const mq_attr* shape, mq_attr* before) noexcept {
  return called<"mq_setattr">(::mq_setattr, Of{queue}, From{shape}, To{before}); }
int mq_getattr(mqd_t queue, mq_attr* to) noexcept { return called<"mq_getattr">(::mq_getattr, Of{queue}, To{to}); }
int mq_send(mqd_t queue, const char* from, size_t bytes, unsigned priority) {
  return waited<"mq_send">(::mq_send, Of{queue}, Bytes{from, bytes}, bytes, priority); }
int mq_timedsend(mqd_t queue, const char* from, size_t bytes, unsigned priority, const timespec* until) {
  return waited<"mq_timedsend">(::mq_timedsend, Of{queue}, Bytes{from, bytes}, bytes, priority, From{until}); }
int eventfd_read(int fd, eventfd_t* to) { return called<"eventfd_read">(::eventfd_read, Of{fd}, To{to}); }

// sockets
int bind(int fd, const sockaddr* address, socklen_t size) noexcept {
  return called<"bind">(::bind, Of{fd}, Bytes{address, size}, size); }
int setsockopt(int fd, int level, int name, const void* value, socklen_t size) noexcept {
  return called<"setsockopt">(::setsockopt, Of{fd}, level, name, Bytes{value, size}, size); }
int connect(int fd, const sockaddr* address, socklen_t size) {
  return waited<"connect">(::connect, Of{fd}, Bytes{address, size}, size); }

// bytes
ssize_t pread64(int fd, void* to, size_t bytes, off64_t offset) { return pread(fd, to, bytes, offset); }
ssize_t pwrite64(int fd, const void* from, size_t bytes, off64_t offset) { return pwrite(fd, from, bytes, offset); }
ssize_t sendfile64(int to, int from, off64_t* offset, size_t bytes) noexcept {
  return sendfile(to, from, offset, bytes); }

// lists of buffers
ssize_t preadv64(int fd, const iovec* list, int count, off64_t offset) { return preadv(fd, list, count, offset); }
ssize_t preadv64v2(int fd, const iovec* list, int count, off64_t offset, int flags) {
  return preadv2(fd, list, count, offset, flags); }
ssize_t pwritev64(int fd, const iovec* list, int count, off64_t offset) { return pwritev(fd, list, count, offset); }
ssize_t pwritev64v2(int fd, const iovec* list, int count, off64_t offset, int flags) {
  return pwritev2(fd, list, count, offset, flags); }

// signals
sighandler_t ssignal(int signal_number, sighandler_t handler) noexcept { return signal(signal_number, handler); }
sighandler_t __sysv_signal(int signal_number, sighandler_t handler) noexcept {
  return sysv_signal(signal_number, handler); }
int sigwaitinfo(const sigset_t* set, siginfo_t* info) { return sigtimedwait(set, info, nullptr); }

// texts
int vprintf(const char* format, va_list arguments) { return vfprintf(stdout, format, arguments); }
int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return __vfprintf_chk(stdout, flag, format, arguments); }
int fprintf(FILE* stream, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfprintf(stream, format, arguments);
  va_end(arguments);
  return result; }
int __fprintf_chk(FILE* stream, int flag, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __vfprintf_chk(stream, flag, format, arguments);
  va_end(arguments);
  return result; }
int printf(const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vfprintf(stdout, format, arguments);
  va_end(arguments);
  return result; }
int __printf_chk(int flag, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __vfprintf_chk(stdout, flag, format, arguments);
  va_end(arguments);
  return result; }
int dprintf(int fd, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = vdprintf(fd, format, arguments);
  va_end(arguments);
  return result; }
int __dprintf_chk(int fd, int flag, const char* format, ...) {
  va_list arguments; va_start(arguments, format);
  auto result = __vdprintf_chk(fd, flag, format, arguments);
  va_end(arguments);
  return result; }

// other programs
int execv(const char* path, char* const* arguments) noexcept { return execve(path, arguments, environ); }
int execvp(const char* file, char* const* arguments) noexcept { return execvpe(file, arguments, environ); }

// streams
void setlinebuf(FILE* stream) noexcept { setvbuf(stream, nullptr, _IOLBF, 0); }
void setbuf(FILE* stream, char* buffer) noexcept { setbuffer(stream, buffer, BUFSIZ); }
void setbuffer(FILE* stream, char* buffer, size_t bytes) noexcept {
  setvbuf(stream, buffer, buffer != nullptr ? _IOFBF : _IONBF, bytes); }

// checked and old forms
int __xstat(int version, const char* path, struct stat* to) { return stat(path, to); }
int __xstat64(int version, const char* path, struct stat64* to) { return stat64(path, to); }
int __lxstat(int version, const char* path, struct stat* to) { return lstat(path, to); }
int __lxstat64(int version, const char* path, struct stat64* to) { return lstat64(path, to); }
int __fxstat(int version, int fd, struct stat* to) { return fstat(fd, to); }
int __fxstat64(int version, int fd, struct stat64* to) { return fstat64(fd, to); }
int __fxstatat(int version, int folder, const char* path, struct stat* to, int flags) {
  return fstatat(folder, path, to, flags); }
int __fxstatat64(int version, int folder, const char* path, struct stat64* to, int flags) {
  return fstatat64(folder, path, to, flags); }
ssize_t __read_chk(int fd, void* to, size_t bytes, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return read(fd, to, bytes); }
ssize_t __pread_chk(int fd, void* to, size_t bytes, off_t offset, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return pread(fd, to, bytes, offset); }
ssize_t __pread64_chk(int fd, void* to, size_t bytes, off64_t offset, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return pread(fd, to, bytes, offset); }
ssize_t __recv_chk(int fd, void* to, size_t bytes, size_t room, int flags) {
  if (!(bytes <= room)) __chk_fail();
  return recv(fd, to, bytes, flags); }
ssize_t __recvfrom_chk(int fd, void* to, size_t bytes, size_t room, int flags, sockaddr* address, socklen_t* size) {
  if (!(bytes <= room)) __chk_fail();
  return recvfrom(fd, to, bytes, flags, address, size); }
size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  if (!(items_fit(room, size, count))) __chk_fail();
  return fread(to, size, count, stream); }
size_t __fread_unlocked_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  if (!(items_fit(room, size, count))) __chk_fail();
  return fread_unlocked(to, size, count, stream); }
ssize_t __readlink_chk(const char* path, char* to, size_t bytes, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return readlink(path, to, bytes); }
ssize_t __readlinkat_chk(int folder, const char* path, char* to, size_t bytes, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return readlinkat(folder, path, to, bytes); }
char* __getcwd_chk(char* to, size_t bytes, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return getcwd(to, bytes); }
char* __realpath_chk(const char* path, char* resolved, size_t room) {
  if (!(room >= PATH_MAX)) __chk_fail();
  return realpath(path, resolved); }
int __getgroups_chk(int count, gid_t* to, size_t room) {
  if (!(count < 0 || items_fit(room, sizeof *to, static_cast<size_t>(count)))) __chk_fail();
  return getgroups(count, to); }
int __ttyname_r_chk(int fd, char* to, size_t bytes, size_t room) {
  if (!(bytes <= room)) __chk_fail();
  return ttyname_r(fd, to, bytes); }
int __poll_chk(pollfd* list, nfds_t count, int timeout_ms, size_t room) {
  if (!(items_fit(room, sizeof *list, count))) __chk_fail();
  return poll(list, count, timeout_ms); }
int __ppoll_chk(pollfd* list, nfds_t count, const timespec* timeout, const sigset_t* mask, size_t room) {
  if (!(items_fit(room, sizeof *list, count))) __chk_fail();
  return ppoll(list, count, timeout, mask); }
int __open_2(const char* path, int flags) { if (!(!needs_mode(flags))) __chk_fail(); return open(path, flags); }
int __open64_2(const char* path, int flags) { if (!(!needs_mode(flags))) __chk_fail(); return open64(path, flags); }
int __openat_2(int folder, const char* path, int flags) {
  if (!(!needs_mode(flags))) __chk_fail();
  return openat(folder, path, flags); }
int __openat64_2(int folder, const char* path, int flags) {
  if (!(!needs_mode(flags))) __chk_fail();
  return openat64(folder, path, flags); }
mqd_t __mq_open_2(const char* name, int flags) {
  if (!((flags & O_CREAT) == 0)) __chk_fail();
  return mq_open(name, flags); }

// asynchronous ones, made at once
int aio_read64(aiocb64* block) noexcept { return aio_read(reinterpret_cast<aiocb*>(block)); }
int aio_write64(aiocb64* block) noexcept { return aio_write(reinterpret_cast<aiocb*>(block)); }
int aio_fsync64(int how, aiocb64* block) noexcept { return aio_fsync(how, reinterpret_cast<aiocb*>(block)); }
int lio_listio64(int mode, aiocb64* const list[], int count, sigevent* event) noexcept {
  return lio_listio(mode, reinterpret_cast<aiocb* const*>(list), count, event); }

}  // extern "C"
#pragma GCC visibility pop
