// Calls about a descriptor that a thread of another node has opened: each acts on that file, or
// fails with EBADF. argv[1]: of_main or of_a_thread; argv[2]: a folder for files.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

static int wrong;
static char folder[200];
static int file, directory, pair[2], event, timer, watch, terminal, events;
static mqd_t queue;

static void check(int condition, const char* what) {
  if (condition) return;
  printf("%s is wrong: %s\n", what, strerror(errno));
  ++wrong;
}

static void* open_all(void* unused) {
  directory = open(folder, O_RDONLY | O_DIRECTORY);
  file = openat(directory, "a", O_RDWR | O_CREAT | O_TRUNC, 0600);
  check(write(file, "0123456789", 10) == 10, "write");
  check(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0, "socketpair");
  event = eventfd(3, 0);
  timer = timerfd_create(CLOCK_MONOTONIC, 0);
  watch = inotify_init1(IN_NONBLOCK);
  terminal = posix_openpt(O_RDWR | O_NOCTTY);
  events = epoll_create1(0);
  struct mq_attr shape = {.mq_maxmsg = 4, .mq_msgsize = 16};
  char name[40];
  snprintf(name, sizeof name, "/terrane_test_%ld", (long)getpid());
  queue = mq_open(name, O_RDWR | O_CREAT | O_NONBLOCK, 0600, &shape);
  if (queue != -1) mq_unlink(name);
  return unused;
}

static void names(void) {
  struct stat facts;
  struct statx more;
  char text[200] = "";
  check(fstatat(directory, "a", &facts, 0) == 0 && facts.st_size == 10, "fstatat");
  check(statx(directory, "a", 0, STATX_SIZE, &more) == 0 && more.stx_size == 10, "statx");
  check(faccessat(directory, "a", R_OK, 0) == 0, "faccessat");
  check(mkdirat(directory, "d", 0700) == 0, "mkdirat");
  check(symlinkat("a", directory, "l") == 0, "symlinkat");
  check(readlinkat(directory, "l", text, sizeof text) == 1 && text[0] == 'a', "readlinkat");
  check(linkat(directory, "a", directory, "b", 0) == 0, "linkat");
  check(renameat(directory, "b", directory, "c") == 0, "renameat");
  check(renameat2(directory, "c", directory, "b", RENAME_NOREPLACE) == 0, "renameat2");
  check(fchmodat(directory, "b", 0640, 0) == 0, "fchmodat");
  check(fchownat(directory, "b", (uid_t)-1, (gid_t)-1, 0) == 0, "fchownat");
  check(mkfifoat(directory, "f", 0600) == 0, "mkfifoat");
  check(utimensat(directory, "b", NULL, 0) == 0, "utimensat");
  int inside = openat(directory, "a", O_RDONLY);
  check(inside >= 0 && read(inside, text, 3) == 3 && memcmp(text, "012", 3) == 0, "openat");
  close(inside);
  for (const char* name = "lbf"; *name != '\0'; ++name)
    check(unlinkat(directory, (char[]){*name, '\0'}, 0) == 0, "unlinkat");
  check(unlinkat(directory, "d", AT_REMOVEDIR) == 0, "unlinkat of a folder");
  static char entries[4096];
  check(getdents64(directory, entries, sizeof entries) > 0, "getdents64");
  check(fstatat(AT_FDCWD, folder, &facts, 0) == 0, "the current folder");
}

static void files(void) {
  struct statvfs system;
  char text[20] = "";
  struct iovec part = {text, 4};
  check(fstatvfs(file, &system) == 0 && system.f_bsize > 0, "fstatvfs");
  check(fpathconf(file, _PC_NAME_MAX) > 0, "fpathconf");
  check(futimes(file, NULL) == 0, "futimes");
  check(sync_file_range(file, 0, 10, SYNC_FILE_RANGE_WRITE) == 0, "sync_file_range");
  check(readahead(file, 0, 10) == 0 || errno == EINVAL, "readahead");
  check(preadv2(file, &part, 1, 2, 0) == 4 && memcmp(text, "2345", 4) == 0, "preadv2");
  check(preadv2(file, &part, 1, 2, RWF_NOWAIT) == -1 && errno == EBADF, "preadv2 with flags");
  check(pwritev2(file, &part, 1, 0, 0) == 4, "pwritev2");
  if (fsetxattr(file, "user.a", "xyz", 3, 0) == 0) {
    check(fgetxattr(file, "user.a", text, 20) == 3 && memcmp(text, "xyz", 3) == 0, "fgetxattr");
    check(flistxattr(file, text, sizeof text) >= 7, "flistxattr");
    check(fremovexattr(file, "user.a") == 0, "fremovexattr");
  }
  check(isfdtype(file, S_IFREG) == 1, "isfdtype");
  check(sendfile(1, file, NULL, 1) == -1 && errno == EBADF, "sendfile");
  check(copy_file_range(file, NULL, file, NULL, 1, 0) == -1 && errno == EBADF, "copy_file_range");
  check(tee(file, file, 1, 0) == -1 && errno == EBADF, "tee");
  check(vmsplice(file, &part, 1, 0) == -1 && errno == EBADF, "vmsplice");
  check(fexecve(file, (char*[]){"a", NULL}, (char*[]){NULL}) == -1 && errno == EBADF, "fexecve");
  off_t begin = 0;
  check(getdirentries(directory, text, sizeof text, &begin) == -1 && errno == EBADF,
        "getdirentries");
}

static void messages(void) {
  char text[20] = "hello", got[20] = "";
  struct iovec from = {text, 6}, to = {got, sizeof got};
  struct msghdr sent = {.msg_iov = &from, .msg_iovlen = 1};
  struct msghdr received = {.msg_iov = &to, .msg_iovlen = 1};
  check(sendmsg(pair[0], &sent, 0) == 6, "sendmsg");
  check(recvmsg(pair[1], &received, 0) == 6 && strcmp(got, "hello") == 0, "recvmsg");
  struct mmsghdr one = {sent, 0}, other = {received, 0};
  check(sendmmsg(pair[0], &one, 1, 0) == 1, "sendmmsg");
  check(recvmmsg(pair[1], &other, 1, 0, NULL) == 1 && other.msg_len == 6, "recvmmsg");
  char control[CMSG_SPACE(sizeof(int))] = "";
  sent.msg_control = control;
  sent.msg_controllen = sizeof control;
  check(sendmsg(pair[0], &sent, 0) == -1 && errno == EBADF, "sendmsg with control data");
  check(sockatmark(pair[0]) <= 0, "sockatmark");
  if (queue == -1) return;  // there are no queues here
  struct mq_attr shape;
  unsigned priority = 0;
  check(mq_send(queue, "abc", 4, 7) == 0, "mq_send");
  check(mq_getattr(queue, &shape) == 0 && shape.mq_curmsgs == 1, "mq_getattr");
  check(mq_receive(queue, got, sizeof got, &priority) == 4 && priority == 7, "mq_receive");
  check(mq_setattr(queue, &shape, NULL) == 0, "mq_setattr");
  check(mq_notify(queue, NULL) == 0, "mq_notify");
  check(mq_close(queue) == 0, "mq_close");
}

static void times_and_events(void) {
  eventfd_t count = 0;
  struct itimerspec time = {{0, 0}, {100, 0}}, left;
  check(eventfd_read(event, &count) == 0 && count == 3, "eventfd_read");
  check(eventfd_write(event, 5) == 0, "eventfd_write");
  check(timerfd_settime(timer, 0, &time, NULL) == 0, "timerfd_settime");
  check(timerfd_gettime(timer, &left) == 0 && left.it_value.tv_sec >= 90, "timerfd_gettime");
  int number = inotify_add_watch(watch, folder, IN_CREATE);
  check(number >= 0, "inotify_add_watch");
  check(inotify_rm_watch(watch, number) == 0, "inotify_rm_watch");
  struct epoll_event wanted = {.events = EPOLLIN}, found;
  check(epoll_ctl(events, EPOLL_CTL_ADD, event, &wanted) == 0, "epoll_ctl");
  check(epoll_pwait(events, &found, 1, 0, NULL) == 1, "epoll_pwait");
}

static void terminals(void) {
  char name[100] = "";
  if (terminal < 0) return;
  check(grantpt(terminal) == 0 && unlockpt(terminal) == 0, "grantpt");
  check(ptsname_r(terminal, name, sizeof name) == 0 && strlen(name) > 5, "ptsname_r");
  check(ptsname(terminal) != NULL && strcmp(ptsname(terminal), name) == 0, "ptsname");
  check(tcflush(terminal, TCIOFLUSH) == 0, "tcflush");
  check(tcgetpgrp(terminal) <= 0 || errno == ENOTTY, "tcgetpgrp");
  check(ttyname_r(terminal, name, sizeof name) != EBADF, "ttyname_r");
}

static void* use_all(void* unused) {
  names();
  files();
  messages();
  times_and_events();
  terminals();
  return unused;
}

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  snprintf(folder, sizeof folder, "%s/terrane_files_XXXXXX", argv[2]);
  if (mkdtemp(folder) == NULL) return 2;
  int main_opens = strcmp(argv[1], "of_main") == 0;
  pthread_t thread;
  if (main_opens) open_all(NULL);
  pthread_create(&thread, NULL, main_opens ? use_all : open_all, NULL);
  pthread_join(thread, NULL);
  if (!main_opens) use_all(NULL);
  unlinkat(directory, "a", 0);
  rmdir(folder);
  printf("%s\n", wrong == 0 ? "good" : "BAD");
  return wrong != 0;
}
