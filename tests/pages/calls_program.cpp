// System calls on shared buffers, on the last node of a job, while a thread beside it throws the
// node's copies away and the other node writes to the same pages. Says "good" on every node, or
// what went wrong. Usage: calls_program [BYTES...]
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

using namespace terrane::pages_test;

namespace {

using Bytes = std::vector<unsigned char>;

// The shared memory that the calls use: whole pages, home at node 0. The first and the last bytes
// are node 0's to write.
struct Shared {
  unsigned char* base;
  std::size_t bytes;
  unsigned char* aside;  // kAside bytes for small things

  static constexpr std::size_t kAside = 64 * kPage;

  unsigned char* buffer() const { return base + kPage - 77; }
  template <typename T>
  T* at_end_of_page() const {  // over a boundary
    return reinterpret_cast<T*>(aside + 2 * kPage - sizeof(T) / 2 / alignof(T) * alignof(T));
  }
};
Shared shared;

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes made(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    made[i] = static_cast<unsigned char>((i * 2654435761u + seed * 97) >> 7);
  return made;
}

// Missing at this node from now on, until somebody touches it.
void drop() {
  EXPECT(terrane_evict(shared.base, shared.bytes) == TERRANE_OK);
  EXPECT(terrane_evict(shared.aside, Shared::kAside) == TERRANE_OK);
}

unsigned char* put(const Bytes& bytes) {
  std::memcpy(shared.buffer(), bytes.data(), bytes.size());
  drop();
  return shared.buffer();
}

unsigned char* room() {
  drop();
  return shared.buffer();
}

bool holds(const Bytes& expected) {
  return std::memcmp(shared.buffer(), expected.data(), expected.size()) == 0;
}

int file_with(const Bytes& bytes) {
  int fd = memfd_create("test", MFD_CLOEXEC);
  for (std::size_t done = 0; done < bytes.size();) {
    ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    EXPECT(n > 0);
    done += static_cast<std::size_t>(n);
  }
  lseek(fd, 0, SEEK_SET);
  return fd;
}

bool file_holds(int fd, const Bytes& expected) {
  Bytes got(expected.size() + 1);
  return pread(fd, got.data(), got.size(), 0) == static_cast<ssize_t>(expected.size()) &&
         std::memcmp(got.data(), expected.data(), expected.size()) == 0;
}

// ---- files

void reads(std::size_t bytes) {
  Bytes want = pattern(bytes, 1);
  auto size = static_cast<ssize_t>(bytes);
  int fd = file_with(want);
  EXPECT(read(fd, room(), bytes) == size && holds(want));
  EXPECT(pread(fd, room(), bytes, 0) == size && holds(want));
  EXPECT(pread(fd, room(), bytes + 5, 0) == size && holds(want));
  auto* list = shared.at_end_of_page<iovec>() + 100000 / sizeof(iovec);  // the list itself, too
  list[0] = {shared.buffer(), bytes / 3};
  list[1] = {shared.buffer() + bytes / 3, bytes - bytes / 3};
  drop();
  EXPECT(preadv(fd, list, 2, 0) == size && holds(want));
  drop();
  lseek(fd, 0, SEEK_SET);
  EXPECT(readv(fd, list, 2) == size && holds(want));
  FILE* stream = fdopen(fd, "r");
  rewind(stream);
  EXPECT(fread(room(), 1, bytes, stream) == bytes && holds(want));
  EXPECT(fread(room(), 1, 1, stream) == 0 && feof(stream));
  fclose(stream);
}

void writes(std::size_t bytes) {
  Bytes want = pattern(bytes, 2);
  auto size = static_cast<ssize_t>(bytes);
  int fd = file_with({});
  EXPECT(write(fd, put(want), bytes) == size && file_holds(fd, want));
  EXPECT(ftruncate(fd, 0) == 0 && pwrite(fd, put(want), bytes, 0) == size && file_holds(fd, want));
  unsigned char* from = put(want);
  iovec list[] = {{from, bytes / 2}, {from + bytes / 2, bytes - bytes / 2}};
  EXPECT(ftruncate(fd, 0) == 0 && pwritev(fd, list, 2, 0) == size && file_holds(fd, want));
  drop();
  lseek(fd, 0, SEEK_SET);
  EXPECT(ftruncate(fd, 0) == 0 && writev(fd, list, 2) == size && file_holds(fd, want));
  FILE* stream = fdopen(fd, "w+");
  rewind(stream);
  EXPECT(ftruncate(fd, 0) == 0);
  EXPECT(fwrite(put(want), 1, bytes, stream) == bytes && fflush(stream) == 0);
  EXPECT(file_holds(fd, want));
  Bytes text(bytes, 'x');
  std::memcpy(shared.buffer(), text.data(), bytes);
  shared.buffer()[bytes] = 0;
  drop();
  rewind(stream);
  EXPECT(ftruncate(fd, 0) == 0);
  EXPECT(fputs(reinterpret_cast<char*>(shared.buffer()), stream) >= 0 && fflush(stream) == 0);
  EXPECT(file_holds(fd, text));
  fclose(stream);
}

// ---- sockets and pipes: what the kernel gave away must not be lost

void streams(std::size_t bytes) {
  Bytes want = pattern(bytes, 3);
  int ends[2];
  for (bool is_pipe : {true, false}) {
    EXPECT((is_pipe ? pipe(ends) : socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) == 0);
    int from = ends[is_pipe ? 0 : 1], to = ends[is_pipe ? 1 : 0];
    std::thread writer([&] {
      for (std::size_t done = 0; done < bytes;) {
        ssize_t n = write(to, want.data() + done, bytes - done);
        EXPECT(n > 0);
        done += static_cast<std::size_t>(n);
      }
    });
    for (std::size_t done = 0; done < bytes;) {
      if (done % 3 == 0) drop();
      ssize_t n = is_pipe ? read(from, shared.buffer() + done, bytes - done)
                          : recv(from, shared.buffer() + done, bytes - done, 0);
      EXPECT(n > 0);
      done += static_cast<std::size_t>(n);
    }
    writer.join();
    EXPECT(holds(want));
    std::thread reader([&] {
      Bytes got(bytes);
      for (std::size_t done = 0; done < bytes;) {
        ssize_t n = read(from, got.data() + done, bytes - done);
        EXPECT(n > 0);
        done += static_cast<std::size_t>(n);
      }
      EXPECT(got == want);
    });
    unsigned char* all = put(want);
    ssize_t sent = is_pipe ? write(to, all, bytes) : send(to, all, bytes, 0);
    EXPECT(sent == static_cast<ssize_t>(bytes));
    reader.join();
    close(ends[0]);
    close(ends[1]);
  }
}

void datagrams(std::size_t bytes) {
  if (bytes > 60000) return;
  Bytes want = pattern(bytes, 4);
  auto size = static_cast<ssize_t>(bytes);
  int a = socket(AF_INET, SOCK_DGRAM, 0);
  auto* address = shared.at_end_of_page<sockaddr_in>() + 1000;
  auto* length = shared.at_end_of_page<socklen_t>() + 20000;
  *address = {};
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  *length = sizeof *address;
  drop();
  EXPECT(bind(a, reinterpret_cast<sockaddr*>(address), sizeof *address) == 0);
  drop();
  EXPECT(getsockname(a, reinterpret_cast<sockaddr*>(address), length) == 0);
  EXPECT(address->sin_port != 0 && *length == sizeof *address);
  unsigned char* from = put(want);
  EXPECT(sendto(a, from, bytes, 0, reinterpret_cast<sockaddr*>(address), sizeof *address) == size);
  EXPECT(recvfrom(a, room(), bytes, 0, reinterpret_cast<sockaddr*>(address), length) == size);
  EXPECT(holds(want) && address->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  auto* message = shared.at_end_of_page<msghdr>() + 500;
  auto* list = shared.at_end_of_page<iovec>() + 2000;
  list[0] = {shared.buffer(), bytes};
  *message = {};
  message->msg_name = address;
  message->msg_namelen = sizeof *address;
  message->msg_iov = list;
  message->msg_iovlen = 1;
  put(want);
  EXPECT(sendmsg(a, message, 0) == size);
  room();
  EXPECT(recvmsg(a, message, 0) == size && holds(want) && message->msg_flags == 0);
  EXPECT(message->msg_namelen == sizeof *address);
  close(a);
}

// ---- small things that the kernel reads or fills in

void waiting() {
  int ends[2];
  auto* pair = shared.at_end_of_page<int>();
  drop();
  EXPECT(pipe(pair) == 0);
  ends[0] = pair[0];
  ends[1] = pair[1];
  EXPECT(write(ends[1], "x", 1) == 1);
  auto* list = shared.at_end_of_page<pollfd>();
  list[0] = {ends[0], POLLIN, 0};
  list[1] = {ends[1], POLLOUT, 0};
  drop();
  EXPECT(poll(list, 2, -1) == 2 && list[0].revents == POLLIN && list[1].revents == POLLOUT);
  auto* set = shared.at_end_of_page<fd_set>();
  FD_ZERO(set);
  FD_SET(ends[0], set);
  drop();
  EXPECT(select(ends[0] + 1, set, nullptr, nullptr, nullptr) == 1 && FD_ISSET(ends[0], set));
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  auto* event = reinterpret_cast<epoll_event*>(shared.aside + 2 * kPage - 16);
  event->events = EPOLLIN;
  event->data.fd = ends[0];
  drop();
  EXPECT(epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], event) == 0);
  std::memset(event, 0, sizeof *event);
  drop();
  EXPECT(epoll_wait(epoll, event, 5, -1) == 1 && event->data.fd == ends[0]);
  auto* number = shared.at_end_of_page<int>();
  drop();
  EXPECT(ioctl(ends[0], FIONREAD, number) == 0 && *number == 1);
  close(epoll);
  close(ends[0]);
  close(ends[1]);
}

void files() {
  auto* status = shared.at_end_of_page<struct stat>();
  auto* path = reinterpret_cast<char*>(shared.aside + 3 * kPage - 4);
  std::strcpy(path, "/proc/self/exe");
  drop();
  EXPECT(stat(path, status) == 0 && S_ISREG(status->st_mode));
  drop();
  int fd = open(path, O_RDONLY);
  EXPECT(fd >= 0);
#ifndef __SANITIZE_THREAD__  // its own fstat comes before ours
  drop();
  EXPECT(fstat(fd, status) == 0 && S_ISREG(status->st_mode));
#endif
  drop();
  EXPECT(lstat(path, status) == 0 && S_ISLNK(status->st_mode));
  drop();
  EXPECT(fstatat(AT_FDCWD, path, status, 0) == 0 && S_ISREG(status->st_mode));
  auto* more = shared.at_end_of_page<struct statx>();
  drop();
  EXPECT(statx(AT_FDCWD, path, 0, STATX_SIZE, more) == 0 && more->stx_size > 0);
  drop();
  FILE* stream = fopen(path, "r");
  EXPECT(stream != nullptr);
  fclose(stream);
  auto* to = reinterpret_cast<char*>(shared.aside + 5 * kPage - 6);
  drop();
  ssize_t length = readlink(path, to, 1000);
  EXPECT(length > 0 && std::string(to, static_cast<std::size_t>(length)).ends_with("program"));
  drop();
  EXPECT(getcwd(to, 4000) == to && to[0] == '/');
  drop();
  EXPECT(access(path, R_OK) == 0);
  close(fd);
}

void processes() {
  auto* status = shared.at_end_of_page<int>();
  pid_t child = fork();
  if (child == 0) _exit(5);
  drop();
  EXPECT(waitpid(child, status, 0) == child && WIFEXITED(*status) && WEXITSTATUS(*status) == 5);
  auto* usage = shared.at_end_of_page<rusage>();
  drop();
  EXPECT(getrusage(RUSAGE_SELF, usage) == 0 && usage->ru_maxrss > 0);
  auto* name = shared.at_end_of_page<utsname>();
  drop();
  EXPECT(uname(name) == 0 && std::strcmp(name->sysname, "Linux") == 0);
  auto* time = shared.at_end_of_page<timespec>();
  *time = {0, 1000};
  drop();
  EXPECT(nanosleep(time, nullptr) == 0);
  auto* value = shared.at_end_of_page<int>();
  auto* length = shared.at_end_of_page<socklen_t>() + 2000;
  *length = sizeof *value;
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  drop();
  EXPECT(getsockopt(fd, SOL_SOCKET, SO_TYPE, value, length) == 0 && *value == SOCK_STREAM);
  close(fd);
  EXPECT(getrandom(room(), 10000, 0) == 10000);
}

// In shared memory, but in no allocation: an error as for any bad address.
void nowhere() {
  unsigned char* beyond = shared.base + shared.bytes + (64u << 20);
  int fd = file_with(pattern(100, 5));
  EXPECT(write(fd, beyond, 10) == -1 && errno == EFAULT);
  EXPECT(read(fd, beyond, 10) == -1 && errno == EFAULT);
  EXPECT(open(reinterpret_cast<char*>(beyond), O_RDONLY) == -1 && errno == EFAULT);
  EXPECT(fstat(fd, reinterpret_cast<struct stat*>(beyond)) == -1 && errno == EFAULT);
  iovec list{beyond, 10};
  EXPECT(writev(fd, &list, 1) == -1 && errno == EFAULT);
  close(fd);
}

// ---- the job

std::atomic<bool> done{false};

// Beside the calls: copies go, by eviction and by what the other node wrote.
void disturb() {
  while (!done) {
    EXPECT(terrane_lock(1) == TERRANE_OK);
    EXPECT(terrane_unlock(1) == TERRANE_OK);
    terrane_evict(shared.base, shared.bytes);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

// The other node writes beside the buffer, in its first and last page, until the calls are done.
void write_beside(volatile int* over) {
  for (unsigned round = 0;; ++round) {
    EXPECT(terrane_lock(1) == TERRANE_OK);
    at(shared.base, 0) = static_cast<unsigned char>(round);
    at(shared.base, shared.bytes - 1) = static_cast<unsigned char>(round);
    bool stop = *over != 0;
    EXPECT(terrane_unlock(1) == TERRANE_OK);
    if (stop) return;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void make_calls(const std::vector<std::size_t>& sizes) {
  for (std::size_t bytes : sizes) {
    reads(bytes);
    writes(bytes);
    streams(bytes);
    datagrams(bytes);
  }
  waiting();
  files();
  processes();
  nowhere();
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < argc; ++i) sizes.push_back(std::strtoul(argv[i], nullptr, 10));
  std::size_t most = 10'000;
  for (std::size_t bytes : sizes) most = bytes > most ? bytes : most;
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  shared.bytes = (most / kPage + 4) * kPage;
  shared.base = allocate_all<unsigned char>(shared.bytes);
  shared.aside = allocate_all<unsigned char>(Shared::kAside);
  int* over = allocate_all<int>(1);
  terrane_barrier();
  if (terrane_node() == terrane_nodes() - 1) {
    std::thread beside(disturb);
    make_calls(sizes);
    done = true;
    beside.join();
    terrane_lock(1);
    *over = 1;
    terrane_unlock(1);
  } else {
    write_beside(over);
  }
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
