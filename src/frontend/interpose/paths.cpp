// More calls that take paths: those that change a file's name, owner, rights, times or attributes.
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/interpose/arguments.h"
#include "frontend/interpose/elsewhere.h"
#include "frontend/interpose/for_caller.h"
#include "frontend/interpose/next.h"

using terrane::frontend::adopt;
using terrane::frontend::call_elsewhere;
using terrane::frontend::Elsewhere;
using terrane::frontend::ForCaller;
using terrane::frontend::In;
using terrane::frontend::InPath;
using terrane::frontend::is_elsewhere;
using terrane::frontend::next;
using terrane::frontend::Out;
using terrane::frontend::SharedRange;

namespace {

struct TwoTimes {
  timespec times[2];
};
struct TwoTimevals {
  timeval times[2];
};

// Of two folders one that is elsewhere; -1: none is.
int elsewhere_of(int one, int other) {
  return is_elsewhere(one) ? one : is_elsewhere(other) ? other : -1;
}

// Whether one node has both; the current folder is that of all nodes. Else the call is refused.
bool same_node(const char* call, int one, int other) {
  Elsewhere& elsewhere = *Elsewhere::get();
  bool same = one < 0 || other < 0 || elsewhere.node_of(one) == elsewhere.node_of(other);
  if (!same) elsewhere.refuse(call, is_elsewhere(one) ? one : other);
  return same;
}

// The name that a template becomes is the program's afterwards. call(text) is one of the mkstemp
// family, result.ok() whether it made the file.
template <typename Call>
auto make_named(char* name, Call call) {
  if (!SharedRange::contains(name)) return call(name);
  char own[PATH_MAX];
  if (!terrane::platform::guarded_copy_string(own, name, sizeof own)) return call(name);
  auto result = call(own);
  terrane::platform::guarded_copy(name, own, std::strlen(own) + 1);
  return result;
}

// A standard stream keeps its number, by which the program's children have it.
FILE* reopened(FILE* stream) {
  if (stream == nullptr || stream->_fileno > STDERR_FILENO) return adopt(stream);
  if (Elsewhere* elsewhere = Elsewhere::get()) elsewhere->redirected(stream->_fileno);
  return stream;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int chmod(const char* path, mode_t mode) noexcept {
  return next<"chmod">(::chmod)(InPath(path).get(), mode);
}

int fchmodat(int folder, const char* path, mode_t mode, int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::fchmodat, folder, path, mode, flags);
  return next<"fchmodat">(::fchmodat)(folder, InPath(path).get(), mode, flags);
}

int chown(const char* path, uid_t user, gid_t group) noexcept {
  return next<"chown">(::chown)(InPath(path).get(), user, group);
}

int lchown(const char* path, uid_t user, gid_t group) noexcept {
  return next<"lchown">(::lchown)(InPath(path).get(), user, group);
}

int fchownat(int folder, const char* path, uid_t user, gid_t group, int flags) noexcept {
  if (is_elsewhere(folder))
    return call_elsewhere(folder, ::fchownat, folder, path, user, group, flags);
  return next<"fchownat">(::fchownat)(folder, InPath(path).get(), user, group, flags);
}

int symlink(const char* target, const char* path) noexcept {
  return next<"symlink">(::symlink)(InPath(target).get(), InPath(path).get());
}

int symlinkat(const char* target, int folder, const char* path) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::symlinkat, target, folder, path);
  return next<"symlinkat">(::symlinkat)(InPath(target).get(), folder, InPath(path).get());
}

int link(const char* from, const char* to) noexcept {
  return next<"link">(::link)(InPath(from).get(), InPath(to).get());
}

int linkat(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("linkat", from_folder, to_folder)
               ? call_elsewhere(folder, ::linkat, from_folder, from, to_folder, to, flags)
               : -1;
  auto* call = next<"linkat">(::linkat);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get(), flags);
}

int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("renameat", from_folder, to_folder)
               ? call_elsewhere(folder, ::renameat, from_folder, from, to_folder, to)
               : -1;
  auto* call = next<"renameat">(::renameat);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get());
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  if (int folder = elsewhere_of(from_folder, to_folder); folder >= 0)
    return same_node("renameat2", from_folder, to_folder)
               ? call_elsewhere(folder, ::renameat2, from_folder, from, to_folder, to, flags)
               : -1;
  auto* call = next<"renameat2">(::renameat2);
  return call(from_folder, InPath(from).get(), to_folder, InPath(to).get(), flags);
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::unlinkat, folder, path, flags);
  return next<"unlinkat">(::unlinkat)(folder, InPath(path).get(), flags);
}

int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::mkdirat, folder, path, mode);
  return next<"mkdirat">(::mkdirat)(folder, InPath(path).get(), mode);
}

int mkfifo(const char* path, mode_t mode) noexcept {
  return next<"mkfifo">(::mkfifo)(InPath(path).get(), mode);
}

int mkfifoat(int folder, const char* path, mode_t mode) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::mkfifoat, folder, path, mode);
  return next<"mkfifoat">(::mkfifoat)(folder, InPath(path).get(), mode);
}

int mknod(const char* path, mode_t mode, dev_t device) noexcept {
  return next<"mknod">(::mknod)(InPath(path).get(), mode, device);
}

int mknodat(int folder, const char* path, mode_t mode, dev_t device) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::mknodat, folder, path, mode, device);
  return next<"mknodat">(::mknodat)(folder, InPath(path).get(), mode, device);
}

int faccessat(int folder, const char* path, int mode, int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::faccessat, folder, path, mode, flags);
  return next<"faccessat">(::faccessat)(folder, InPath(path).get(), mode, flags);
}

int euidaccess(const char* path, int mode) noexcept {
  return next<"euidaccess">(::euidaccess)(InPath(path).get(), mode);
}

int eaccess(const char* path, int mode) noexcept { return euidaccess(path, mode); }

int truncate64(const char* path, off64_t bytes) noexcept {
  return next<"truncate64">(::truncate64)(InPath(path).get(), bytes);
}

int statfs(const char* path, struct statfs* to) noexcept {
  Out<struct statfs> own(to);
  return own.done(next<"statfs">(::statfs)(InPath(path).get(), own.get()));
}

int statfs64(const char* path, struct statfs64* to) noexcept {
  Out<struct statfs64> own(to);
  return own.done(next<"statfs64">(::statfs64)(InPath(path).get(), own.get()));
}

int fstatfs(int fd, struct statfs* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fstatfs, fd, to);
  Out<struct statfs> own(to);
  return own.done(next<"fstatfs">(::fstatfs)(fd, own.get()));
}

int fstatfs64(int fd, struct statfs64* to) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fstatfs64, fd, to);
  Out<struct statfs64> own(to);
  return own.done(next<"fstatfs64">(::fstatfs64)(fd, own.get()));
}

int statvfs(const char* path, struct statvfs* to) noexcept {
  Out<struct statvfs> own(to);
  return own.done(next<"statvfs">(::statvfs)(InPath(path).get(), own.get()));
}

int statvfs64(const char* path, struct statvfs64* to) noexcept {
  Out<struct statvfs64> own(to);
  return own.done(next<"statvfs64">(::statvfs64)(InPath(path).get(), own.get()));
}

int utimensat(int folder, const char* path, const timespec times[2], int flags) noexcept {
  if (is_elsewhere(folder)) return call_elsewhere(folder, ::utimensat, folder, path, times, flags);
  In<TwoTimes> own(reinterpret_cast<const TwoTimes*>(times));
  auto* call = next<"utimensat">(::utimensat);
  return call(folder, InPath(path).get(), reinterpret_cast<const timespec*>(own.get()), flags);
}

int futimens(int fd, const timespec times[2]) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::futimens, fd, times);
  In<TwoTimes> own(reinterpret_cast<const TwoTimes*>(times));
  return next<"futimens">(::futimens)(fd, reinterpret_cast<const timespec*>(own.get()));
}

int utimes(const char* path, const timeval times[2]) noexcept {
  In<TwoTimevals> own(reinterpret_cast<const TwoTimevals*>(times));
  auto* call = next<"utimes">(::utimes);
  return call(InPath(path).get(), reinterpret_cast<const timeval*>(own.get()));
}

int utime(const char* path, const utimbuf* times) noexcept {
  In<utimbuf> own(times);
  return next<"utime">(::utime)(InPath(path).get(), own.get());
}

int mkstemp(char* name) { return adopt(make_named(name, next<"mkstemp">(::mkstemp))); }
int mkstemp64(char* name) { return mkstemp(name); }

int mkostemp(char* name, int flags) {
  auto* call = next<"mkostemp">(::mkostemp);
  return adopt(make_named(name, [=](char* own) { return call(own, flags); }));
}
int mkostemp64(char* name, int flags) { return mkostemp(name, flags); }

int mkstemps(char* name, int suffix) {
  auto* call = next<"mkstemps">(::mkstemps);
  return adopt(make_named(name, [=](char* own) { return call(own, suffix); }));
}
int mkstemps64(char* name, int suffix) { return mkstemps(name, suffix); }

int mkostemps(char* name, int suffix, int flags) {
  auto* call = next<"mkostemps">(::mkostemps);
  return adopt(make_named(name, [=](char* own) { return call(own, suffix, flags); }));
}
int mkostemps64(char* name, int suffix, int flags) { return mkostemps(name, suffix, flags); }

char* mkdtemp(char* name) noexcept {
  auto* call = next<"mkdtemp">(::mkdtemp);
  return make_named(name, [=](char* own) { return call(own) != nullptr ? name : nullptr; });
}

char* realpath(const char* path, char* resolved) noexcept {
  auto* call = next<"realpath">(::realpath);
  InPath own(path);
  if (!SharedRange::contains(resolved)) {
    ForCaller memory;
    return call(own.get(), resolved);
  }
  char text[PATH_MAX];
  if (call(own.get(), text) == nullptr) return nullptr;
  if (terrane::platform::guarded_copy(resolved, text, std::strlen(text) + 1)) return resolved;
  errno = EFAULT;
  return nullptr;
}

FILE* freopen(const char* path, const char* mode, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::freopen, path, mode, stream);
  return reopened(next<"freopen">(::freopen)(InPath(path).get(), mode, stream));
}

FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::freopen64, path, mode, stream);
  return reopened(next<"freopen64">(::freopen64)(InPath(path).get(), mode, stream));
}

int scandir(const char* path, dirent*** names, int (*wanted)(const dirent*),
            int (*order)(const dirent**, const dirent**)) {
  ForCaller memory;
  return next<"scandir">(::scandir)(InPath(path).get(), names, wanted, order);
}

int scandir64(const char* path, dirent64*** names, int (*wanted)(const dirent64*),
              int (*order)(const dirent64**, const dirent64**)) {
  ForCaller memory;
  return next<"scandir64">(::scandir64)(InPath(path).get(), names, wanted, order);
}

int scandirat(int folder, const char* path, dirent*** names, int (*wanted)(const dirent*),
              int (*order)(const dirent**, const dirent**)) {
  if (is_elsewhere(folder))
    return call_elsewhere(folder, ::scandirat, folder, path, names, wanted, order);
  ForCaller memory;
  return next<"scandirat">(::scandirat)(folder, InPath(path).get(), names, wanted, order);
}

static_assert(sizeof(dirent) == sizeof(dirent64));
int scandirat64(int folder, const char* path, dirent64*** names, int (*wanted)(const dirent64*),
                int (*order)(const dirent64**, const dirent64**)) {
  return scandirat(folder, path, reinterpret_cast<dirent***>(names),
                   reinterpret_cast<int (*)(const dirent*)>(wanted),
                   reinterpret_cast<int (*)(const dirent**, const dirent**)>(order));
}

int inotify_add_watch(int fd, const char* path, uint32_t events) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::inotify_add_watch, fd, path, events);
  return next<"inotify_add_watch">(::inotify_add_watch)(fd, InPath(path).get(), events);
}

int memfd_create(const char* name, unsigned flags) noexcept {
  return adopt(next<"memfd_create">(::memfd_create)(InPath(name).get(), flags));
}

int shm_open(const char* name, int flags, mode_t mode) {
  return adopt(next<"shm_open">(::shm_open)(InPath(name).get(), flags, mode));
}

int shm_unlink(const char* name) { return next<"shm_unlink">(::shm_unlink)(InPath(name).get()); }

}  // extern "C"
#pragma GCC visibility pop
