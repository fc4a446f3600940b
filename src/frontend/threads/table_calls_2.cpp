// Made by scripts/process_state.py --write from src/frontend/process_state.txt: change that.
// clang-format off
#include "frontend/threads/copies.h"
#include "frontend/threads/state_calls.h"

using terrane::frontend::call_elsewhere;
using terrane::frontend::call_on;
using terrane::frontend::is_elsewhere;
using namespace terrane::frontend::threads;
using terrane::frontend::next;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#pragma GCC visibility push(default)
extern "C" {

int inotify_rm_watch(int fd, int wd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::inotify_rm_watch, fd, wd);
  return next<"inotify_rm_watch">(::inotify_rm_watch)(fd, wd);
}
int isfdtype(int fd, int fdtype) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::isfdtype, fd, fdtype);
  return next<"isfdtype">(::isfdtype)(fd, fdtype);
}
ssize_t readahead(int fd, off64_t offset, size_t count) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::readahead, fd, offset, count);
  return next<"readahead">(::readahead)(fd, offset, count);
}
int sockatmark(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::sockatmark, fd);
  return next<"sockatmark">(::sockatmark)(fd);
}
int sync_file_range(int fd, off64_t offset, off64_t count, unsigned int flags) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::sync_file_range, fd, offset, count, flags);
  return next<"sync_file_range">(::sync_file_range)(fd, offset, count, flags);
}
int tcdrain(int fd) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcdrain, fd);
  return next<"tcdrain">(::tcdrain)(fd);
}
int tcflow(int fd, int action) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcflow, fd, action);
  return next<"tcflow">(::tcflow)(fd, action);
}
int tcflush(int fd, int queue_selector) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcflush, fd, queue_selector);
  return next<"tcflush">(::tcflush)(fd, queue_selector);
}
pid_t tcgetpgrp(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcgetpgrp, fd);
  return next<"tcgetpgrp">(::tcgetpgrp)(fd);
}
pid_t tcgetsid(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcgetsid, fd);
  return next<"tcgetsid">(::tcgetsid)(fd);
}
int tcsendbreak(int fd, int duration) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcsendbreak, fd, duration);
  return next<"tcsendbreak">(::tcsendbreak)(fd, duration);
}
int tcsetpgrp(int fd, pid_t pgrp_id) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::tcsetpgrp, fd, pgrp_id);
  return next<"tcsetpgrp">(::tcsetpgrp)(fd, pgrp_id);
}
int login_tty(int fd) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("login_tty", fd);
  return next<"login_tty">(::login_tty)(fd);
}
int fexecve(int fd, char* const argv[], char* const envp[]) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("fexecve", fd);
  return next<"fexecve">(::fexecve)(fd, argv, envp);
}
int execveat(int fd, const char* path, char* const argv[], char* const envp[], int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("execveat", fd);
  return next<"execveat">(::execveat)(fd, path, argv, envp, flags);
}
int fanotify_mark(int fd, unsigned flags, uint64_t mask, int folder, const char* path) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("fanotify_mark", fd);
  return next<"fanotify_mark">(::fanotify_mark)(fd, flags, mask, folder, path);
}
int name_to_handle_at(int fd, const char* name, file_handle* to, int* mount, int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("name_to_handle_at", fd);
  return next<"name_to_handle_at">(::name_to_handle_at)(fd, name, to, mount, flags);
}
int bindresvport(int fd, sockaddr_in* address) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("bindresvport", fd);
  return next<"bindresvport">(::bindresvport)(fd, address);
}
ssize_t tee(int fd, int to, size_t bytes, unsigned flags) {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("tee", fd);
  return next<"tee">(::tee)(fd, to, bytes, flags);
}
ssize_t getdirentries(int fd, char* buf, size_t nbytes, off_t* basep) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("getdirentries", fd);
  return next<"getdirentries">(::getdirentries)(fd, buf, nbytes, basep);
}
ssize_t getdirentries64(int fd, char* buf, size_t nbytes, off64_t* basep) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("getdirentries64", fd);
  return next<"getdirentries64">(::getdirentries64)(fd, buf, nbytes, basep);
}
int futimesat(int fd, const char* file, const timeval tvp[2]) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("futimesat", fd);
  return next<"futimesat">(::futimesat)(fd, file, tvp);
}
int putpwent(const passwd* entry, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::putpwent, entry, stream);
  return next<"putpwent">(::putpwent)(entry, stream);
}
int putgrent(const group* entry, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::putgrent, entry, stream);
  return next<"putgrent">(::putgrent)(entry, stream);
}
int putspent(const spwd* entry, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::putspent, entry, stream);
  return next<"putspent">(::putspent)(entry, stream);
}
int putsgent(const sgrp* entry, FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::putsgent, entry, stream);
  return next<"putsgent">(::putsgent)(entry, stream);
}
int addmntent(FILE* stream, const mntent* entry) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::addmntent, stream, entry);
  return next<"addmntent">(::addmntent)(stream, entry);
}
mntent* getmntent_r(FILE* stream, mntent* result, char* buffer, int bytes) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::getmntent_r, stream, result, buffer, bytes);
  return next<"getmntent_r">(::getmntent_r)(stream, result, buffer, bytes);
}
int fgetpwent_r(FILE* stream, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetpwent_r, stream, entry, buffer, bytes, result);
  return next<"fgetpwent_r">(::fgetpwent_r)(stream, entry, buffer, bytes, result);
}
int fgetgrent_r(FILE* stream, group* entry, char* buffer, size_t bytes, group** result) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetgrent_r, stream, entry, buffer, bytes, result);
  return next<"fgetgrent_r">(::fgetgrent_r)(stream, entry, buffer, bytes, result);
}
int fgetspent_r(FILE* stream, spwd* entry, char* buffer, size_t bytes, spwd** result) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetspent_r, stream, entry, buffer, bytes, result);
  return next<"fgetspent_r">(::fgetspent_r)(stream, entry, buffer, bytes, result);
}
int fgetsgent_r(FILE* stream, sgrp* entry, char* buffer, size_t bytes, sgrp** result) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetsgent_r, stream, entry, buffer, bytes, result);
  return next<"fgetsgent_r">(::fgetsgent_r)(stream, entry, buffer, bytes, result);
}
size_t __fbufsize(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fbufsize, stream);
  return next<"__fbufsize">(::__fbufsize)(stream);
}
int __flbf(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__flbf, stream);
  return next<"__flbf">(::__flbf)(stream);
}
size_t __fpending(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fpending, stream);
  return next<"__fpending">(::__fpending)(stream);
}
void __fpurge(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fpurge, stream);
  return next<"__fpurge">(::__fpurge)(stream);
}
int __freadable(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__freadable, stream);
  return next<"__freadable">(::__freadable)(stream);
}
int __freading(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__freading, stream);
  return next<"__freading">(::__freading)(stream);
}
int __fsetlocking(FILE* stream, int type) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fsetlocking, stream, type);
  return next<"__fsetlocking">(::__fsetlocking)(stream, type);
}
int __fwritable(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fwritable, stream);
  return next<"__fwritable">(::__fwritable)(stream);
}
int __fwriting(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::__fwriting, stream);
  return next<"__fwriting">(::__fwriting)(stream);
}
int readdir_r(DIR* dir, dirent* entry, dirent** result) {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::readdir_r, dir, entry, result);
  return next<"readdir_r">(::readdir_r)(dir, entry, result);
}
int readdir64_r(DIR* dir, dirent64* entry, dirent64** result) {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::readdir64_r, dir, entry, result);
  return next<"readdir64_r">(::readdir64_r)(dir, entry, result);
}
void rewinddir(DIR* dir) noexcept {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::rewinddir, dir);
  return next<"rewinddir">(::rewinddir)(dir);
}
void seekdir(DIR* dir, long place) noexcept {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::seekdir, dir, place);
  return next<"seekdir">(::seekdir)(dir, place);
}
long telldir(DIR* dir) noexcept {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::telldir, dir);
  return next<"telldir">(::telldir)(dir);
}
int dirfd(DIR* dir) noexcept {
  if (is_elsewhere(dir)) return call_elsewhere(dir, ::dirfd, dir);
  return next<"dirfd">(::dirfd)(dir);
}
FTSENT* fts_read(FTS* tree) {
  if (is_elsewhere(tree))
    ended("fts_read", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts_read">(::fts_read)(tree);
}
FTSENT* fts_children(FTS* tree, int options) {
  if (is_elsewhere(tree))
    ended("fts_children", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts_children">(::fts_children)(tree, options);
}
int fts_close(FTS* tree) {
  if (is_elsewhere(tree))
    ended("fts_close", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts_close">(::fts_close)(tree);
}
int fts_set(FTS* tree, FTSENT* entry, int instruction) noexcept {
  if (is_elsewhere(tree))
    ended("fts_set", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts_set">(::fts_set)(tree, entry, instruction);
}
FTSENT64* fts64_read(FTS64* tree) {
  if (is_elsewhere(tree))
    ended("fts64_read", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts64_read">(::fts64_read)(tree);
}
FTSENT64* fts64_children(FTS64* tree, int options) {
  if (is_elsewhere(tree))
    ended("fts64_children", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts64_children">(::fts64_children)(tree, options);
}
int fts64_close(FTS64* tree) {
  if (is_elsewhere(tree))
    ended("fts64_close", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts64_close">(::fts64_close)(tree);
}
int fts64_set(FTS64* tree, FTSENT64* entry, int instruction) noexcept {
  if (is_elsewhere(tree))
    ended("fts64_set", "it is used on another node than the one that has opened it");
  terrane::frontend::ForNode memory;
  return next<"fts64_set">(::fts64_set)(tree, entry, instruction);
}
FTS* fts_open(char* const* paths, int options, int (*order)(const FTSENT**, const FTSENT**)) {
  terrane::frontend::ForNode memory;
  return next<"fts_open">(::fts_open)(paths, options, order);
}
FTS64* fts64_open(char* const* paths, int options, int (*order)(const FTSENT64**, const FTSENT64**)) {
  terrane::frontend::ForNode memory;
  return next<"fts64_open">(::fts64_open)(paths, options, order);
}
int addseverity(int severity, const char* text) noexcept {
  return on_every_node("addseverity", next<"addseverity">(::addseverity), severity, text);
}
int register_printf_function(int letter, printf_function* print, printf_arginfo_function* tell) noexcept {
  return on_every_node("register_printf_function", next<"register_printf_function">(::register_printf_function), letter, print, tell);
}
int register_printf_specifier(int letter, printf_function* print, printf_arginfo_size_function* tell) noexcept {
  return on_every_node("register_printf_specifier", next<"register_printf_specifier">(::register_printf_specifier), letter, print, tell);
}
int register_printf_modifier(const wchar_t* text) noexcept {
  return on_every_node("register_printf_modifier", next<"register_printf_modifier">(::register_printf_modifier), text);
}
int register_printf_type(printf_va_arg_function* read) noexcept {
  return on_every_node("register_printf_type", next<"register_printf_type">(::register_printf_type), read);
}
void openlog(const char* name, int options, int facility) {
  return on_every_node("openlog", next<"openlog">(::openlog), name, options, facility);
}
void closelog(void) {
  return on_every_node("closelog", next<"closelog">(::closelog));
}
int setlogmask(int mask) noexcept {
  return on_every_node("setlogmask", next<"setlogmask">(::setlogmask), mask);
}
int pthread_setconcurrency(int level) noexcept {
  return on_every_node("pthread_setconcurrency", next<"pthread_setconcurrency">(::pthread_setconcurrency), level);
}
reg_syntax_t re_set_syntax(reg_syntax_t syntax) {
  return on_every_node("re_set_syntax", next<"re_set_syntax">(::re_set_syntax), syntax);
}
int getpwnam_r(const char* name, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  return on_private_stack(next<"getpwnam_r">(::getpwnam_r), name, entry, buffer, bytes, result);
}
int getpwuid_r(uid_t user, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  return on_private_stack(next<"getpwuid_r">(::getpwuid_r), user, entry, buffer, bytes, result);
}
int getgrnam_r(const char* name, group* entry, char* buffer, size_t bytes, group** result) {
  return on_private_stack(next<"getgrnam_r">(::getgrnam_r), name, entry, buffer, bytes, result);
}
int getgrgid_r(gid_t number, group* entry, char* buffer, size_t bytes, group** result) {
  return on_private_stack(next<"getgrgid_r">(::getgrgid_r), number, entry, buffer, bytes, result);
}
int getspnam_r(const char* name, spwd* entry, char* buffer, size_t bytes, spwd** result) {
  return on_private_stack(next<"getspnam_r">(::getspnam_r), name, entry, buffer, bytes, result);
}
int getsgnam_r(const char* name, sgrp* entry, char* buffer, size_t bytes, sgrp** result) {
  return on_private_stack(next<"getsgnam_r">(::getsgnam_r), name, entry, buffer, bytes, result);
}
int getgrouplist(const char* user, gid_t group, gid_t* groups, int* count) {
  return on_private_stack(next<"getgrouplist">(::getgrouplist), user, group, groups, count);
}
int getprotobyname_r(const char* name, protoent* entry, char* buffer, size_t bytes, protoent** result) {
  return on_private_stack(next<"getprotobyname_r">(::getprotobyname_r), name, entry, buffer, bytes, result);
}
int getprotobynumber_r(int number, protoent* entry, char* buffer, size_t bytes, protoent** result) {
  return on_private_stack(next<"getprotobynumber_r">(::getprotobynumber_r), number, entry, buffer, bytes, result);
}
int getservbyname_r(const char* name, const char* of, servent* entry, char* buffer, size_t bytes, servent** result) {
  return on_private_stack(next<"getservbyname_r">(::getservbyname_r), name, of, entry, buffer, bytes, result);
}
int getservbyport_r(int port, const char* of, servent* entry, char* buffer, size_t bytes, servent** result) {
  return on_private_stack(next<"getservbyport_r">(::getservbyport_r), port, of, entry, buffer, bytes, result);
}
int gethostbyname_r(const char* name, hostent* entry, char* buffer, size_t bytes, hostent** result, int* wrong) {
  return on_private_stack(next<"gethostbyname_r">(::gethostbyname_r), name, entry, buffer, bytes, result, wrong);
}
int gethostbyname2_r(const char* name, int of, hostent* entry, char* buffer, size_t bytes, hostent** result, int* wrong) {
  return on_private_stack(next<"gethostbyname2_r">(::gethostbyname2_r), name, of, entry, buffer, bytes, result, wrong);
}
int getnetbyname_r(const char* name, netent* entry, char* buffer, size_t bytes, netent** result, int* wrong) {
  return on_private_stack(next<"getnetbyname_r">(::getnetbyname_r), name, entry, buffer, bytes, result, wrong);
}
int getrpcbyname_r(const char* name, rpcent* entry, char* buffer, size_t bytes, rpcent** result) noexcept {
  return on_private_stack(next<"getrpcbyname_r">(::getrpcbyname_r), name, entry, buffer, bytes, result);
}
int getrpcbynumber_r(int number, rpcent* entry, char* buffer, size_t bytes, rpcent** result) noexcept {
  return on_private_stack(next<"getrpcbynumber_r">(::getrpcbynumber_r), number, entry, buffer, bytes, result);
}
int getaliasbyname_r(const char* name, aliasent* entry, char* buffer, size_t bytes, aliasent** result) noexcept {
  return on_private_stack(next<"getaliasbyname_r">(::getaliasbyname_r), name, entry, buffer, bytes, result);
}
int getnameinfo(const sockaddr* of, socklen_t size, char* host, socklen_t hosts, char* port, socklen_t ports, int flags) {
  return on_private_stack(next<"getnameinfo">(::getnameinfo), of, size, host, hosts, port, ports, flags);
}
int innetgr(const char* group, const char* host, const char* user, const char* domain) {
  return on_private_stack(next<"innetgr">(::innetgr), group, host, user, domain);
}
int ether_hostton(const char* host, ether_addr* address) noexcept {
  return on_private_stack(next<"ether_hostton">(::ether_hostton), host, address);
}
int ether_ntohost(char* host, const ether_addr* address) noexcept {
  return on_private_stack(next<"ether_ntohost">(::ether_ntohost), host, address);
}
unsigned int if_nametoindex(const char* name) noexcept {
  return on_private_stack(next<"if_nametoindex">(::if_nametoindex), name);
}
char* if_indextoname(unsigned int number, char* name) noexcept {
  return on_private_stack(next<"if_indextoname">(::if_indextoname), number, name);
}
int gethostname(char* name, size_t bytes) noexcept {
  return on_private_stack(next<"gethostname">(::gethostname), name, bytes);
}
int getdomainname(char* name, size_t bytes) noexcept {
  return on_private_stack(next<"getdomainname">(::getdomainname), name, bytes);
}
int getlogin_r(char* name, size_t bytes) {
  return on_private_stack(next<"getlogin_r">(::getlogin_r), name, bytes);
}
int getloadavg(double loads[], int count) noexcept {
  return on_private_stack(next<"getloadavg">(::getloadavg), loads, count);
}
int getpw(uid_t user, char* buffer) {
  return on_private_stack(next<"getpw">(::getpw), user, buffer);
}
long int pathconf(const char* path, int name) noexcept {
  terrane::frontend::InPath own_path(path);
  return on_private_stack(next<"pathconf">(::pathconf), own_path.get(), name);
}
key_t ftok(const char* path, int number) noexcept {
  terrane::frontend::InPath own_path(path);
  return on_private_stack(next<"ftok">(::ftok), own_path.get(), number);
}
int open_by_handle_at(int fd, file_handle* handle, int flags) {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("open_by_handle_at", fd);
  return terrane::frontend::adopt(next<"open_by_handle_at">(::open_by_handle_at)(fd, handle, flags));
}
int fanotify_init(unsigned int flags, unsigned int event_flags) noexcept {
  return terrane::frontend::adopt(next<"fanotify_init">(::fanotify_init)(flags, event_flags));
}
int pidfd_getfd(int fd, int other, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("pidfd_getfd", fd);
  return terrane::frontend::adopt(next<"pidfd_getfd">(::pidfd_getfd)(fd, other, flags));
}
int fsopen(const char* name, unsigned int flags) noexcept {
  return terrane::frontend::adopt(next<"fsopen">(::fsopen)(name, flags));
}
int fsmount(int fd, unsigned int flags, unsigned int attributes) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("fsmount", fd);
  return terrane::frontend::adopt(next<"fsmount">(::fsmount)(fd, flags, attributes));
}
int fspick(int fd, const char* path, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("fspick", fd);
  return terrane::frontend::adopt(next<"fspick">(::fspick)(fd, path, flags));
}
int open_tree(int fd, const char* path, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("open_tree", fd);
  return terrane::frontend::adopt(next<"open_tree">(::open_tree)(fd, path, flags));
}
int rresvport(int* port) {
  return terrane::frontend::adopt(next<"rresvport">(::rresvport)(port));
}
int rresvport_af(int* port, sa_family_t family) {
  return terrane::frontend::adopt(next<"rresvport_af">(::rresvport_af)(port, family));
}
int pidfd_send_signal(int fd, int number, siginfo_t* info, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("pidfd_send_signal", fd);
  return next<"pidfd_send_signal">(::pidfd_send_signal)(fd, number, info, flags);
}
ssize_t process_madvise(int fd, const iovec* parts, size_t count, int advice, unsigned flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("process_madvise", fd);
  return next<"process_madvise">(::process_madvise)(fd, parts, count, advice, flags);
}
int process_mrelease(int fd, unsigned int flags) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("process_mrelease", fd);
  return next<"process_mrelease">(::process_mrelease)(fd, flags);
}
int getipv4sourcefilter(int fd, in_addr own, in_addr group, uint32_t* mode, uint32_t* count, in_addr* list) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("getipv4sourcefilter", fd);
  return next<"getipv4sourcefilter">(::getipv4sourcefilter)(fd, own, group, mode, count, list);
}
int setipv4sourcefilter(int fd, in_addr own, in_addr group, uint32_t mode, uint32_t count, const in_addr* list) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("setipv4sourcefilter", fd);
  return next<"setipv4sourcefilter">(::setipv4sourcefilter)(fd, own, group, mode, count, list);
}
int getsourcefilter(int fd, uint32_t own, const sockaddr* group, socklen_t size, uint32_t* mode, uint32_t* count, sockaddr_storage* list) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("getsourcefilter", fd);
  return next<"getsourcefilter">(::getsourcefilter)(fd, own, group, size, mode, count, list);
}
int setsourcefilter(int fd, uint32_t own, const sockaddr* group, socklen_t size, uint32_t mode, uint32_t count, const sockaddr_storage* list) noexcept {
  if (is_elsewhere(fd)) return terrane::frontend::Elsewhere::get()->refuse("setsourcefilter", fd);
  return next<"setsourcefilter">(::setsourcefilter)(fd, own, group, size, mode, count, list);
}
void backtrace_symbols_fd(void* const* places, int count, int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::backtrace_symbols_fd, places, count, fd);
  return next<"backtrace_symbols_fd">(::backtrace_symbols_fd)(places, count, fd);
}
int getutid_r(const utmp* id, utmp* buffer, utmp** result) noexcept {
  return at_node_0(next<"getutid_r">(::getutid_r), ::getutid_r, id, buffer, result);
}
int getutline_r(const utmp* line, utmp* buffer, utmp** result) noexcept {
  return at_node_0(next<"getutline_r">(::getutline_r), ::getutline_r, line, buffer, result);
}
void login(const utmp* entry) noexcept {
  return at_node_0(next<"login">(::login), ::login, entry);
}
int logout(const char* line) noexcept {
  return at_node_0(next<"logout">(::logout), ::logout, line);
}
void logwtmp(const char* line, const char* name, const char* host) noexcept {
  return at_node_0(next<"logwtmp">(::logwtmp), ::logwtmp, line, name, host);
}
void updwtmpx(const char* file, const utmpx* entry) {
  return at_node_0(next<"updwtmpx">(::updwtmpx), ::updwtmpx, file, entry);
}
int brk(void* end) noexcept {
  if (!concerns_all_nodes()) return next<"brk">(::brk)(end);
  return refused<"brk", int>(ENOMEM,
      "it would give memory of the calling node alone; use malloc or mmap");
}
int pkey_alloc(unsigned flags, unsigned rights) noexcept {
  if (!concerns_all_nodes()) return next<"pkey_alloc">(::pkey_alloc)(flags, rights);
  return refused<"pkey_alloc", int>(ENOSPC,
      "the keys of shared memory would be those of the calling node alone");
}
FILE* open_wmemstream(wchar_t** text, size_t* characters) noexcept {
  if (!concerns_all_nodes()) return next<"open_wmemstream">(::open_wmemstream)(text, characters);
  return refused<"open_wmemstream", FILE*>(ENOSYS,
      "its text would be memory of the calling node alone; `open_memstream` works");
}
pid_t _Fork(void) noexcept {
  if (!concerns_all_nodes()) return next<"_Fork">(::_Fork)();
  return refused<"_Fork", pid_t>(ENOSYS,
      "the child would not have the program's memory; `posix_spawn` works");
}
int forkpty(int* master, char* name, const termios* terminal, const winsize* size) noexcept {
  if (!concerns_all_nodes()) return next<"forkpty">(::forkpty)(master, name, terminal, size);
  return refused<"forkpty", int>(ENOSYS,
      "the child would not have the program's memory; `openpty` and `posix_spawn` work");
}

}  // extern "C"
#pragma GCC visibility pop
