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

// Rights and limits
int unshare(int flags) noexcept {
  return refused<"unshare">(::unshare, EPERM,
      "the threads of other nodes would stay in the old namespaces", flags); }
int setns(int fd, int kind) noexcept {
  return refused<"setns">(::setns, EPERM,
      "the threads of other nodes would stay in the old namespaces", fd, kind); }
int setdomainname(const char* name, size_t bytes) noexcept {
  return refused<"setdomainname">(::setdomainname, EPERM,
      "the nodes may be on several hosts, which cannot have one name", name, bytes); }
int setuid(uid_t user) noexcept { return on_every_node<"setuid">(::setuid, user); }
int setgid(gid_t group) noexcept { return on_every_node<"setgid">(::setgid, group); }
int setreuid(uid_t real, uid_t effective) noexcept { return on_every_node<"setreuid">(::setreuid, real, effective); }
int setregid(gid_t real, gid_t effective) noexcept { return on_every_node<"setregid">(::setregid, real, effective); }
int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return on_every_node<"setresuid">(::setresuid, real, effective, saved); }
int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  return on_every_node<"setresgid">(::setresgid, real, effective, saved); }
int seteuid(uid_t user) noexcept { return on_every_node<"seteuid">(::seteuid, user); }
int setegid(gid_t group) noexcept { return on_every_node<"setegid">(::setegid, group); }

// Results that the C library keeps
tm* localtime(const time_t* timer) noexcept { return copied<"localtime", kForProcess>(::localtime, timer); }
tm* gmtime(const time_t* timer) noexcept { return copied<"gmtime", kForProcess>(::gmtime, timer); }
char* asctime(const tm* tp) noexcept { return copied<"asctime", kForProcess>(::asctime, tp); }
char* ctime(const time_t* timer) noexcept { return copied<"ctime", kForProcess>(::ctime, timer); }
tm* getdate(const char* string) { return copied<"getdate", kForProcess>(::getdate, string); }
passwd* getpwnam(const char* name) { return copied<"getpwnam", kForProcess>(::getpwnam, name); }
passwd* getpwuid(uid_t uid) { return copied<"getpwuid", kForProcess>(::getpwuid, uid); }
group* getgrnam(const char* name) { return copied<"getgrnam", kForProcess>(::getgrnam, name); }
group* getgrgid(gid_t gid) { return copied<"getgrgid", kForProcess>(::getgrgid, gid); }
hostent* gethostbyname(const char* name) { return copied<"gethostbyname", kForProcess>(::gethostbyname, name); }
hostent* gethostbyname2(const char* name, int af) {
  return copied<"gethostbyname2", kForProcess>(::gethostbyname2, name, af); }
hostent* gethostbyaddr(const void* addr, socklen_t len, int type) {
  return copied<"gethostbyaddr", kForProcess>(::gethostbyaddr, addr, len, type); }
netent* getnetbyname(const char* name) { return copied<"getnetbyname", kForProcess>(::getnetbyname, name); }
netent* getnetbyaddr(uint32_t net, int type) { return copied<"getnetbyaddr", kForProcess>(::getnetbyaddr, net, type); }
protoent* getprotobyname(const char* name) { return copied<"getprotobyname", kForProcess>(::getprotobyname, name); }
protoent* getprotobynumber(int proto) { return copied<"getprotobynumber", kForProcess>(::getprotobynumber, proto); }
servent* getservbyname(const char* name, const char* proto) {
  return copied<"getservbyname", kForProcess>(::getservbyname, name, proto); }
servent* getservbyport(int port, const char* proto) {
  return copied<"getservbyport", kForProcess>(::getservbyport, port, proto); }
rpcent* getrpcbyname(const char* name) noexcept { return copied<"getrpcbyname", kForProcess>(::getrpcbyname, name); }
rpcent* getrpcbynumber(int number) noexcept { return copied<"getrpcbynumber", kForProcess>(::getrpcbynumber, number); }
aliasent* getaliasbyname(const char* name) noexcept {
  return copied<"getaliasbyname", kForProcess>(::getaliasbyname, name); }
spwd* getspnam(const char* name) { return copied<"getspnam", kForProcess>(::getspnam, name); }
sgrp* getsgnam(const char* name) { return copied<"getsgnam", kForProcess>(::getsgnam, name); }
spwd* sgetspent(const char* string) { return copied<"sgetspent", kForProcess>(::sgetspent, string); }
sgrp* sgetsgent(const char* string) { return copied<"sgetsgent", kForProcess>(::sgetsgent, string); }
char* getlogin(void) { return copied<"getlogin", kForProcess>(::getlogin); }
char* ttyname(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ttyname, fd);
  return copied<"ttyname", kForProcess>(::ttyname, fd); }
char* ptsname(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ptsname, fd);
  return copied<"ptsname", kForProcess>(::ptsname, fd); }
char* ctermid(char* s) noexcept { return copied<"ctermid", kForProcess>(::ctermid, s); }
char* cuserid(char* s) { return copied<"cuserid", kForProcess>(::cuserid, s); }
char* tmpnam(char* name) noexcept { return copied<"tmpnam", kForProcess>(::tmpnam, name); }
char* ecvt(double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"ecvt", kForProcess>(::ecvt, value, ndigit, decpt, sign); }
char* fcvt(double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"fcvt", kForProcess>(::fcvt, value, ndigit, decpt, sign); }
char* qecvt(long double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"qecvt", kForProcess>(::qecvt, value, ndigit, decpt, sign); }
char* qfcvt(long double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"qfcvt", kForProcess>(::qfcvt, value, ndigit, decpt, sign); }
char* l64a(long int n) noexcept { return copied<"l64a", kForProcess>(::l64a, n); }
char* ether_ntoa(const ether_addr* addr) noexcept { return copied<"ether_ntoa", kForProcess>(::ether_ntoa, addr); }
ether_addr* ether_aton(const char* asc) noexcept { return copied<"ether_aton", kForProcess>(::ether_aton, asc); }
char* inet_nsap_ntoa(int len, const unsigned char* cp, char* buf) noexcept {
  return copied<"inet_nsap_ntoa", kForProcess>(::inet_nsap_ntoa, len, cp, buf); }
fstab* getfsspec(const char* name) noexcept { return copied<"getfsspec", kForProcess>(::getfsspec, name); }
fstab* getfsfile(const char* name) noexcept { return copied<"getfsfile", kForProcess>(::getfsfile, name); }
ttyent* getttynam(const char* tty) noexcept { return copied<"getttynam", kForProcess>(::getttynam, tty); }
lconv* localeconv(void) noexcept { return copied<"localeconv", kForProcess>(::localeconv); }
passwd* fgetpwent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetpwent, stream);
  return copied<"fgetpwent", kForProcess>(::fgetpwent, stream); }
group* fgetgrent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetgrent, stream);
  return copied<"fgetgrent", kForProcess>(::fgetgrent, stream); }
spwd* fgetspent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetspent, stream);
  return copied<"fgetspent", kForProcess>(::fgetspent, stream); }
sgrp* fgetsgent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetsgent, stream);
  return copied<"fgetsgent", kForProcess>(::fgetsgent, stream); }
mntent* getmntent(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::getmntent, stream);
  return copied<"getmntent", kForProcess>(::getmntent, stream); }
char* inet_ntoa(in_addr in) noexcept { return copied<"inet_ntoa", kForThread>(::inet_ntoa, in); }
char* strerror(int errnum) noexcept { return copied<"strerror", kForThread>(::strerror, errnum); }
char* strerror_l(int errnum, locale_t l) noexcept { return copied<"strerror_l", kForThread>(::strerror_l, errnum, l); }
char* strsignal(int sig) noexcept { return copied<"strsignal", kForThread>(::strsignal, sig); }
char* dlerror(void) noexcept { return copied<"dlerror", kForThread>(::dlerror); }

// Entries one by one, of node 0
passwd* getpwent(void) {
  if (is_for_node_0()) return call_on(0, ::getpwent);
  return copied<"getpwent", kForProcess>(::getpwent); }
group* getgrent(void) {
  if (is_for_node_0()) return call_on(0, ::getgrent);
  return copied<"getgrent", kForProcess>(::getgrent); }
hostent* gethostent(void) {
  if (is_for_node_0()) return call_on(0, ::gethostent);
  return copied<"gethostent", kForProcess>(::gethostent); }
netent* getnetent(void) {
  if (is_for_node_0()) return call_on(0, ::getnetent);
  return copied<"getnetent", kForProcess>(::getnetent); }
protoent* getprotoent(void) {
  if (is_for_node_0()) return call_on(0, ::getprotoent);
  return copied<"getprotoent", kForProcess>(::getprotoent); }
servent* getservent(void) {
  if (is_for_node_0()) return call_on(0, ::getservent);
  return copied<"getservent", kForProcess>(::getservent); }
rpcent* getrpcent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getrpcent);
  return copied<"getrpcent", kForProcess>(::getrpcent); }
aliasent* getaliasent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getaliasent);
  return copied<"getaliasent", kForProcess>(::getaliasent); }
spwd* getspent(void) {
  if (is_for_node_0()) return call_on(0, ::getspent);
  return copied<"getspent", kForProcess>(::getspent); }
sgrp* getsgent(void) {
  if (is_for_node_0()) return call_on(0, ::getsgent);
  return copied<"getsgent", kForProcess>(::getsgent); }
utmp* getutent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutent);
  return copied<"getutent", kForProcess>(::getutent); }
utmp* getutid(const utmp* id) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutid, id);
  return copied<"getutid", kForProcess>(::getutid, id); }
utmp* getutline(const utmp* line) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutline, line);
  return copied<"getutline", kForProcess>(::getutline, line); }
utmp* pututline(const utmp* utmp_ptr) noexcept {
  if (is_for_node_0()) return call_on(0, ::pututline, utmp_ptr);
  return copied<"pututline", kForProcess>(::pututline, utmp_ptr); }
utmpx* getutxent(void) {
  if (is_for_node_0()) return call_on(0, ::getutxent);
  return copied<"getutxent", kForProcess>(::getutxent); }
utmpx* getutxid(const utmpx* id) {
  if (is_for_node_0()) return call_on(0, ::getutxid, id);
  return copied<"getutxid", kForProcess>(::getutxid, id); }
utmpx* getutxline(const utmpx* line) {
  if (is_for_node_0()) return call_on(0, ::getutxline, line);
  return copied<"getutxline", kForProcess>(::getutxline, line); }
utmpx* pututxline(const utmpx* utmpx) {
  if (is_for_node_0()) return call_on(0, ::pututxline, utmpx);
  return copied<"pututxline", kForProcess>(::pututxline, utmpx); }
char* getusershell(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getusershell);
  return copied<"getusershell", kForProcess>(::getusershell); }
fstab* getfsent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getfsent);
  return copied<"getfsent", kForProcess>(::getfsent); }
ttyent* getttyent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getttyent);
  return copied<"getttyent", kForProcess>(::getttyent); }
char* getpass(const char* prompt) {
  if (is_for_node_0()) return call_on(0, ::getpass, prompt);
  return copied<"getpass", kForProcess>(::getpass, prompt); }
void setpwent(void) { return at_node_0<"setpwent">(::setpwent); }
void endpwent(void) { return at_node_0<"endpwent">(::endpwent); }
void setgrent(void) { return at_node_0<"setgrent">(::setgrent); }
void endgrent(void) { return at_node_0<"endgrent">(::endgrent); }
void sethostent(int stay_open) { return at_node_0<"sethostent">(::sethostent, stay_open); }
void endhostent(void) { return at_node_0<"endhostent">(::endhostent); }
void setnetent(int stay_open) { return at_node_0<"setnetent">(::setnetent, stay_open); }
void endnetent(void) { return at_node_0<"endnetent">(::endnetent); }
void setprotoent(int stay_open) { return at_node_0<"setprotoent">(::setprotoent, stay_open); }
void endprotoent(void) { return at_node_0<"endprotoent">(::endprotoent); }
void setservent(int stay_open) { return at_node_0<"setservent">(::setservent, stay_open); }
void endservent(void) { return at_node_0<"endservent">(::endservent); }
void setrpcent(int stayopen) noexcept { return at_node_0<"setrpcent">(::setrpcent, stayopen); }
void endrpcent(void) noexcept { return at_node_0<"endrpcent">(::endrpcent); }
void setaliasent(void) noexcept { return at_node_0<"setaliasent">(::setaliasent); }
void endaliasent(void) noexcept { return at_node_0<"endaliasent">(::endaliasent); }
void setspent(void) { return at_node_0<"setspent">(::setspent); }
void endspent(void) { return at_node_0<"endspent">(::endspent); }
void setsgent(void) { return at_node_0<"setsgent">(::setsgent); }
void endsgent(void) { return at_node_0<"endsgent">(::endsgent); }
void setutent(void) noexcept { return at_node_0<"setutent">(::setutent); }
void endutent(void) noexcept { return at_node_0<"endutent">(::endutent); }
int utmpname(const char* file) noexcept { return at_node_0<"utmpname">(::utmpname, file); }
void setutxent(void) { return at_node_0<"setutxent">(::setutxent); }
void endutxent(void) { return at_node_0<"endutxent">(::endutxent); }
int utmpxname(const char* file) { return at_node_0<"utmpxname">(::utmpxname, file); }
void setusershell(void) noexcept { return at_node_0<"setusershell">(::setusershell); }
void endusershell(void) noexcept { return at_node_0<"endusershell">(::endusershell); }
int setfsent(void) noexcept { return at_node_0<"setfsent">(::setfsent); }
void endfsent(void) noexcept { return at_node_0<"endfsent">(::endfsent); }
int setttyent(void) noexcept { return at_node_0<"setttyent">(::setttyent); }
int endttyent(void) noexcept { return at_node_0<"endttyent">(::endttyent); }
int setnetgrent(const char* netgroup) { return at_node_0<"setnetgrent">(::setnetgrent, netgroup); }
void endnetgrent(void) { return at_node_0<"endnetgrent">(::endnetgrent); }
int getpwent_r(passwd* resultbuf, char* buffer, size_t buflen, passwd** result) {
  return at_node_0<"getpwent_r">(::getpwent_r, resultbuf, buffer, buflen, result); }
int getgrent_r(group* resultbuf, char* buffer, size_t buflen, group** result) {
  return at_node_0<"getgrent_r">(::getgrent_r, resultbuf, buffer, buflen, result); }
int gethostent_r(hostent* result_buf, char* buf, size_t buflen, hostent** result, int* h_errnop) {
  return at_node_0<"gethostent_r">(::gethostent_r, result_buf, buf, buflen, result, h_errnop); }
int getnetent_r(netent* result_buf, char* buf, size_t buflen, netent** result, int* h_errnop) {
  return at_node_0<"getnetent_r">(::getnetent_r, result_buf, buf, buflen, result, h_errnop); }
int getprotoent_r(protoent* result_buf, char* buf, size_t buflen, protoent** result) {
  return at_node_0<"getprotoent_r">(::getprotoent_r, result_buf, buf, buflen, result); }
int getservent_r(servent* result_buf, char* buf, size_t buflen, servent** result) {
  return at_node_0<"getservent_r">(::getservent_r, result_buf, buf, buflen, result); }
int getrpcent_r(rpcent* result_buf, char* buffer, size_t buflen, rpcent** result) noexcept {
  return at_node_0<"getrpcent_r">(::getrpcent_r, result_buf, buffer, buflen, result); }
int getaliasent_r(aliasent* result_buf, char* buffer, size_t buflen, aliasent** result) noexcept {
  return at_node_0<"getaliasent_r">(::getaliasent_r, result_buf, buffer, buflen, result); }
int getspent_r(spwd* result_buf, char* buffer, size_t buflen, spwd** result) {
  return at_node_0<"getspent_r">(::getspent_r, result_buf, buffer, buflen, result); }
int getsgent_r(sgrp* result_buf, char* buffer, size_t buflen, sgrp** result) {
  return at_node_0<"getsgent_r">(::getsgent_r, result_buf, buffer, buflen, result); }
int getutent_r(utmp* buffer, utmp** result) noexcept { return at_node_0<"getutent_r">(::getutent_r, buffer, result); }
int getnetgrent_r(char** hostp, char** userp, char** domainp, char* buffer, size_t buflen) {
  return at_node_0<"getnetgrent_r">(::getnetgrent_r, hostp, userp, domainp, buffer, buflen); }

// Texts of the C library
char* gettext(const char* msgid) noexcept { return text_of<"gettext">(::gettext, msgid); }
char* dgettext(const char* domainname, const char* msgid) noexcept {
  return text_of<"dgettext">(::dgettext, domainname, msgid); }
char* dcgettext(const char* domainname, const char* msgid, int category) noexcept {
  return text_of<"dcgettext">(::dcgettext, domainname, msgid, category); }
char* ngettext(const char* msgid1, const char* msgid2, unsigned long int n) noexcept {
  return text_of<"ngettext">(::ngettext, msgid1, msgid2, n); }
char* dngettext(const char* domainname, const char* msgid1, const char* msgid2, unsigned long int n) noexcept {
  return text_of<"dngettext">(::dngettext, domainname, msgid1, msgid2, n); }
char* dcngettext(const char* domain, const char* msgid1, const char* msgid2, unsigned long n, int category) noexcept {
  return text_of<"dcngettext">(::dcngettext, domain, msgid1, msgid2, n, category); }
char* nl_langinfo(nl_item item) noexcept { return text_of<"nl_langinfo">(::nl_langinfo, item); }
char* nl_langinfo_l(nl_item item, locale_t l) { return text_of<"nl_langinfo_l">(::nl_langinfo_l, item, l); }
const char* gai_strerror(int ecode) noexcept { return text_of<"gai_strerror">(::gai_strerror, ecode); }
const char* hstrerror(int err_num) noexcept { return text_of<"hstrerror">(::hstrerror, err_num); }

// Memory for the caller, and what it gives to later calls
error_t argz_add(char** argz, size_t* argz_len, const char* str) noexcept {
  return called<"argz_add", ForCaller>(::argz_add, argz, argz_len, str); }
error_t argz_add_sep(char** argz, size_t* argz_len, const char* string, int delim) noexcept {
  return called<"argz_add_sep", ForCaller>(::argz_add_sep, argz, argz_len, string, delim); }
error_t argz_append(char** argz, size_t* argz_len, const char* buf, size_t buf_len) noexcept {
  return called<"argz_append", ForCaller>(::argz_append, argz, argz_len, buf, buf_len); }
error_t argz_create(char* const argv[], char** argz, size_t* len) noexcept {
  return called<"argz_create", ForCaller>(::argz_create, argv, argz, len); }
error_t argz_create_sep(const char* string, int sep, char** argz, size_t* len) noexcept {
  return called<"argz_create_sep", ForCaller>(::argz_create_sep, string, sep, argz, len); }
error_t argz_insert(char** argz, size_t* argz_len, char* before, const char* entry) noexcept {
  return called<"argz_insert", ForCaller>(::argz_insert, argz, argz_len, before, entry); }
error_t argz_replace(char** argz, size_t* argz_len, const char* str, const char* with, unsigned int* replace_count) {
  return called<"argz_replace", ForCaller>(::argz_replace, argz, argz_len, str, with, replace_count); }
void argz_delete(char** argz, size_t* argz_len, char* entry) noexcept {
  return called<"argz_delete", ForCaller>(::argz_delete, argz, argz_len, entry); }
error_t envz_add(char** envz, size_t* envz_len, const char* name, const char* value) noexcept {
  return called<"envz_add", ForCaller>(::envz_add, envz, envz_len, name, value); }
error_t envz_merge(char** envz, size_t* envz_len, const char* envz2, size_t envz2_len, int override) noexcept {
  return called<"envz_merge", ForCaller>(::envz_merge, envz, envz_len, envz2, envz2_len, override); }
void envz_remove(char** envz, size_t* envz_len, const char* name) noexcept {
  return called<"envz_remove", ForCaller>(::envz_remove, envz, envz_len, name); }
void envz_strip(char** envz, size_t* envz_len) noexcept {
  return called<"envz_strip", ForCaller>(::envz_strip, envz, envz_len); }
char** backtrace_symbols(void* const* array, int size) noexcept {
  return called<"backtrace_symbols", ForCaller>(::backtrace_symbols, array, size); }
int hcreate_r(size_t nel, hsearch_data* htab) noexcept {
  return called<"hcreate_r", ForCaller>(::hcreate_r, nel, htab); }

// Descriptors of another node, which the calls are made on
int eventfd_write(int fd, eventfd_t value) { return called<"eventfd_write">(::eventfd_write, Of{fd}, value); }
long int fpathconf(int fd, int name) noexcept { return called<"fpathconf">(::fpathconf, Of{fd}, name); }
int grantpt(int fd) noexcept { return called<"grantpt">(::grantpt, Of{fd}); }
int unlockpt(int fd) noexcept { return called<"unlockpt">(::unlockpt, Of{fd}); }
int inotify_rm_watch(int fd, int wd) noexcept { return called<"inotify_rm_watch">(::inotify_rm_watch, Of{fd}, wd); }
int isfdtype(int fd, int fdtype) noexcept { return called<"isfdtype">(::isfdtype, Of{fd}, fdtype); }
ssize_t readahead(int fd, off64_t offset, size_t count) noexcept {
  return called<"readahead">(::readahead, Of{fd}, offset, count); }
int sockatmark(int fd) noexcept { return called<"sockatmark">(::sockatmark, Of{fd}); }
int sync_file_range(int fd, off64_t offset, off64_t count, unsigned int flags) {
  return called<"sync_file_range">(::sync_file_range, Of{fd}, offset, count, flags); }
int tcdrain(int fd) { return called<"tcdrain">(::tcdrain, Of{fd}); }
int tcflow(int fd, int action) noexcept { return called<"tcflow">(::tcflow, Of{fd}, action); }
int tcflush(int fd, int queue_selector) noexcept { return called<"tcflush">(::tcflush, Of{fd}, queue_selector); }
pid_t tcgetpgrp(int fd) noexcept { return called<"tcgetpgrp">(::tcgetpgrp, Of{fd}); }
pid_t tcgetsid(int fd) noexcept { return called<"tcgetsid">(::tcgetsid, Of{fd}); }
int tcsendbreak(int fd, int duration) noexcept { return called<"tcsendbreak">(::tcsendbreak, Of{fd}, duration); }
int tcsetpgrp(int fd, pid_t pgrp_id) noexcept { return called<"tcsetpgrp">(::tcsetpgrp, Of{fd}, pgrp_id); }
int login_tty(int fd) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("login_tty", fd);
  return next<"login_tty">(::login_tty)(fd); }
int fanotify_mark(int fd, unsigned flags, uint64_t mask, int folder, const char* path) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("fanotify_mark", fd);
  return next<"fanotify_mark">(::fanotify_mark)(fd, flags, mask, folder, path); }
int name_to_handle_at(int fd, const char* name, file_handle* to, int* mount, int flags) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("name_to_handle_at", fd);
  return next<"name_to_handle_at">(::name_to_handle_at)(fd, name, to, mount, flags); }
int bindresvport(int fd, sockaddr_in* address) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("bindresvport", fd);
  return next<"bindresvport">(::bindresvport)(fd, address); }
ssize_t tee(int fd, int to, size_t bytes, unsigned flags) {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("tee", fd);
  return next<"tee">(::tee)(fd, to, bytes, flags); }
ssize_t getdirentries(int fd, char* buf, size_t nbytes, off_t* basep) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("getdirentries", fd);
  return next<"getdirentries">(::getdirentries)(fd, buf, nbytes, basep); }
ssize_t getdirentries64(int fd, char* buf, size_t nbytes, off64_t* basep) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("getdirentries64", fd);
  return next<"getdirentries64">(::getdirentries64)(fd, buf, nbytes, basep); }
int futimesat(int fd, const char* file, const timeval tvp[2]) noexcept {
  if (is_elsewhere(fd)) return Elsewhere::get()->refuse("futimesat", fd);
  return next<"futimesat">(::futimesat)(fd, file, tvp); }

// Streams, folders
int putpwent(const passwd* entry, FILE* stream) { return called<"putpwent">(::putpwent, entry, Of{stream}); }
int putgrent(const group* entry, FILE* stream) { return called<"putgrent">(::putgrent, entry, Of{stream}); }
int putspent(const spwd* entry, FILE* stream) { return called<"putspent">(::putspent, entry, Of{stream}); }
int putsgent(const sgrp* entry, FILE* stream) { return called<"putsgent">(::putsgent, entry, Of{stream}); }
int addmntent(FILE* stream, const mntent* entry) noexcept {
  return called<"addmntent">(::addmntent, Of{stream}, entry); }
mntent* getmntent_r(FILE* stream, mntent* result, char* buffer, int bytes) noexcept {
  return called<"getmntent_r">(::getmntent_r, Of{stream}, result, buffer, bytes); }
int fgetpwent_r(FILE* stream, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  return called<"fgetpwent_r">(::fgetpwent_r, Of{stream}, entry, buffer, bytes, result); }
int fgetgrent_r(FILE* stream, group* entry, char* buffer, size_t bytes, group** result) {
  return called<"fgetgrent_r">(::fgetgrent_r, Of{stream}, entry, buffer, bytes, result); }
int fgetspent_r(FILE* stream, spwd* entry, char* buffer, size_t bytes, spwd** result) {
  return called<"fgetspent_r">(::fgetspent_r, Of{stream}, entry, buffer, bytes, result); }
int fgetsgent_r(FILE* stream, sgrp* entry, char* buffer, size_t bytes, sgrp** result) {
  return called<"fgetsgent_r">(::fgetsgent_r, Of{stream}, entry, buffer, bytes, result); }
size_t __fbufsize(FILE* stream) noexcept { return called<"__fbufsize">(::__fbufsize, Of{stream}); }
int __flbf(FILE* stream) noexcept { return called<"__flbf">(::__flbf, Of{stream}); }
size_t __fpending(FILE* stream) noexcept { return called<"__fpending">(::__fpending, Of{stream}); }
void __fpurge(FILE* stream) noexcept { return called<"__fpurge">(::__fpurge, Of{stream}); }
int __freadable(FILE* stream) noexcept { return called<"__freadable">(::__freadable, Of{stream}); }
int __freading(FILE* stream) noexcept { return called<"__freading">(::__freading, Of{stream}); }
int __fsetlocking(FILE* stream, int type) noexcept {
  return called<"__fsetlocking">(::__fsetlocking, Of{stream}, type); }
int __fwritable(FILE* stream) noexcept { return called<"__fwritable">(::__fwritable, Of{stream}); }
int __fwriting(FILE* stream) noexcept { return called<"__fwriting">(::__fwriting, Of{stream}); }
int readdir_r(DIR* dir, dirent* entry, dirent** result) {
  return called<"readdir_r">(::readdir_r, Of{dir}, entry, result); }
int readdir64_r(DIR* dir, dirent64* entry, dirent64** result) {
  return called<"readdir64_r">(::readdir64_r, Of{dir}, entry, result); }
void rewinddir(DIR* dir) noexcept { return called<"rewinddir">(::rewinddir, Of{dir}); }
void seekdir(DIR* dir, long place) noexcept { return called<"seekdir">(::seekdir, Of{dir}, place); }
long telldir(DIR* dir) noexcept { return called<"telldir">(::telldir, Of{dir}); }
int dirfd(DIR* dir) noexcept { return called<"dirfd">(::dirfd, Of{dir}); }
FTSENT* fts_read(FTS* tree) {
  if (is_elsewhere(tree)) ended_of_node("fts_read");
  return called<"fts_read", ForNode>(::fts_read, tree); }
FTSENT* fts_children(FTS* tree, int options) {
  if (is_elsewhere(tree)) ended_of_node("fts_children");
  return called<"fts_children", ForNode>(::fts_children, tree, options); }
int fts_close(FTS* tree) {
  if (is_elsewhere(tree)) ended_of_node("fts_close");
  return called<"fts_close", ForNode>(::fts_close, tree); }
int fts_set(FTS* tree, FTSENT* entry, int instruction) noexcept {
  if (is_elsewhere(tree)) ended_of_node("fts_set");
  return called<"fts_set", ForNode>(::fts_set, tree, entry, instruction); }
FTSENT64* fts64_read(FTS64* tree) {
  if (is_elsewhere(tree)) ended_of_node("fts64_read");
  return called<"fts64_read", ForNode>(::fts64_read, tree); }
FTSENT64* fts64_children(FTS64* tree, int options) {
  if (is_elsewhere(tree)) ended_of_node("fts64_children");
  return called<"fts64_children", ForNode>(::fts64_children, tree, options); }
int fts64_close(FTS64* tree) {
  if (is_elsewhere(tree)) ended_of_node("fts64_close");
  return called<"fts64_close", ForNode>(::fts64_close, tree); }
int fts64_set(FTS64* tree, FTSENT64* entry, int instruction) noexcept {
  if (is_elsewhere(tree)) ended_of_node("fts64_set");
  return called<"fts64_set", ForNode>(::fts64_set, tree, entry, instruction); }
FTS* fts_open(char* const* paths, int options, int (*order)(const FTSENT**, const FTSENT**)) {
  return called<"fts_open", ForNode>(::fts_open, paths, options, order); }
FTS64* fts64_open(char* const* paths, int options, int (*order)(const FTSENT64**, const FTSENT64**)) {
  return called<"fts64_open", ForNode>(::fts64_open, paths, options, order); }

// What the C library keeps of settings
int addseverity(int severity, const char* text) noexcept {
  return on_every_node<"addseverity">(::addseverity, severity, text); }
int register_printf_function(int letter, printf_function* print, printf_arginfo_function* tell) noexcept {
  return on_every_node<"register_printf_function">(::register_printf_function, letter, print, tell); }
int register_printf_specifier(int letter, printf_function* print, printf_arginfo_size_function* tell) noexcept {
  return on_every_node<"register_printf_specifier">(::register_printf_specifier, letter, print, tell); }
int register_printf_modifier(const wchar_t* text) noexcept {
  return on_every_node<"register_printf_modifier">(::register_printf_modifier, text); }
int register_printf_type(printf_va_arg_function* read) noexcept {
  return on_every_node<"register_printf_type">(::register_printf_type, read); }
void openlog(const char* name, int options, int facility) {
  return on_every_node<"openlog">(::openlog, name, options, facility); }
void closelog(void) { return on_every_node<"closelog">(::closelog); }
int setlogmask(int mask) noexcept { return on_every_node<"setlogmask">(::setlogmask, mask); }
int pthread_setconcurrency(int level) noexcept {
  return on_every_node<"pthread_setconcurrency">(::pthread_setconcurrency, level); }
reg_syntax_t re_set_syntax(reg_syntax_t syntax) { return on_every_node<"re_set_syntax">(::re_set_syntax, syntax); }

// Answers that the kernel writes
int getpwnam_r(const char* name, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  return on_private_stack<"getpwnam_r">(::getpwnam_r, name, entry, buffer, bytes, result); }
int getpwuid_r(uid_t user, passwd* entry, char* buffer, size_t bytes, passwd** result) {
  return on_private_stack<"getpwuid_r">(::getpwuid_r, user, entry, buffer, bytes, result); }
int getgrnam_r(const char* name, group* entry, char* buffer, size_t bytes, group** result) {
  return on_private_stack<"getgrnam_r">(::getgrnam_r, name, entry, buffer, bytes, result); }
int getgrgid_r(gid_t number, group* entry, char* buffer, size_t bytes, group** result) {
  return on_private_stack<"getgrgid_r">(::getgrgid_r, number, entry, buffer, bytes, result); }
int getspnam_r(const char* name, spwd* entry, char* buffer, size_t bytes, spwd** result) {
  return on_private_stack<"getspnam_r">(::getspnam_r, name, entry, buffer, bytes, result); }
int getsgnam_r(const char* name, sgrp* entry, char* buffer, size_t bytes, sgrp** result) {
  return on_private_stack<"getsgnam_r">(::getsgnam_r, name, entry, buffer, bytes, result); }
int getgrouplist(const char* user, gid_t group, gid_t* groups, int* count) {
  return on_private_stack<"getgrouplist">(::getgrouplist, user, group, groups, count); }
int getprotobyname_r(const char* name, protoent* entry, char* buffer, size_t bytes, protoent** result) {
  return on_private_stack<"getprotobyname_r">(::getprotobyname_r, name, entry, buffer, bytes, result); }
int getprotobynumber_r(int number, protoent* entry, char* buffer, size_t bytes, protoent** result) {
  return on_private_stack<"getprotobynumber_r">(::getprotobynumber_r, number, entry, buffer, bytes, result); }
int getservbyname_r(const char* name, const char* of, servent* entry, char* buffer, size_t bytes, servent** result) {
  return on_private_stack<"getservbyname_r">(::getservbyname_r, name, of, entry, buffer, bytes, result); }
int getservbyport_r(int port, const char* of, servent* entry, char* buffer, size_t bytes, servent** result) {
  return on_private_stack<"getservbyport_r">(::getservbyport_r, port, of, entry, buffer, bytes, result); }
int gethostbyname_r(const char* name, hostent* entry, char* buffer, size_t bytes, hostent** result, int* wrong) {
  return on_private_stack<"gethostbyname_r">(::gethostbyname_r, name, entry, buffer, bytes, result, wrong); }
int gethostbyname2_r(const char* name, int of, hostent* entry, char* buffer, size_t bytes, hostent** result,
    int* wrong) {
  return on_private_stack<"gethostbyname2_r">(::gethostbyname2_r, name, of, entry, buffer, bytes, result, wrong); }
int getnetbyname_r(const char* name, netent* entry, char* buffer, size_t bytes, netent** result, int* wrong) {
  return on_private_stack<"getnetbyname_r">(::getnetbyname_r, name, entry, buffer, bytes, result, wrong); }
int getrpcbyname_r(const char* name, rpcent* entry, char* buffer, size_t bytes, rpcent** result) noexcept {
  return on_private_stack<"getrpcbyname_r">(::getrpcbyname_r, name, entry, buffer, bytes, result); }
int getrpcbynumber_r(int number, rpcent* entry, char* buffer, size_t bytes, rpcent** result) noexcept {
  return on_private_stack<"getrpcbynumber_r">(::getrpcbynumber_r, number, entry, buffer, bytes, result); }
int getaliasbyname_r(const char* name, aliasent* entry, char* buffer, size_t bytes, aliasent** result) noexcept {
  return on_private_stack<"getaliasbyname_r">(::getaliasbyname_r, name, entry, buffer, bytes, result); }
int getnameinfo(const sockaddr* of, socklen_t size, char* host, socklen_t hosts, char* port, socklen_t ports,
    int flags) {
  return on_private_stack<"getnameinfo">(::getnameinfo, of, size, host, hosts, port, ports, flags); }
int innetgr(const char* group, const char* host, const char* user, const char* domain) {
  return on_private_stack<"innetgr">(::innetgr, group, host, user, domain); }
int ether_hostton(const char* host, ether_addr* address) noexcept {
  return on_private_stack<"ether_hostton">(::ether_hostton, host, address); }
int ether_ntohost(char* host, const ether_addr* address) noexcept {
  return on_private_stack<"ether_ntohost">(::ether_ntohost, host, address); }
unsigned int if_nametoindex(const char* name) noexcept {
  return on_private_stack<"if_nametoindex">(::if_nametoindex, name); }
char* if_indextoname(unsigned int number, char* name) noexcept {
  return on_private_stack<"if_indextoname">(::if_indextoname, number, name); }
int gethostname(char* name, size_t bytes) noexcept {
  return on_private_stack<"gethostname">(::gethostname, name, bytes); }
int getdomainname(char* name, size_t bytes) noexcept {
  return on_private_stack<"getdomainname">(::getdomainname, name, bytes); }

}  // extern "C"
#pragma GCC visibility pop
