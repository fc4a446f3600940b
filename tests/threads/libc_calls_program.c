// Calls of the C library about what another node has made: each is made in a thread of another node
// with what main has, and by main with what such a thread has. argv[1]: which; argv[2]: a folder.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <getopt.h>
#include <glob.h>
#include <grp.h>
#include <ifaddrs.h>
#include <mntent.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <printf.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static int wrong;
static char path[300];
static const char* folder;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("%s is wrong\n", what);
  ++wrong;
}

static void in_thread(void* (*function)(void*), void* argument) {
  pthread_t thread;
  pthread_create(&thread, NULL, function, argument);
  pthread_join(thread, NULL);
}

static const char* file_named(const char* name) {
  snprintf(path, sizeof path, "%s/libc_calls_%d_%s", folder, (int)getpid(), name);
  return path;
}

static FILE *stream, *wide;

static void* use_stream(void* unused) {
  struct passwd entry = {"name", "x", 1, 2, "gecos", "/", "/bin/sh"}, *found = NULL;
  char texts[500];
  check(putpwent(&entry, stream) == 0, "putpwent");
  check(__fpending(stream) > 0 && __fbufsize(stream) > 0, "__fpending");
  check(__fwritable(stream) != 0 && __freadable(stream) != 0, "__fwritable");
  rewind(stream);
  check(fgetpwent_r(stream, &entry, texts, sizeof texts, &found) == 0 && found->pw_gid == 2,
        "fgetpwent_r");
  fpos64_t place;
  check(fgetpos64(stream, &place) == 0 && fsetpos64(stream, &place) == 0, "fgetpos64");
  int number = 0;
  wchar_t line[20];
  fputws(L"17 ab\n", wide);
  rewind(wide);
  check(fwscanf(wide, L"%d", &number) == 1 && number == 17, "fwscanf");
  check(fgetwc_unlocked(wide) == L' ' && fgetws_unlocked(line, 20, wide) != NULL &&
            wcscmp(line, L"ab\n") == 0,
        "fgetws_unlocked");
  return unused;
}

static void* make_stream(void* unused) {
  wide = fopen(file_named("wide"), "w+");
  unlink(path);
  stream = fopen(file_named("stream"), "w+");
  unlink(path);
  return unused;
}

static int streams(void) {
  make_stream(NULL);
  in_thread(use_stream, NULL);
  fclose(stream);
  in_thread(make_stream, NULL);
  use_stream(NULL);
  fclose(stream);
  return wrong;
}

static DIR* dir;
static struct dirent* entry;

static void* read_folder(void* unused) {
  int found = 0;
  long place = telldir(dir);
  while ((entry = readdir(dir)) != NULL) found += strcmp(entry->d_name, "there") == 0;
  check(found == 1, "readdir");
  seekdir(dir, place);
  rewinddir(dir);
  check(fcntl(dirfd(dir), F_GETFD) >= 0, "dirfd");
  entry = readdir(dir);
  return unused;
}

static void* look_at_entry(void* unused) {
  check(entry != NULL && strlen(entry->d_name) > 0, "an entry of another node");
  return unused;
}

static void* open_folder(void* unused) {
  dir = opendir(path);
  return unused;
}

static int folders(void) {
  char file[400];
  mkdir(file_named("folder"), 0700);
  snprintf(file, sizeof file, "%s/there", path);
  fclose(fopen(file, "w"));
  for (int round = 0; round < 2; ++round) {
    if (round == 0) open_folder(NULL);
    if (round == 1) in_thread(open_folder, NULL);
    if (round == 0) in_thread(read_folder, NULL);
    if (round == 1) read_folder(NULL);
    look_at_entry(NULL);
    in_thread(look_at_entry, NULL);
    check(closedir(dir) == 0, "closedir");
  }
  unlink(file);
  rmdir(path);
  return wrong;
}

static glob64_t names;
static struct dirent64** listed;

static int all(const struct dirent64* one) { return one != NULL; }

static void* make_names(void* unused) {
  check(glob64("/et[c]", 0, NULL, &names) == 0, "glob64");
  check(scandirat64(AT_FDCWD, "/", &listed, all, alphasort64) > 0, "scandirat64");
  int fd = creat64(file_named("creat64"), 0600);
  check(write(fd, "x", 1) == 1 && close(fd) == 0 && unlink(path) == 0, "creat64");
  stream = tmpfile64();
  return unused;
}

static void* use_names(void* unused) {
  check(names.gl_pathc == 1 && strcmp(names.gl_pathv[0], "/etc") == 0, "what glob64 gave");
  check(listed[0]->d_name[0] != 0, "what scandirat64 gave");
  check(fputs("x", stream) >= 0 && fflush(stream) == 0, "tmpfile64");
  globfree64(&names);
  free(listed[0]);
  return unused;
}

static int wide_offsets(void) {
  in_thread(make_names, NULL);
  use_names(NULL);
  make_names(NULL);
  in_thread(use_names, NULL);
  return wrong;
}

static FTS* tree;
static char* roots[] = {"/etc", NULL};

static void* read_tree(void* unused) {
  fts_read(tree);
  return unused;
}

static void* log_mask(void* before) {
  *(int*)before = setlogmask(0);
  return NULL;
}

static int print_here(FILE* to, const struct printf_info* info, const void* const* arguments) {
  (void)info, (void)arguments;
  return fprintf(to, "here");
}
static int tell_none(const struct printf_info* info, size_t count, int* types, int* sizes) {
  (void)info, (void)count, (void)types, (void)sizes;
  return 0;
}

static void* print_own(void* unused) {
  char text[20], format[] = "%Y";
  snprintf(text, sizeof text, format);
  check(strcmp(text, "here") == 0, "register_printf_specifier");
  return unused;
}

static int settings(void) {
  int mask = 0;
  setlogmask(LOG_MASK(LOG_ERR));
  openlog("name", LOG_PID, LOG_USER);
  in_thread(log_mask, &mask);
  check(mask == LOG_MASK(LOG_ERR), "setlogmask");
  closelog();
  check(register_printf_specifier('Y', print_here, tell_none) == 0, "the call");
  for (int i = 0; i < 3; ++i) in_thread(print_own, NULL);
  return wrong;
}

static void* ask(void* unused) {
  struct passwd user, *of_user = NULL;
  struct group group, *of_group = NULL;
  struct servent service, *of_service = NULL;
  struct protoent protocol, *of_protocol = NULL;
  char a[1000], b[4000], c[1000], d[1000], name[300] = "", loop[IF_NAMESIZE];
  gid_t groups[64];
  int count = 64;
  check(getpwuid_r(0, &user, a, sizeof a, &of_user) == 0 && of_user->pw_uid == 0, "getpwuid_r");
  check(getgrgid_r(0, &group, b, sizeof b, &of_group) == 0 && of_group->gr_gid == 0, "getgrgid_r");
  check(getgrouplist("root", 0, groups, &count) >= 1, "getgrouplist");
  if (getservbyname_r("http", "tcp", &service, c, sizeof c, &of_service) == 0 && of_service != NULL)
    check(ntohs((unsigned short)service.s_port) == 80, "getservbyname_r");
  if (getprotobyname_r("tcp", &protocol, d, sizeof d, &of_protocol) == 0 && of_protocol != NULL)
    check(protocol.p_proto == 6, "getprotobyname_r");
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  char host[100];
  check(getnameinfo((struct sockaddr*)&address, sizeof address, host, sizeof host, NULL, 0,
                    NI_NUMERICHOST) == 0 &&
            strcmp(host, "127.0.0.1") == 0,
        "getnameinfo");
  check(gethostname(name, sizeof name) == 0 && strlen(name) > 0, "gethostname");
  check(if_indextoname(1, loop) != NULL && if_nametoindex(loop) == 1, "if_indextoname");
  char root[] = "/";
  check(ftok(root, 1) != -1 && pathconf(root, _PC_NAME_MAX) > 0, "ftok");
  double loads[3];
  check(getloadavg(loads, 3) == 3, "getloadavg");
  char *of_host, *of_name, *of_domain;
  setnetgrent("none");
  check(getnetgrent(&of_host, &of_name, &of_domain) == 0, "getnetgrent");
  return unused;
}

static int answers(void) {
  ask(NULL);
  for (int i = 0; i < 3; ++i) in_thread(ask, NULL);
  return wrong;
}

static char* arguments[] = {"program", "-ab", "word", "-c", NULL};

static void* next_option(void* letter) {
  *(int*)letter = getopt(4, arguments, "ab:c");
  return NULL;
}

static void* next_long_option(void* letter) {
  static const struct option all[] = {{"first", no_argument, NULL, 'f'}, {NULL, 0, NULL, 0}};
  static char* list[] = {"program", "--first", "rest", NULL};
  optind = 0;
  *(int*)letter = getopt_long(3, list, "", all, NULL);
  check(list[optind] != NULL && strcmp(list[optind], "rest") == 0, "optind");
  return NULL;
}

static int options(void) {
  int letters[4];
  letters[0] = getopt(4, arguments, "ab:c");
  in_thread(next_option, &letters[1]);
  check(optarg != NULL && strcmp(optarg, "word") == 0, "optarg");
  letters[2] = getopt(4, arguments, "ab:c");
  in_thread(next_option, &letters[3]);
  check(letters[0] == 'a' && letters[1] == 'b' && letters[2] == 'c' && letters[3] == -1, "getopt");
  in_thread(next_long_option, &letters[0]);
  check(letters[0] == 'f', "getopt_long");
  return wrong;
}

static struct tm time_of_day;

static void* make_time(void* unused) {
  time_t then = 1000000000;
  setenv("TZ", "ABC-1XYZ", 1);
  tzset();
  localtime_r(&then, &time_of_day);
  mktime(&time_of_day);
  return unused;
}

static void* look_at_time(void* unused) {
  char text[40];
  strftime(text, sizeof text, "%Z", &time_of_day);
  check(strcmp(time_of_day.tm_zone, "XYZ") == 0 && strcmp(text, "XYZ") == 0, "tm_zone");
  check(strcmp(tzname[0], "ABC") == 0 && strcmp(tzname[1], "XYZ") == 0, "tzname");
  return unused;
}

static int times_of_day(void) {
  for (int round = 0; round < 2; ++round) {
    if (round == 0) make_time(NULL);
    if (round == 1) in_thread(make_time, NULL);
    look_at_time(NULL);
    for (int i = 0; i < 3; ++i) in_thread(look_at_time, NULL);
  }
  return wrong;
}

static void* execute(void* word) {
  char command[40];
  snprintf(command, sizeof command, "exit %d", *(int*)word);
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command, (char*)NULL);
    _exit(99);
  }
  int status = 0;
  waitpid(child, &status, 0);
  check(WIFEXITED(status) && WEXITSTATUS(status) == *(int*)word, "execl");
  return NULL;
}

static int programs(void) {
  int word = 7;
  execute(&word);
  in_thread(execute, &word);
  return wrong;
}

static Dl_info of_main;

static void* look_up(void* unused) {
  Dl_info own;
  check(dladdr(&wrong, &own) != 0 && strcmp(own.dli_fname, of_main.dli_fname) == 0, "dladdr");
  check(dlvsym(RTLD_DEFAULT, "puts", "GLIBC_2.2.5") != NULL, "dlvsym");
  return unused;
}

static int loader(void) {
  check(dladdr(&wrong, &of_main) != 0, "dladdr of main");
  look_up(NULL);
  for (int i = 0; i < 3; ++i) in_thread(look_up, NULL);
  return wrong;
}

static int later(void) {
  void (*give)(void*, size_t) = (void (*)(void*, size_t))dlsym(RTLD_DEFAULT, "free_sized");
  int (*scan)(FILE*, const char*, ...) =
      (int (*)(FILE*, const char*, ...))dlsym(RTLD_DEFAULT, "__isoc23_fscanf");
  if (give == NULL || scan == NULL) return 0;  // run by itself
  give(malloc(100), 100);
  int number = 0;
  stream = fopen(file_named("later"), "w+");
  fputs("42", stream);
  rewind(stream);
  check(scan(stream, "%d", &number) == 1 && number == 42, "__isoc23_fscanf");
  fclose(stream);
  unlink(path);
  return wrong;
}

static int fd_of_main;

static int is_refused(long result) { return result == -1 && errno == EBADF; }

// In a thread of another node than main's.
static void* use_descriptor(void* unused) {
  uint32_t mode = 0, some = 0;
  struct iovec part = {NULL, 0};
  struct in_addr any = {0};
  struct sockaddr_storage of = {.ss_family = AF_INET};
  check(is_refused(getipv4sourcefilter(fd_of_main, any, any, &mode, &some, NULL)), "getipv4");
  check(is_refused(setipv4sourcefilter(fd_of_main, any, any, mode, 0, NULL)), "setipv4");
  check(is_refused(
            getsourcefilter(fd_of_main, 1, (struct sockaddr*)&of, sizeof of, &mode, &some, NULL)),
        "getsourcefilter");
  check(is_refused(setsourcefilter(fd_of_main, 1, (struct sockaddr*)&of, sizeof of, 0, 0, NULL)),
        "setsourcefilter");
  check(is_refused(process_madvise(fd_of_main, &part, 1, 0, 0)), "process_madvise");
  check(is_refused(process_mrelease(fd_of_main, 0)), "process_mrelease");
  check(is_refused(pidfd_send_signal(fd_of_main, 0, NULL, 0)), "pidfd_send_signal");
  check(is_refused(pidfd_getfd(fd_of_main, 0, 0)), "pidfd_getfd");
  check(is_refused(fsmount(fd_of_main, 0, 0)) && is_refused(fspick(fd_of_main, "x", 0)) &&
            is_refused(open_tree(fd_of_main, "x", 0)),
        "a call about mounts");
  return unused;
}

static int descriptors(void) {
  fd_of_main = socket(AF_INET, SOCK_DGRAM, 0);
  in_thread(use_descriptor, NULL);
  return wrong;
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    int (*run)(void);
  } kAll[] = {{"streams", streams},    {"folders", folders},        {"offsets", wide_offsets},
              {"settings", settings},  {"answers", answers},        {"options", options},
              {"times", times_of_day}, {"programs", programs},      {"loader", loader},
              {"later", later},        {"descriptors", descriptors}};
  if (count < 3) return 2;
  folder = words[2];
  if (strcmp(words[1], "tree") == 0) {
    tree = fts_open(roots, FTS_PHYSICAL, NULL);
    in_thread(read_tree, NULL);
    return fts_close(tree);
  }
  for (size_t i = 0; i < sizeof kAll / sizeof kAll[0]; ++i)
    if (strcmp(words[1], kAll[i].name) == 0 && kAll[i].run() == 0) puts("good");
  return wrong;
}
