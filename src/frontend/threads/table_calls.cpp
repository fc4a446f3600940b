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

int setuid(uid_t user) noexcept {
  return on_every_node("setuid", next<"setuid">(::setuid), user);
}
int setgid(gid_t group) noexcept {
  return on_every_node("setgid", next<"setgid">(::setgid), group);
}
int setreuid(uid_t real, uid_t effective) noexcept {
  return on_every_node("setreuid", next<"setreuid">(::setreuid), real, effective);
}
int setregid(gid_t real, gid_t effective) noexcept {
  return on_every_node("setregid", next<"setregid">(::setregid), real, effective);
}
int setresuid(uid_t real, uid_t effective, uid_t saved) noexcept {
  return on_every_node("setresuid", next<"setresuid">(::setresuid), real, effective, saved);
}
int setresgid(gid_t real, gid_t effective, gid_t saved) noexcept {
  return on_every_node("setresgid", next<"setresgid">(::setresgid), real, effective, saved);
}
int seteuid(uid_t user) noexcept {
  return on_every_node("seteuid", next<"seteuid">(::seteuid), user);
}
int setegid(gid_t group) noexcept {
  return on_every_node("setegid", next<"setegid">(::setegid), group);
}
int unshare(int flags) noexcept {
  if (!concerns_all_nodes()) return next<"unshare">(::unshare)(flags);
  return refused<"unshare", int>(EPERM,
      "the threads of other nodes would stay in the old namespaces");
}
int setns(int fd, int kind) noexcept {
  if (!concerns_all_nodes()) return next<"setns">(::setns)(fd, kind);
  return refused<"setns", int>(EPERM,
      "the threads of other nodes would stay in the old namespaces");
}
int setdomainname(const char* name, size_t bytes) noexcept {
  if (!concerns_all_nodes()) return next<"setdomainname">(::setdomainname)(name, bytes);
  return refused<"setdomainname", int>(EPERM,
      "the nodes may be on several hosts, which cannot have one name");
}
tm* localtime(const time_t* timer) noexcept {
  return copied<"localtime", Keeps::kForProcess>(next<"localtime">(::localtime), timer);
}
tm* gmtime(const time_t* timer) noexcept {
  return copied<"gmtime", Keeps::kForProcess>(next<"gmtime">(::gmtime), timer);
}
char* asctime(const tm* tp) noexcept {
  return copied<"asctime", Keeps::kForProcess>(next<"asctime">(::asctime), tp);
}
char* ctime(const time_t* timer) noexcept {
  return copied<"ctime", Keeps::kForProcess>(next<"ctime">(::ctime), timer);
}
tm* getdate(const char* string) {
  return copied<"getdate", Keeps::kForProcess>(next<"getdate">(::getdate), string);
}
passwd* getpwnam(const char* name) {
  return copied<"getpwnam", Keeps::kForProcess>(next<"getpwnam">(::getpwnam), name);
}
passwd* getpwuid(uid_t uid) {
  return copied<"getpwuid", Keeps::kForProcess>(next<"getpwuid">(::getpwuid), uid);
}
group* getgrnam(const char* name) {
  return copied<"getgrnam", Keeps::kForProcess>(next<"getgrnam">(::getgrnam), name);
}
group* getgrgid(gid_t gid) {
  return copied<"getgrgid", Keeps::kForProcess>(next<"getgrgid">(::getgrgid), gid);
}
hostent* gethostbyname(const char* name) {
  return copied<"gethostbyname", Keeps::kForProcess>(next<"gethostbyname">(::gethostbyname), name);
}
hostent* gethostbyname2(const char* name, int af) {
  return copied<"gethostbyname2", Keeps::kForProcess>(next<"gethostbyname2">(::gethostbyname2), name, af);
}
hostent* gethostbyaddr(const void* addr, socklen_t len, int type) {
  return copied<"gethostbyaddr", Keeps::kForProcess>(next<"gethostbyaddr">(::gethostbyaddr), addr, len, type);
}
netent* getnetbyname(const char* name) {
  return copied<"getnetbyname", Keeps::kForProcess>(next<"getnetbyname">(::getnetbyname), name);
}
netent* getnetbyaddr(uint32_t net, int type) {
  return copied<"getnetbyaddr", Keeps::kForProcess>(next<"getnetbyaddr">(::getnetbyaddr), net, type);
}
protoent* getprotobyname(const char* name) {
  return copied<"getprotobyname", Keeps::kForProcess>(next<"getprotobyname">(::getprotobyname), name);
}
protoent* getprotobynumber(int proto) {
  return copied<"getprotobynumber", Keeps::kForProcess>(next<"getprotobynumber">(::getprotobynumber), proto);
}
servent* getservbyname(const char* name, const char* proto) {
  return copied<"getservbyname", Keeps::kForProcess>(next<"getservbyname">(::getservbyname), name, proto);
}
servent* getservbyport(int port, const char* proto) {
  return copied<"getservbyport", Keeps::kForProcess>(next<"getservbyport">(::getservbyport), port, proto);
}
rpcent* getrpcbyname(const char* name) noexcept {
  return copied<"getrpcbyname", Keeps::kForProcess>(next<"getrpcbyname">(::getrpcbyname), name);
}
rpcent* getrpcbynumber(int number) noexcept {
  return copied<"getrpcbynumber", Keeps::kForProcess>(next<"getrpcbynumber">(::getrpcbynumber), number);
}
aliasent* getaliasbyname(const char* name) noexcept {
  return copied<"getaliasbyname", Keeps::kForProcess>(next<"getaliasbyname">(::getaliasbyname), name);
}
spwd* getspnam(const char* name) {
  return copied<"getspnam", Keeps::kForProcess>(next<"getspnam">(::getspnam), name);
}
sgrp* getsgnam(const char* name) {
  return copied<"getsgnam", Keeps::kForProcess>(next<"getsgnam">(::getsgnam), name);
}
spwd* sgetspent(const char* string) {
  return copied<"sgetspent", Keeps::kForProcess>(next<"sgetspent">(::sgetspent), string);
}
sgrp* sgetsgent(const char* string) {
  return copied<"sgetsgent", Keeps::kForProcess>(next<"sgetsgent">(::sgetsgent), string);
}
char* getlogin(void) {
  return copied<"getlogin", Keeps::kForProcess>(next<"getlogin">(::getlogin));
}
char* ttyname(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ttyname, fd);
  return copied<"ttyname", Keeps::kForProcess>(next<"ttyname">(::ttyname), fd);
}
char* ptsname(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::ptsname, fd);
  return copied<"ptsname", Keeps::kForProcess>(next<"ptsname">(::ptsname), fd);
}
char* ctermid(char* s) noexcept {
  return copied<"ctermid", Keeps::kForProcess>(next<"ctermid">(::ctermid), s);
}
char* cuserid(char* s) {
  return copied<"cuserid", Keeps::kForProcess>(next<"cuserid">(::cuserid), s);
}
char* tmpnam(char* name) noexcept {
  return copied<"tmpnam", Keeps::kForProcess>(next<"tmpnam">(::tmpnam), name);
}
char* ecvt(double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"ecvt", Keeps::kForProcess>(next<"ecvt">(::ecvt), value, ndigit, decpt, sign);
}
char* fcvt(double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"fcvt", Keeps::kForProcess>(next<"fcvt">(::fcvt), value, ndigit, decpt, sign);
}
char* qecvt(long double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"qecvt", Keeps::kForProcess>(next<"qecvt">(::qecvt), value, ndigit, decpt, sign);
}
char* qfcvt(long double value, int ndigit, int* decpt, int* sign) noexcept {
  return copied<"qfcvt", Keeps::kForProcess>(next<"qfcvt">(::qfcvt), value, ndigit, decpt, sign);
}
char* l64a(long int n) noexcept {
  return copied<"l64a", Keeps::kForProcess>(next<"l64a">(::l64a), n);
}
char* ether_ntoa(const ether_addr* addr) noexcept {
  return copied<"ether_ntoa", Keeps::kForProcess>(next<"ether_ntoa">(::ether_ntoa), addr);
}
ether_addr* ether_aton(const char* asc) noexcept {
  return copied<"ether_aton", Keeps::kForProcess>(next<"ether_aton">(::ether_aton), asc);
}
char* inet_nsap_ntoa(int len, const unsigned char* cp, char* buf) noexcept {
  return copied<"inet_nsap_ntoa", Keeps::kForProcess>(next<"inet_nsap_ntoa">(::inet_nsap_ntoa), len, cp, buf);
}
fstab* getfsspec(const char* name) noexcept {
  return copied<"getfsspec", Keeps::kForProcess>(next<"getfsspec">(::getfsspec), name);
}
fstab* getfsfile(const char* name) noexcept {
  return copied<"getfsfile", Keeps::kForProcess>(next<"getfsfile">(::getfsfile), name);
}
ttyent* getttynam(const char* tty) noexcept {
  return copied<"getttynam", Keeps::kForProcess>(next<"getttynam">(::getttynam), tty);
}
lconv* localeconv(void) noexcept {
  return copied<"localeconv", Keeps::kForProcess>(next<"localeconv">(::localeconv));
}
passwd* fgetpwent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetpwent, stream);
  return copied<"fgetpwent", Keeps::kForProcess>(next<"fgetpwent">(::fgetpwent), stream);
}
group* fgetgrent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetgrent, stream);
  return copied<"fgetgrent", Keeps::kForProcess>(next<"fgetgrent">(::fgetgrent), stream);
}
spwd* fgetspent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetspent, stream);
  return copied<"fgetspent", Keeps::kForProcess>(next<"fgetspent">(::fgetspent), stream);
}
sgrp* fgetsgent(FILE* stream) {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::fgetsgent, stream);
  return copied<"fgetsgent", Keeps::kForProcess>(next<"fgetsgent">(::fgetsgent), stream);
}
mntent* getmntent(FILE* stream) noexcept {
  if (is_elsewhere(stream)) return call_elsewhere(stream, ::getmntent, stream);
  return copied<"getmntent", Keeps::kForProcess>(next<"getmntent">(::getmntent), stream);
}
char* inet_ntoa(in_addr in) noexcept {
  return copied<"inet_ntoa", Keeps::kForThread>(next<"inet_ntoa">(::inet_ntoa), in);
}
char* strerror(int errnum) noexcept {
  return copied<"strerror", Keeps::kForThread>(next<"strerror">(::strerror), errnum);
}
char* strerror_l(int errnum, locale_t l) noexcept {
  return copied<"strerror_l", Keeps::kForThread>(next<"strerror_l">(::strerror_l), errnum, l);
}
char* strsignal(int sig) noexcept {
  return copied<"strsignal", Keeps::kForThread>(next<"strsignal">(::strsignal), sig);
}
char* dlerror(void) noexcept {
  return copied<"dlerror", Keeps::kForThread>(next<"dlerror">(::dlerror));
}
passwd* getpwent(void) {
  if (is_for_node_0()) return call_on(0, ::getpwent);
  return copied<"getpwent", Keeps::kForProcess>(next<"getpwent">(::getpwent));
}
group* getgrent(void) {
  if (is_for_node_0()) return call_on(0, ::getgrent);
  return copied<"getgrent", Keeps::kForProcess>(next<"getgrent">(::getgrent));
}
hostent* gethostent(void) {
  if (is_for_node_0()) return call_on(0, ::gethostent);
  return copied<"gethostent", Keeps::kForProcess>(next<"gethostent">(::gethostent));
}
netent* getnetent(void) {
  if (is_for_node_0()) return call_on(0, ::getnetent);
  return copied<"getnetent", Keeps::kForProcess>(next<"getnetent">(::getnetent));
}
protoent* getprotoent(void) {
  if (is_for_node_0()) return call_on(0, ::getprotoent);
  return copied<"getprotoent", Keeps::kForProcess>(next<"getprotoent">(::getprotoent));
}
servent* getservent(void) {
  if (is_for_node_0()) return call_on(0, ::getservent);
  return copied<"getservent", Keeps::kForProcess>(next<"getservent">(::getservent));
}
rpcent* getrpcent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getrpcent);
  return copied<"getrpcent", Keeps::kForProcess>(next<"getrpcent">(::getrpcent));
}
aliasent* getaliasent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getaliasent);
  return copied<"getaliasent", Keeps::kForProcess>(next<"getaliasent">(::getaliasent));
}
spwd* getspent(void) {
  if (is_for_node_0()) return call_on(0, ::getspent);
  return copied<"getspent", Keeps::kForProcess>(next<"getspent">(::getspent));
}
sgrp* getsgent(void) {
  if (is_for_node_0()) return call_on(0, ::getsgent);
  return copied<"getsgent", Keeps::kForProcess>(next<"getsgent">(::getsgent));
}
utmp* getutent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutent);
  return copied<"getutent", Keeps::kForProcess>(next<"getutent">(::getutent));
}
utmp* getutid(const utmp* id) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutid, id);
  return copied<"getutid", Keeps::kForProcess>(next<"getutid">(::getutid), id);
}
utmp* getutline(const utmp* line) noexcept {
  if (is_for_node_0()) return call_on(0, ::getutline, line);
  return copied<"getutline", Keeps::kForProcess>(next<"getutline">(::getutline), line);
}
utmp* pututline(const utmp* utmp_ptr) noexcept {
  if (is_for_node_0()) return call_on(0, ::pututline, utmp_ptr);
  return copied<"pututline", Keeps::kForProcess>(next<"pututline">(::pututline), utmp_ptr);
}
utmpx* getutxent(void) {
  if (is_for_node_0()) return call_on(0, ::getutxent);
  return copied<"getutxent", Keeps::kForProcess>(next<"getutxent">(::getutxent));
}
utmpx* getutxid(const utmpx* id) {
  if (is_for_node_0()) return call_on(0, ::getutxid, id);
  return copied<"getutxid", Keeps::kForProcess>(next<"getutxid">(::getutxid), id);
}
utmpx* getutxline(const utmpx* line) {
  if (is_for_node_0()) return call_on(0, ::getutxline, line);
  return copied<"getutxline", Keeps::kForProcess>(next<"getutxline">(::getutxline), line);
}
utmpx* pututxline(const utmpx* utmpx) {
  if (is_for_node_0()) return call_on(0, ::pututxline, utmpx);
  return copied<"pututxline", Keeps::kForProcess>(next<"pututxline">(::pututxline), utmpx);
}
char* getusershell(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getusershell);
  return copied<"getusershell", Keeps::kForProcess>(next<"getusershell">(::getusershell));
}
fstab* getfsent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getfsent);
  return copied<"getfsent", Keeps::kForProcess>(next<"getfsent">(::getfsent));
}
ttyent* getttyent(void) noexcept {
  if (is_for_node_0()) return call_on(0, ::getttyent);
  return copied<"getttyent", Keeps::kForProcess>(next<"getttyent">(::getttyent));
}
char* getpass(const char* prompt) {
  if (is_for_node_0()) return call_on(0, ::getpass, prompt);
  return copied<"getpass", Keeps::kForProcess>(next<"getpass">(::getpass), prompt);
}
void setpwent(void) {
  return at_node_0(next<"setpwent">(::setpwent), ::setpwent);
}
void endpwent(void) {
  return at_node_0(next<"endpwent">(::endpwent), ::endpwent);
}
void setgrent(void) {
  return at_node_0(next<"setgrent">(::setgrent), ::setgrent);
}
void endgrent(void) {
  return at_node_0(next<"endgrent">(::endgrent), ::endgrent);
}
void sethostent(int stay_open) {
  return at_node_0(next<"sethostent">(::sethostent), ::sethostent, stay_open);
}
void endhostent(void) {
  return at_node_0(next<"endhostent">(::endhostent), ::endhostent);
}
void setnetent(int stay_open) {
  return at_node_0(next<"setnetent">(::setnetent), ::setnetent, stay_open);
}
void endnetent(void) {
  return at_node_0(next<"endnetent">(::endnetent), ::endnetent);
}
void setprotoent(int stay_open) {
  return at_node_0(next<"setprotoent">(::setprotoent), ::setprotoent, stay_open);
}
void endprotoent(void) {
  return at_node_0(next<"endprotoent">(::endprotoent), ::endprotoent);
}
void setservent(int stay_open) {
  return at_node_0(next<"setservent">(::setservent), ::setservent, stay_open);
}
void endservent(void) {
  return at_node_0(next<"endservent">(::endservent), ::endservent);
}
void setrpcent(int stayopen) noexcept {
  return at_node_0(next<"setrpcent">(::setrpcent), ::setrpcent, stayopen);
}
void endrpcent(void) noexcept {
  return at_node_0(next<"endrpcent">(::endrpcent), ::endrpcent);
}
void setaliasent(void) noexcept {
  return at_node_0(next<"setaliasent">(::setaliasent), ::setaliasent);
}
void endaliasent(void) noexcept {
  return at_node_0(next<"endaliasent">(::endaliasent), ::endaliasent);
}
void setspent(void) {
  return at_node_0(next<"setspent">(::setspent), ::setspent);
}
void endspent(void) {
  return at_node_0(next<"endspent">(::endspent), ::endspent);
}
void setsgent(void) {
  return at_node_0(next<"setsgent">(::setsgent), ::setsgent);
}
void endsgent(void) {
  return at_node_0(next<"endsgent">(::endsgent), ::endsgent);
}
void setutent(void) noexcept {
  return at_node_0(next<"setutent">(::setutent), ::setutent);
}
void endutent(void) noexcept {
  return at_node_0(next<"endutent">(::endutent), ::endutent);
}
int utmpname(const char* file) noexcept {
  return at_node_0(next<"utmpname">(::utmpname), ::utmpname, file);
}
void setutxent(void) {
  return at_node_0(next<"setutxent">(::setutxent), ::setutxent);
}
void endutxent(void) {
  return at_node_0(next<"endutxent">(::endutxent), ::endutxent);
}
int utmpxname(const char* file) {
  return at_node_0(next<"utmpxname">(::utmpxname), ::utmpxname, file);
}
void setusershell(void) noexcept {
  return at_node_0(next<"setusershell">(::setusershell), ::setusershell);
}
void endusershell(void) noexcept {
  return at_node_0(next<"endusershell">(::endusershell), ::endusershell);
}
int setfsent(void) noexcept {
  return at_node_0(next<"setfsent">(::setfsent), ::setfsent);
}
void endfsent(void) noexcept {
  return at_node_0(next<"endfsent">(::endfsent), ::endfsent);
}
int setttyent(void) noexcept {
  return at_node_0(next<"setttyent">(::setttyent), ::setttyent);
}
int endttyent(void) noexcept {
  return at_node_0(next<"endttyent">(::endttyent), ::endttyent);
}
int setnetgrent(const char* netgroup) {
  return at_node_0(next<"setnetgrent">(::setnetgrent), ::setnetgrent, netgroup);
}
void endnetgrent(void) {
  return at_node_0(next<"endnetgrent">(::endnetgrent), ::endnetgrent);
}
int getpwent_r(passwd* resultbuf, char* buffer, size_t buflen, passwd** result) {
  return at_node_0(next<"getpwent_r">(::getpwent_r), ::getpwent_r, resultbuf, buffer, buflen, result);
}
int getgrent_r(group* resultbuf, char* buffer, size_t buflen, group** result) {
  return at_node_0(next<"getgrent_r">(::getgrent_r), ::getgrent_r, resultbuf, buffer, buflen, result);
}
int gethostent_r(hostent* result_buf, char* buf, size_t buflen, hostent** result, int* h_errnop) {
  return at_node_0(next<"gethostent_r">(::gethostent_r), ::gethostent_r, result_buf, buf, buflen, result, h_errnop);
}
int getnetent_r(netent* result_buf, char* buf, size_t buflen, netent** result, int* h_errnop) {
  return at_node_0(next<"getnetent_r">(::getnetent_r), ::getnetent_r, result_buf, buf, buflen, result, h_errnop);
}
int getprotoent_r(protoent* result_buf, char* buf, size_t buflen, protoent** result) {
  return at_node_0(next<"getprotoent_r">(::getprotoent_r), ::getprotoent_r, result_buf, buf, buflen, result);
}
int getservent_r(servent* result_buf, char* buf, size_t buflen, servent** result) {
  return at_node_0(next<"getservent_r">(::getservent_r), ::getservent_r, result_buf, buf, buflen, result);
}
int getrpcent_r(rpcent* result_buf, char* buffer, size_t buflen, rpcent** result) noexcept {
  return at_node_0(next<"getrpcent_r">(::getrpcent_r), ::getrpcent_r, result_buf, buffer, buflen, result);
}
int getaliasent_r(aliasent* result_buf, char* buffer, size_t buflen, aliasent** result) noexcept {
  return at_node_0(next<"getaliasent_r">(::getaliasent_r), ::getaliasent_r, result_buf, buffer, buflen, result);
}
int getspent_r(spwd* result_buf, char* buffer, size_t buflen, spwd** result) {
  return at_node_0(next<"getspent_r">(::getspent_r), ::getspent_r, result_buf, buffer, buflen, result);
}
int getsgent_r(sgrp* result_buf, char* buffer, size_t buflen, sgrp** result) {
  return at_node_0(next<"getsgent_r">(::getsgent_r), ::getsgent_r, result_buf, buffer, buflen, result);
}
int getutent_r(utmp* buffer, utmp** result) noexcept {
  return at_node_0(next<"getutent_r">(::getutent_r), ::getutent_r, buffer, result);
}
int getnetgrent_r(char** hostp, char** userp, char** domainp, char* buffer, size_t buflen) {
  return at_node_0(next<"getnetgrent_r">(::getnetgrent_r), ::getnetgrent_r, hostp, userp, domainp, buffer, buflen);
}
char* gettext(const char* msgid) noexcept {
  return text_of(next<"gettext">(::gettext), msgid);
}
char* dgettext(const char* domainname, const char* msgid) noexcept {
  return text_of(next<"dgettext">(::dgettext), domainname, msgid);
}
char* dcgettext(const char* domainname, const char* msgid, int category) noexcept {
  return text_of(next<"dcgettext">(::dcgettext), domainname, msgid, category);
}
char* ngettext(const char* msgid1, const char* msgid2, unsigned long int n) noexcept {
  return text_of(next<"ngettext">(::ngettext), msgid1, msgid2, n);
}
char* dngettext(const char* domainname, const char* msgid1, const char* msgid2, unsigned long int n) noexcept {
  return text_of(next<"dngettext">(::dngettext), domainname, msgid1, msgid2, n);
}
char* dcngettext(const char* domain, const char* msgid1, const char* msgid2, unsigned long n, int category) noexcept {
  return text_of(next<"dcngettext">(::dcngettext), domain, msgid1, msgid2, n, category);
}
char* nl_langinfo(nl_item item) noexcept {
  return text_of(next<"nl_langinfo">(::nl_langinfo), item);
}
char* nl_langinfo_l(nl_item item, locale_t l) {
  return text_of(next<"nl_langinfo_l">(::nl_langinfo_l), item, l);
}
const char* gai_strerror(int ecode) noexcept {
  return text_of(next<"gai_strerror">(::gai_strerror), ecode);
}
const char* hstrerror(int err_num) noexcept {
  return text_of(next<"hstrerror">(::hstrerror), err_num);
}
error_t argz_add(char** argz, size_t* argz_len, const char* str) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_add">(::argz_add)(argz, argz_len, str);
}
error_t argz_add_sep(char** argz, size_t* argz_len, const char* string, int delim) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_add_sep">(::argz_add_sep)(argz, argz_len, string, delim);
}
error_t argz_append(char** argz, size_t* argz_len, const char* buf, size_t buf_len) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_append">(::argz_append)(argz, argz_len, buf, buf_len);
}
error_t argz_create(char* const argv[], char** argz, size_t* len) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_create">(::argz_create)(argv, argz, len);
}
error_t argz_create_sep(const char* string, int sep, char** argz, size_t* len) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_create_sep">(::argz_create_sep)(string, sep, argz, len);
}
error_t argz_insert(char** argz, size_t* argz_len, char* before, const char* entry) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_insert">(::argz_insert)(argz, argz_len, before, entry);
}
error_t argz_replace(char** argz, size_t* argz_len, const char* str, const char* with, unsigned int* replace_count) {
  terrane::frontend::ForCaller memory;
  return next<"argz_replace">(::argz_replace)(argz, argz_len, str, with, replace_count);
}
void argz_delete(char** argz, size_t* argz_len, char* entry) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"argz_delete">(::argz_delete)(argz, argz_len, entry);
}
error_t envz_add(char** envz, size_t* envz_len, const char* name, const char* value) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"envz_add">(::envz_add)(envz, envz_len, name, value);
}
error_t envz_merge(char** envz, size_t* envz_len, const char* envz2, size_t envz2_len, int override) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"envz_merge">(::envz_merge)(envz, envz_len, envz2, envz2_len, override);
}
void envz_remove(char** envz, size_t* envz_len, const char* name) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"envz_remove">(::envz_remove)(envz, envz_len, name);
}
void envz_strip(char** envz, size_t* envz_len) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"envz_strip">(::envz_strip)(envz, envz_len);
}
char** backtrace_symbols(void* const* array, int size) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"backtrace_symbols">(::backtrace_symbols)(array, size);
}
int hcreate_r(size_t nel, hsearch_data* htab) noexcept {
  terrane::frontend::ForCaller memory;
  return next<"hcreate_r">(::hcreate_r)(nel, htab);
}
int eventfd_write(int fd, eventfd_t value) {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::eventfd_write, fd, value);
  return next<"eventfd_write">(::eventfd_write)(fd, value);
}
long int fpathconf(int fd, int name) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::fpathconf, fd, name);
  return next<"fpathconf">(::fpathconf)(fd, name);
}
int grantpt(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::grantpt, fd);
  return next<"grantpt">(::grantpt)(fd);
}
int unlockpt(int fd) noexcept {
  if (is_elsewhere(fd)) return call_elsewhere(fd, ::unlockpt, fd);
  return next<"unlockpt">(::unlockpt)(fd);
}

}  // extern "C"
#pragma GCC visibility pop
