// Each system call by itself, on a page that its home has and node 0 has not: node 0 calls. Says
// "good" on every node, or what went wrong. Usage: more_calls_program
#include <aio.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <climits>
#include <csignal>
#include <ctime>
#include <string>

#include "program.h"

using namespace terrane::pages_test;

namespace {

constexpr std::size_t kBytes = 4 * kPage;
char* shared = nullptr;  // home: node 1

// The shared page, missing here, with this content. Whole pages, so that it is always node 1's.
template <typename T>
T* fresh(const T& content) {
  std::memset(shared, 0, kBytes);
  auto* at = reinterpret_cast<T*>(shared + kPage - 16);  // over a boundary of pages
  std::memcpy(static_cast<void*>(at), &content, sizeof content);
  EXPECT(terrane_lock(1) == TERRANE_OK && terrane_unlock(1) == TERRANE_OK);
  EXPECT(terrane_evict(shared, kBytes) == TERRANE_OK);
  errno = 0;
  return at;
}
char* fresh_text(const std::string& content) {
  struct Text {
    char text[PATH_MAX];
  } text{};
  content.copy(text.text, sizeof text.text - 1);
  return fresh(text)->text;
}

std::string folder;
std::string in_folder(const char* name) { return folder + "/" + name; }

void clocks() {
  EXPECT(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, fresh(timespec{})) == 0);
  EXPECT(clock_gettime(CLOCK_THREAD_CPUTIME_ID, fresh(timespec{})) == 0);
  EXPECT(clock_gettime(CLOCK_REALTIME, fresh(timespec{})) == 0);
  EXPECT(clock_getres(CLOCK_PROCESS_CPUTIME_ID, fresh(timespec{})) == 0);
  EXPECT(gettimeofday(fresh(timeval{}), nullptr) == 0);
  EXPECT(times(fresh(tms{})) != -1 && errno == 0);
  auto* timer = fresh(itimerval{{0, 0}, {1000, 0}});
  EXPECT(setitimer(ITIMER_VIRTUAL, timer, nullptr) == 0);
  timer = fresh(itimerval{});
  EXPECT(getitimer(ITIMER_VIRTUAL, timer) == 0 && timer->it_value.tv_sec > 900);
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  EXPECT(timerfd_settime(fd, 0, fresh(itimerspec{{0, 0}, {1000, 0}}), nullptr) == 0);
  auto* left = fresh(itimerspec{});
  EXPECT(timerfd_gettime(fd, left) == 0 && left->it_value.tv_sec > 900);
  close(fd);
  auto* name = fresh(timer_t{});
  EXPECT(timer_create(CLOCK_MONOTONIC, nullptr, name) == 0);
  timer_t made = *name;
  EXPECT(timer_settime(made, 0, fresh(itimerspec{{0, 0}, {1000, 0}}), nullptr) == 0);
  left = fresh(itimerspec{});
  EXPECT(timer_gettime(made, left) == 0 && left->it_value.tv_sec > 900);
  EXPECT(timer_delete(made) == 0);
}

void limits() {
  auto* limit = fresh(rlimit{});
  EXPECT(getrlimit(RLIMIT_NOFILE, limit) == 0 && limit->rlim_cur > 0);
  rlimit now = *limit;
  EXPECT(setrlimit(RLIMIT_NOFILE, fresh(now)) == 0);
  EXPECT(prlimit(0, RLIMIT_NOFILE, fresh(now), nullptr) == 0);
  using Info = struct sysinfo;
  auto* info = fresh(Info{});
  EXPECT(sysinfo(info) == 0 && info->totalram > 0);
  auto* set = fresh(cpu_set_t{});
  EXPECT(sched_getaffinity(0, sizeof *set, set) == 0 && CPU_COUNT(set) > 0);
  cpu_set_t all = *set;
  EXPECT(sched_setaffinity(0, sizeof all, fresh(all)) == 0);
  set = fresh(cpu_set_t{});
  EXPECT(pthread_getaffinity_np(pthread_self(), sizeof *set, set) == 0 && CPU_COUNT(set) > 0);
  EXPECT(pthread_setaffinity_np(pthread_self(), sizeof all, fresh(all)) == 0);
  EXPECT(sched_getparam(0, fresh(sched_param{})) == 0);
  EXPECT(sched_rr_get_interval(0, fresh(timespec{})) == 0);
  EXPECT(getentropy(fresh_text(""), 200) == 0);
  char* random = fresh_text("");
  arc4random_buf(random, 3000);
  EXPECT(std::string(random, 3000) != std::string(3000, '\0'));
  auto* user = fresh(uid_t{77777});
  EXPECT(getresuid(user, nullptr, nullptr) != 0 || *user == getuid());
  EXPECT(gethostname(fresh_text(""), 64) == 0);
  auto page = reinterpret_cast<std::uintptr_t>(&folder) / kPage * kPage;
  EXPECT(mincore(reinterpret_cast<void*>(page), kPage,
                 reinterpret_cast<unsigned char*>(fresh_text(""))) == 0);
}

void signals() {
  EXPECT(sigpending(fresh(sigset_t{})) == 0);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, SIGUSR1);
  EXPECT(sigprocmask(SIG_BLOCK, fresh(one), nullptr) == 0);
  raise(SIGUSR1);
  auto* info = fresh(siginfo_t{});
  EXPECT(sigwaitinfo(&one, info) == SIGUSR1 && info->si_signo == SIGUSR1);
  EXPECT(sigtimedwait(&one, nullptr, fresh(timespec{0, 1000})) == -1 && errno == EAGAIN);
  raise(SIGUSR1);
  auto* number = fresh(int{0});
  EXPECT(sigwait(&one, number) == 0 && *number == SIGUSR1);
  int fd = signalfd(-1, fresh(one), 0);
  EXPECT(fd >= 0);
  close(fd);
}

void names() {
  char* path = fresh_text(in_folder("a.XXXXXX"));
  int fd = mkstemp(path);
  EXPECT(fd >= 0 && std::string(path).find("XXXXXX") == std::string::npos);
  std::string file = path;
  close(fd);
  path = fresh_text(in_folder("b.XXXXXX"));
  EXPECT(mkdtemp(path) == path && rmdir(std::string(path).c_str()) == 0);
  EXPECT(chmod(fresh_text(file), 0600) == 0);
  EXPECT(chown(fresh_text(file), getuid(), getgid()) == 0);
  EXPECT(symlink(fresh_text("x"), in_folder("s").c_str()) == 0);
  EXPECT(link(file.c_str(), fresh_text(in_folder("l"))) == 0);
  EXPECT(renameat(AT_FDCWD, fresh_text(in_folder("l")), AT_FDCWD, in_folder("m").c_str()) == 0);
  EXPECT(unlinkat(AT_FDCWD, fresh_text(in_folder("m")), 0) == 0);
  EXPECT(faccessat(AT_FDCWD, fresh_text(file), R_OK, 0) == 0);
  EXPECT(utimensat(AT_FDCWD, fresh_text(file), nullptr, 0) == 0);
  timespec twice[2] = {{1, 0}, {2, 0}};
  struct Times {
    timespec times[2];
  } when{};
  std::memcpy(when.times, twice, sizeof twice);
  EXPECT(utimensat(AT_FDCWD, file.c_str(), fresh(when)->times, 0) == 0);
  struct statvfs room {};
  EXPECT(statvfs(fresh_text(folder), &room) == 0);
  EXPECT(statvfs(folder.c_str(), fresh(room)) == 0);
  EXPECT(mkfifo(fresh_text(in_folder("f")), 0600) == 0);
  char* resolved = fresh_text("");
  EXPECT(realpath((folder + "/.").c_str(), resolved) == resolved && resolved == folder);
  EXPECT(truncate(fresh_text(file), 100) == 0);
  FILE* stream = freopen(fresh_text(file), "r", fopen("/dev/null", "r"));
  EXPECT(stream != nullptr && fclose(stream) == 0);
  fd = memfd_create(fresh_text("name"), 0);
  EXPECT(fd >= 0 && close(fd) == 0);
  ssize_t bytes = getxattr(fresh_text(file), "user.none", fresh_text("") + 100, 64);
  EXPECT(bytes == -1 && errno != EFAULT);
  bytes = setxattr(file.c_str(), "user.some", fresh_text("value"), 5, 0);
  if (bytes == 0) {
    char* value = fresh_text("");
    EXPECT(getxattr(file.c_str(), "user.some", value, 64) == 5 && std::string(value) == "value");
  }
  EXPECT(errno != EFAULT);
}

void queues() {
  int queue = msgget(IPC_PRIVATE, 0600);
  struct Message {
    long kind;
    char text[8];
  };
  EXPECT(msgsnd(queue, fresh(Message{1, "abc"}), 4, 0) == 0);
  auto* message = fresh(Message{});
  EXPECT(msgrcv(queue, message, 8, 0, 0) == 4 && std::string(message->text) == "abc");
  EXPECT(msgctl(queue, IPC_STAT, fresh(msqid_ds{})) == 0);
  EXPECT(msgctl(queue, IPC_RMID, nullptr) == 0);
  int semaphores = semget(IPC_PRIVATE, 3, 0600);
  EXPECT(semop(semaphores, fresh(sembuf{1, 5, 0}), 1) == 0);
  struct Values {
    unsigned short values[3];
  };
  auto* values = fresh(Values{});
  EXPECT(semctl(semaphores, 0, GETALL, values) == 0 && values->values[1] == 5);
  EXPECT(semctl(semaphores, 0, IPC_RMID) == 0);
  int segment = shmget(IPC_PRIVATE, 4096, 0600);
  auto* status = fresh(shmid_ds{});
  EXPECT(shmctl(segment, IPC_STAT, status) == 0 && status->shm_segsz == 4096);
  EXPECT(shmctl(segment, IPC_RMID, nullptr) == 0);
  std::string name = "/terrane-test-" + std::to_string(getpid());
  mq_attr shape{};
  shape.mq_maxmsg = 4;
  shape.mq_msgsize = 64;
  mqd_t posix = mq_open(fresh_text(name), O_CREAT | O_RDWR, 0600, &shape);
  if (posix == -1) {  // a kernel without them
    EXPECT(errno != EFAULT);
    return;
  }
  EXPECT(mq_send(posix, fresh_text("abc"), 4, 7) == 0);
  EXPECT(mq_getattr(posix, fresh(shape)) == 0);
  char* text = fresh_text("");
  EXPECT(mq_receive(posix, text, 64, nullptr) == 4 && std::string(text) == "abc");
  EXPECT(mq_unlink(fresh_text(name)) == 0 && mq_close(posix) == 0);
}

void moves() {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  iovec list{fresh_text("abc"), 4};
  EXPECT(vmsplice(ends[1], &list, 1, 0) == 4);
  char got[8] = {};
  EXPECT(read(ends[0], got, sizeof got) == 4 && std::string(got) == "abc");
  int from = open(in_folder("data").c_str(), O_CREAT | O_RDWR, 0600);
  int to = open(in_folder("copy").c_str(), O_CREAT | O_RDWR, 0600);
  EXPECT(write(from, "0123456789", 10) == 10);
  auto* offset = fresh(off64_t{4});
  EXPECT(splice(from, offset, ends[1], nullptr, 3, 0) == 3 && *offset == 7);
  offset = fresh(off64_t{4});
  ssize_t copied = copy_file_range(from, offset, to, nullptr, 3, 0);
  EXPECT(copied == 3 ? *offset == 7 : errno != EFAULT);  // not between all file systems
  char own[8] = "1234567";
  iovec local{fresh_text(""), 8}, remote{own, 8};
  EXPECT(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 8);
  EXPECT(std::string(static_cast<char*>(local.iov_base)) == "1234567");
  local = {own, 8};
  remote = {fresh_text("7654321"), 8};
  EXPECT(process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 8);
  EXPECT(std::string(own) == "7654321");
  int event = eventfd(3, 0);
  auto* count = fresh(eventfd_t{0});
  EXPECT(eventfd_read(event, count) == 0 && *count == 3);
  int pair[2];
  EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0);
  iovec part{fresh_text("datagram"), 9};
  mmsghdr message{};
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  EXPECT(sendmmsg(pair[0], &message, 1, 0) == 1 && message.msg_len == 9);
  part = {fresh_text(""), 64};
  EXPECT(recvmmsg(pair[1], &message, 1, 0, nullptr) == 1 && message.msg_len == 9);
  EXPECT(std::string(static_cast<char*>(part.iov_base)) == "datagram");
  for (int fd : {ends[0], ends[1], from, to, event, pair[0], pair[1]}) close(fd);
}

void streams() {
  FILE* stream = fopen(in_folder("text").c_str(), "w+");
  std::string long_text(kPage * 2, 'x');
  struct Text {
    char text[kPage * 2 + 1];
  } text{};
  long_text.copy(text.text, sizeof text.text);
  EXPECT(fprintf(stream, "%s", fresh(text)->text) == static_cast<int>(long_text.size()));
  EXPECT(fflush(stream) == 0);
  EXPECT(dprintf(fileno(stream), "%s", fresh(text)->text) == static_cast<int>(long_text.size()));
  rewind(stream);
  EXPECT(setvbuf(stream, fresh_text(""), _IOFBF, kPage) == 0);
  EXPECT(fgetc(stream) == 'x');
  char* line = fresh_text("");
  EXPECT(fgets(line, 1000, stream) == line && std::strlen(line) == 999);
  EXPECT(fread(fresh(text)->text, 1, kPage * 2, stream) == kPage * 2);
  EXPECT(fclose(stream) == 0);
}

void* nothing(void* argument) { return argument; }

void processes() {
  EXPECT(WEXITSTATUS(system(fresh_text("exit 7"))) == 7);
  FILE* stream = popen(fresh_text("echo shared"), "r");
  char* line = fresh_text("");
  EXPECT(stream != nullptr && fgets(line, 100, stream) != nullptr);
  EXPECT(std::string(line) == "shared\n" && pclose(stream) == 0);
  struct Arguments {
    char* list[2];
    char name[8];
  };
  auto* arguments = fresh(Arguments{{}, "true"});
  arguments->list[0] = arguments->name;
  arguments = fresh(Arguments{*arguments});
  pid_t child = 0;
  EXPECT(posix_spawnp(&child, "true", nullptr, nullptr, arguments->list, environ) == 0);
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  auto* thread = fresh(pthread_t{});
  EXPECT(pthread_create(thread, nullptr, nothing, nullptr) == 0);
  EXPECT(pthread_join(*thread, nullptr) == 0);
}

// A shared buffer whose size the compiler knows.
[[gnu::noinline, gnu::alloc_size(1)]] char* sized(std::size_t bytes) {
  EXPECT(bytes < PATH_MAX);
  return fresh_text("x");
}

// Not served: reported once, and no other answer than without Terrane.
void unserved() {
  int fd = open("/dev/zero", O_RDONLY);
  for (int i = 0; i < 2; ++i)
    EXPECT(syscall(SYS_read, fd, fresh_text("x"), 100) == -1 && errno == EFAULT);
  close(fd);
}

// The threads of the C library do not reach the page.
void asynchronous() {
  int fd = open("/dev/zero", O_RDONLY);
  char* text = fresh_text("x");
  aiocb block{};
  block.aio_fildes = fd;
  block.aio_buf = text;
  block.aio_nbytes = 100;
  block.aio_sigevent.sigev_notify = SIGEV_NONE;
  EXPECT(aio_read(&block) == 0);
  while (aio_error(&block) == EINPROGRESS) usleep(1000);
  EXPECT(aio_error(&block) == 0 && aio_return(&block) == 100 && text[0] == 0);
  close(fd);
}

// As compilers call them where _FORTIFY_SOURCE is set: the sizes are known, the counts are not.
void checked() {
  constexpr std::size_t kRoom = 2000;
  volatile std::size_t unknown = 1000;
  std::size_t bytes = unknown;
  int fd = open("/dev/zero", O_RDONLY);
  EXPECT(read(fd, sized(kRoom), bytes) == static_cast<ssize_t>(bytes));
  EXPECT(pread(fd, sized(kRoom), bytes, 0) == static_cast<ssize_t>(bytes));
  FILE* stream = fdopen(fd, "r");
  EXPECT(setvbuf(stream, nullptr, _IONBF, 0) == 0);
  EXPECT(fread(sized(kRoom), 1, bytes, stream) == bytes && fclose(stream) == 0);
  int pair[2];
  EXPECT(socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) == 0 && write(pair[0], "ab", 3) == 3);
  EXPECT(recv(pair[1], sized(kRoom), bytes, 0) == 3 && write(pair[0], "ab", 3) == 3);
  EXPECT(recvfrom(pair[1], sized(kRoom), bytes, 0, nullptr, nullptr) == 3);
  EXPECT(poll(reinterpret_cast<pollfd*>(sized(kRoom)), unknown / 1000, 0) == 1);  // no such one
  EXPECT(readlink("/proc/self/exe", sized(kRoom), bytes) > 0);
  EXPECT(readlinkat(AT_FDCWD, "/proc/self/exe", sized(kRoom), bytes) > 0);
  char* here = sized(kRoom);
  EXPECT(getcwd(here, bytes) == here);
  EXPECT(getgroups(static_cast<int>(bytes / 4), reinterpret_cast<gid_t*>(sized(kRoom))) >= 0);
  close(pair[0]);
  close(pair[1]);
}

void make_calls() {
  char name[] = "/tmp/terrane-calls.XXXXXX";
  EXPECT(mkdtemp(name) != nullptr);
  folder = name;
  clocks();
  limits();
  signals();
  names();
  queues();
  moves();
  streams();
  processes();
  checked();
  unserved();
  asynchronous();
  EXPECT(system(("rm -r " + folder).c_str()) == 0);
}

}  // namespace

int main() {
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  shared = allocate_all<char>(kBytes, 1);
  if (terrane_node() == 0) make_calls();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
