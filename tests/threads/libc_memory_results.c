// Results that the C library keeps and hands to its caller: main calls each function, and a thread
// of another node reads what it gave. argv[1]: which kind; argv[2]: a folder for its files.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fstab.h>
#include <grp.h>
#include <gshadow.h>
#include <langinfo.h>
#include <libintl.h>
#include <locale.h>
#include <mntent.h>
#include <netdb.h>
#include <netinet/ether.h>
#include <pthread.h>
#include <pwd.h>
#include <rpc/netdb.h>
#include <shadow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ttyent.h>
#include <unistd.h>
#include <utmp.h>
#include <utmpx.h>

enum { kRoom = 4096 };

// A structure as a text, with all that it points to.
typedef void Show(char* to, const void* result);

static void add(char* to, const char* text) {
  strncat(to, text == NULL ? "-" : text, kRoom - strlen(to) - 2);
  strcat(to, " ");
}

static void add_list(char* to, char** list) {
  for (; list != NULL && *list != NULL; ++list) add(to, *list);
}

static void add_number(char* to, long number) {
  char text[32];
  snprintf(text, sizeof text, "%ld", number);
  add(to, text);
}

static void show_text(char* to, const void* result) { add(to, result); }

static void show_tm(char* to, const void* result) {
  const struct tm* own = result;
  add_number(to, own->tm_year);
  add_number(to, own->tm_mday);
  add_number(to, own->tm_min);
  add(to, own->tm_zone);
}

static void show_passwd(char* to, const void* result) {
  const struct passwd* own = result;
  add(to, own->pw_name);
  add_number(to, own->pw_uid);
  add(to, own->pw_dir);
  add(to, own->pw_shell);
}

static void show_group(char* to, const void* result) {
  const struct group* own = result;
  add(to, own->gr_name);
  add_number(to, own->gr_gid);
  add_list(to, own->gr_mem);
}

static void show_host(char* to, const void* result) {
  const struct hostent* own = result;
  add(to, own->h_name);
  add_list(to, own->h_aliases);
  for (int i = 0; own->h_addr_list[i] != NULL; ++i)
    for (int k = 0; k < own->h_length; ++k) add_number(to, own->h_addr_list[i][k]);
}

static void show_net(char* to, const void* result) {
  const struct netent* own = result;
  add(to, own->n_name);
  add_list(to, own->n_aliases);
  add_number(to, own->n_net);
}

static void show_protocol(char* to, const void* result) {
  const struct protoent* own = result;
  add(to, own->p_name);
  add_list(to, own->p_aliases);
  add_number(to, own->p_proto);
}

static void show_service(char* to, const void* result) {
  const struct servent* own = result;
  add(to, own->s_name);
  add_list(to, own->s_aliases);
  add_number(to, own->s_port);
  add(to, own->s_proto);
}

static void show_rpc(char* to, const void* result) {
  const struct rpcent* own = result;
  add(to, own->r_name);
  add_list(to, own->r_aliases);
  add_number(to, own->r_number);
}

static void show_shadow(char* to, const void* result) {
  const struct spwd* own = result;
  add(to, own->sp_namp);
  add(to, own->sp_pwdp);
  add_number(to, own->sp_max);
}

static void show_group_shadow(char* to, const void* result) {
  const struct sgrp* own = result;
  add(to, own->sg_namp);
  add_list(to, own->sg_adm);
  add_list(to, own->sg_mem);
}

static void show_mount(char* to, const void* result) {
  const struct mntent* own = result;
  add(to, own->mnt_fsname);
  add(to, own->mnt_dir);
  add(to, own->mnt_type);
  add(to, own->mnt_opts);
}

static void show_fstab(char* to, const void* result) {
  const struct fstab* own = result;
  add(to, own->fs_spec);
  add(to, own->fs_file);
  add(to, own->fs_mntops);
}

static void show_tty(char* to, const void* result) {
  const struct ttyent* own = result;
  add(to, own->ty_name);
  add(to, own->ty_type);
}

static void show_ether(char* to, const void* result) {
  const struct ether_addr* own = result;
  for (int i = 0; i < ETH_ALEN; ++i) add_number(to, own->ether_addr_octet[i]);
}

static void show_numbers(char* to, const void* result) {
  const struct lconv* own = result;
  add(to, own->decimal_point);
  add(to, own->grouping);
  add(to, own->mon_decimal_point);
  add_number(to, own->frac_digits);
}

static void show_login(char* to, const void* result) {
  const struct utmpx* own = result;  // utmp is the same
  add(to, own->ut_line);
  add(to, own->ut_user);
}

// What each function is called with.
static const time_t at = 86400 * 31;
static char files[200];

static FILE* file_with(const char* name, const char* text) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", files, name);
  FILE* file = fopen(path, "w+");
  if (file == NULL) return NULL;
  fputs(text, file);
  rewind(file);
  return file;
}

static void* call_getpwnam(void) { return getpwnam("root"); }
static void* call_getpwuid(void) { return getpwuid(0); }
static void* call_getgrnam(void) { return getgrnam("root"); }
static void* call_getgrgid(void) { return getgrgid(0); }
static void* call_localtime(void) { return localtime(&at); }
static void* call_gmtime(void) { return gmtime(&at); }
static void* call_asctime(void) { return asctime(gmtime(&at)); }
static void* call_ctime(void) { return ctime(&at); }
static void* call_gethostbyname(void) { return gethostbyname("127.0.0.1"); }
static void* call_gethostbyname2(void) { return gethostbyname2("::1", AF_INET6); }
static void* call_gethostbyaddr(void) {
  struct in_addr local = {htonl(INADDR_LOOPBACK)};
  return gethostbyaddr(&local, sizeof local, AF_INET);
}
static void* call_getnetbyname(void) { return getnetbyname("loopback"); }
static void* call_getnetbyaddr(void) { return getnetbyaddr(127, AF_INET); }
static void* call_getprotobyname(void) { return getprotobyname("tcp"); }
static void* call_getprotobynumber(void) { return getprotobynumber(17); }
static void* call_getservbyname(void) { return getservbyname("ssh", "tcp"); }
static void* call_getservbyport(void) { return getservbyport(htons(80), "tcp"); }
static void* call_getrpcbyname(void) { return getrpcbyname("nfs"); }
static void* call_getrpcbynumber(void) { return getrpcbynumber(100003); }
static void* call_getspnam(void) { return getspnam("root"); }
static void* call_getsgnam(void) { return getsgnam("root"); }
static void* call_sgetspent(void) { return sgetspent("user:x:1:2:3:4:5:6:"); }
static void* call_sgetsgent(void) { return sgetsgent("group:!:one,two:three"); }
static void* call_fgetpwent(void) {
  return fgetpwent(file_with("p", "user:x:7:8:name:/home:/sh\n"));
}
static void* call_fgetgrent(void) { return fgetgrent(file_with("g", "group:x:7:one,two\n")); }
static void* call_fgetspent(void) { return fgetspent(file_with("s", "user:x:1:2:3:4:5:6:\n")); }
static void* call_fgetsgent(void) { return fgetsgent(file_with("h", "group:!:one:two\n")); }
static void* call_getmntent(void) { return getmntent(file_with("m", "/dev/a /b ext4 rw 0 0\n")); }
static void* call_setmntent(void) {
  char path[300];
  fclose(file_with("n", "/dev/c /d xfs ro 0 0\n"));
  snprintf(path, sizeof path, "%s/n", files);
  FILE* file = setmntent(path, "r");
  void* entry = getmntent(file);
  endmntent(file);
  return entry;
}
static void* call_getfsspec(void) { return getfsspec("/dev/no"); }
static void* call_getttynam(void) { return getttynam("console"); }
static void* call_getlogin(void) { return getlogin(); }
static void* call_ttyname(void) { return ttyname(0); }
static void* call_ctermid(void) { return ctermid(NULL); }
static void* call_tmpnam(void) {
  char* (*call)(char*) = (char* (*)(char*))dlsym(RTLD_DEFAULT, "tmpnam");
  return call(NULL);
}
static void* call_ptsname(void) { return ptsname(posix_openpt(O_RDWR)); }
static void* call_l64a(void) { return l64a(123456789); }
static void* call_ether_aton(void) { return ether_aton("1:2:3:4:5:6"); }
static void* call_ether_ntoa(void) { return ether_ntoa(ether_aton("a:b:c:d:e:f")); }
static void* call_localeconv(void) { return localeconv(); }
static int point, sign;
static void* call_ecvt(void) { return ecvt(3.25, 4, &point, &sign); }
static void* call_fcvt(void) { return fcvt(3.25, 1, &point, &sign); }
static void* call_qecvt(void) { return qecvt(1.5L, 4, &point, &sign); }
static void* call_qfcvt(void) { return qfcvt(1.5L, 2, &point, &sign); }
static void* call_inet_ntoa(void) { return inet_ntoa((struct in_addr){htonl(0x01020304)}); }
static void* call_strerror(void) { return strerror(7777); }
static void* call_strsignal(void) { return strsignal(7777); }
static void* call_dlerror(void) {
  dlopen("libterrane_none.so", RTLD_NOW);
  return dlerror();
}

// Not every machine has an entry for each; a thread then sees NULL as main does.
static const struct {
  const char* name;
  void* (*call)(void);
  Show* show;
} calls[] = {
    {"localtime", call_localtime, show_tm},
    {"gmtime", call_gmtime, show_tm},
    {"asctime", call_asctime, show_text},
    {"ctime", call_ctime, show_text},
    {"getpwnam", call_getpwnam, show_passwd},
    {"getpwuid", call_getpwuid, show_passwd},
    {"getgrnam", call_getgrnam, show_group},
    {"getgrgid", call_getgrgid, show_group},
    {"gethostbyname", call_gethostbyname, show_host},
    {"gethostbyname2", call_gethostbyname2, show_host},
    {"gethostbyaddr", call_gethostbyaddr, show_host},
    {"getnetbyname", call_getnetbyname, show_net},
    {"getnetbyaddr", call_getnetbyaddr, show_net},
    {"getprotobyname", call_getprotobyname, show_protocol},
    {"getprotobynumber", call_getprotobynumber, show_protocol},
    {"getservbyname", call_getservbyname, show_service},
    {"getservbyport", call_getservbyport, show_service},
    {"getrpcbyname", call_getrpcbyname, show_rpc},
    {"getrpcbynumber", call_getrpcbynumber, show_rpc},
    {"getspnam", call_getspnam, show_shadow},
    {"getsgnam", call_getsgnam, show_group_shadow},
    {"sgetspent", call_sgetspent, show_shadow},
    {"sgetsgent", call_sgetsgent, show_group_shadow},
    {"fgetpwent", call_fgetpwent, show_passwd},
    {"fgetgrent", call_fgetgrent, show_group},
    {"fgetspent", call_fgetspent, show_shadow},
    {"fgetsgent", call_fgetsgent, show_group_shadow},
    {"getmntent", call_getmntent, show_mount},
    {"setmntent", call_setmntent, show_mount},
    {"getfsspec", call_getfsspec, show_fstab},
    {"getttynam", call_getttynam, show_tty},
    {"getlogin", call_getlogin, show_text},
    {"ttyname", call_ttyname, show_text},
    {"ctermid", call_ctermid, show_text},
    {"tmpnam", call_tmpnam, show_text},
    {"ptsname", call_ptsname, show_text},
    {"l64a", call_l64a, show_text},
    {"ether_aton", call_ether_aton, show_ether},
    {"ether_ntoa", call_ether_ntoa, show_text},
    {"localeconv", call_localeconv, show_numbers},
    {"ecvt", call_ecvt, show_text},
    {"fcvt", call_fcvt, show_text},
    {"qecvt", call_qecvt, show_text},
    {"qfcvt", call_qfcvt, show_text},
    {"inet_ntoa", call_inet_ntoa, show_text},
    {"strerror", call_strerror, show_text},
    {"strsignal", call_strsignal, show_text},
    {"dlerror", call_dlerror, show_text},
};

static const void* result;
static char expected[kRoom];
static int number, wrong;

static void* look(void* unused) {
  char seen[kRoom] = "";
  if (result != NULL) calls[number].show(seen, result);
  if (strcmp(seen, expected) != 0) {
    printf("%s: %s, not %s\n", calls[number].name, seen, expected);
    ++wrong;
  }
  return unused;
}

static void look_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, look, NULL);
  pthread_join(thread, NULL);
}

// A result that a thread has and main sees, as far as it is not the thread's own.
static void* make(void* unused) {
  result = calls[number].call();
  expected[0] = '\0';
  if (result != NULL) calls[number].show(expected, result);
  return unused;
}

static int results(void) {
  int count = (int)(sizeof calls / sizeof calls[0]), found = 0;
  for (number = 0; number < count; ++number) {
    make(NULL);
    found += result != NULL;
    for (int i = 0; i < 2; ++i) look_in_thread();
    if (strcmp(calls[number].name, "inet_ntoa") == 0) break;
    pthread_t thread;
    pthread_create(&thread, NULL, make, NULL);
    pthread_join(thread, NULL);
    look(NULL);
  }
  return wrong + (found < 15);
}

static int results_of_threads(void) {
  int count = (int)(sizeof calls / sizeof calls[0]);
  for (number = 0; number < count; ++number) {
    make(NULL);
    look_in_thread();
  }
  return wrong;
}

// One list, of which each thread takes the next entry.
static char names[16][100];

static void* next_user(void* place) {
  struct passwd* entry = getpwent();
  if (entry != NULL) snprintf(place, sizeof names[0], "%s", entry->pw_name);
  return NULL;
}

static int entries(void) {
  enum { kEntries = 6 };
  int bad = 0;
  setpwent();
  for (int i = 0; i < kEntries; ++i) {
    pthread_t thread;
    pthread_create(&thread, NULL, next_user, names[i]);
    pthread_join(thread, NULL);
  }
  endpwent();
  setpwent();
  for (int i = 0; i < kEntries; ++i) {
    struct passwd* entry = getpwent();
    bad += entry == NULL || strcmp(entry->pw_name, names[i]) != 0;
  }
  endpwent();
  while (getservent() != NULL) ++number;
  bad += getservent() != NULL;
  return bad;
}

// Texts: those that a program gives come back, others are the C library's.
static const char* texts[8];
static const char* copies[8];

static void* look_at_texts(void* unused) {
  for (int i = 0; i < 8; ++i) wrong += strcmp(texts[i], copies[i]) != 0;
  wrong += texts[0] != gettext(texts[0]);
  return unused;
}

static int check_texts(void) {
  int i = 0;
  texts[i++] = gettext("no message");
  texts[i++] = dgettext("libc", "No such file or directory");
  texts[i++] = dcgettext("libc", "Broken pipe", LC_MESSAGES);
  texts[i++] = ngettext("one", "many", 2);
  texts[i++] = nl_langinfo(CODESET);
  texts[i++] = gai_strerror(EAI_NONAME);
  texts[i++] = hstrerror(HOST_NOT_FOUND);
  texts[i++] = dngettext("none", "one", "many", 1);
  for (int k = 0; k < i; ++k) copies[k] = strdup(texts[k]);
  for (int k = 0; k < 3; ++k) {
    pthread_t thread;
    pthread_create(&thread, NULL, look_at_texts, NULL);
    pthread_join(thread, NULL);
  }
  return wrong;
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  snprintf(files, sizeof files, "%s", argc > 2 ? argv[2] : "/tmp");
  int bad = 1;
  if (strcmp(mode, "results") == 0) bad = results();
  if (strcmp(mode, "of_threads") == 0) bad = results_of_threads();
  if (strcmp(mode, "entries") == 0) bad = entries();
  if (strcmp(mode, "texts") == 0) bad = check_texts();
  printf("%s\n", bad == 0 ? "good" : "BAD");
  return bad != 0;
}
