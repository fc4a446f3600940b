// Runs a command, and until it ends, makes large pages of the memory files of its processes, as
// another process may: in a mapping of its own, and by process_madvise in theirs. The exit code is
// the command's, or 77 where that cannot be done.
//
// Usage: collapse COMMAND [ARGUMENTS]
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#ifndef MADV_COLLAPSE  // Linux 6.1
#define MADV_COLLAPSE 25
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace {

constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;
constexpr std::uint64_t kMost = std::uint64_t{64} << 20;  // of each file

std::uint64_t made = 0;  // large pages

// Makes large pages of a file's first bytes, in a mapping without any mark.
std::uint64_t collapse_bytes(int fd, std::uint64_t bytes) {
  std::uint64_t large = 0;
  char* whole = static_cast<char*>(
      mmap(nullptr, bytes + kLarge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  char* place = whole + (kLarge - reinterpret_cast<std::uintptr_t>(whole) % kLarge) % kLarge;
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED) {
    for (std::uint64_t at = 0; at + kLarge <= bytes; at += kLarge)
      large += madvise(place + at, kLarge, MADV_COLLAPSE) == 0;
  }
  munmap(whole, bytes + kLarge);
  return large;
}

void collapse_file(const std::string& path) {
  int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  struct stat status {};
  fstat(fd, &status);
  made += collapse_bytes(fd, std::min(kMost, static_cast<std::uint64_t>(status.st_size)));
  close(fd);
}

// The process's own mappings of memory files. Refused where they have their mark.
void collapse_mappings(int process) {
  int pidfd = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (pidfd < 0) return;
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:terrane") == std::string::npos) continue;
    std::uint64_t begin = std::strtoull(line.c_str(), nullptr, 16);
    begin = (begin + kLarge - 1) / kLarge * kLarge;
    for (std::uint64_t at = 0; at < kMost; at += kLarge) {
      iovec range{reinterpret_cast<void*>(begin + at), kLarge};
      made += syscall(SYS_process_madvise, pidfd, &range, 1, MADV_COLLAPSE, 0) ==
              static_cast<long>(kLarge);
    }
  }
  close(pidfd);
}

void collapse_process(int process) {
  std::string folder = "/proc/" + std::to_string(process) + "/fd";
  DIR* list = opendir(folder.c_str());
  if (list == nullptr) return;
  while (dirent* entry = readdir(list)) {
    char name[256] = {};
    std::string path = folder + "/" + entry->d_name;
    if (readlink(path.c_str(), name, sizeof name - 1) < 0) continue;
    if (std::strstr(name, "memfd:terrane") != nullptr) collapse_file(path);
  }
  closedir(list);
  collapse_mappings(process);
}

void collapse_session(pid_t session) {
  DIR* all = opendir("/proc");
  while (dirent* entry = readdir(all)) {
    int process = std::atoi(entry->d_name);
    if (process > 0 && process != session && getsid(process) == session) collapse_process(process);
  }
  closedir(all);
}

bool can_collapse() {
  int fd = memfd_create("collapse", MFD_CLOEXEC);
  if (ftruncate(fd, kLarge) != 0 || fallocate(fd, 0, 0, kLarge) != 0) return false;
  bool can = collapse_bytes(fd, kLarge) == 1;
  close(fd);
  return can;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  if (!can_collapse()) {
    std::puts("skipped: this kernel makes no large pages of shared memory on request");
    return 77;
  }
  pid_t command = fork();
  if (command == 0) {
    setsid();
    execvp(argv[1], argv + 1);
    _exit(127);
  }
  int status = 0;
  while (waitpid(command, &status, WNOHANG) == 0) {
    collapse_session(command);
    usleep(2000);
  }
  std::printf("%lu large pages were made\n", static_cast<unsigned long>(made));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
