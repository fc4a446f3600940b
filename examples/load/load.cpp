// Loads a file that may be larger than the memory of one machine, by all threads at once, and
// counts its lines, words and bytes, as wc does. A program that knows nothing of Terrane.
//   c++ -O2 -pthread load.cpp -o load
//   terrane threads -H h0,h1 ./load FILE
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kReadBytes = 1 << 20;  // of a call
constexpr std::size_t kPartUnit = 1
                                  << 16;  // parts begin at multiples of it: no page has two owners

// What a thread found; a cache line each.
struct alignas(64) Found {
  std::size_t lines = 0, words = 0;
  bool complete = false;
};

struct Part {
  std::size_t begin, end;
};

Part part_of(std::size_t bytes, std::size_t thread, std::size_t threads) {
  std::size_t units = (bytes + kPartUnit - 1) / kPartUnit;
  auto edge = [&](std::size_t t) { return std::min(bytes, units * t / threads * kPartUnit); };
  return {edge(thread), edge(thread + 1)};
}

// The file that main has opened, as a thread on any machine reaches it: by a descriptor of its own
// where its machine sees the same file under that name, else by that of main, through main's
// machine. Owns the former.
class File {
 public:
  File(const char* name, int of_main, const struct stat& status)
      : own_(::open(name, O_RDONLY | O_CLOEXEC)), descriptor_(own_) {
    struct stat here {};
    bool same = own_ >= 0 && ::fstat(own_, &here) == 0 && here.st_ino == status.st_ino &&
                here.st_size == status.st_size && here.st_mtim.tv_sec == status.st_mtim.tv_sec &&
                here.st_mtim.tv_nsec == status.st_mtim.tv_nsec;
    if (!same) descriptor_ = of_main;
  }
  ~File() {
    if (own_ >= 0) ::close(own_);
  }
  File(const File&) = delete;

  // False: there is an error, or the file has become shorter.
  bool read(char* memory, Part part) const {
    while (part.begin < part.end) {
      std::size_t bytes = std::min(kReadBytes, part.end - part.begin);
      ssize_t got =
          ::pread(descriptor_, memory + part.begin, bytes, static_cast<off_t>(part.begin));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      part.begin += static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int own_, descriptor_;
};

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// A word belongs to the part in which it begins.
void count(const char* memory, Part part, Found& found) {
  bool in_word = part.begin > 0 && !is_space(memory[part.begin - 1]);
  for (std::size_t at = part.begin; at < part.end; ++at) {
    bool space = is_space(memory[at]);
    found.lines += memory[at] == '\n';
    found.words += !space && !in_word;
    in_word = !space;
  }
}

// work(t) for each t below the number of threads, in a thread each.
template <typename Work>
void in_threads(std::size_t threads, Work work) {
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < threads; ++t) team.emplace_back(work, t);
  for (std::thread& thread : team) thread.join();
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int run(const char* name, std::size_t threads, bool main_loads) {
  struct stat status {};
  int of_main = ::open(name, O_RDONLY | O_CLOEXEC);
  if (of_main < 0 || ::fstat(of_main, &status) != 0) {
    std::fprintf(stderr, "load: %s: %s\n", name, std::strerror(errno));
    return 1;
  }
  auto bytes = static_cast<std::size_t>(status.st_size);
  // Not a std::vector, which would write zeros: a page is kept where it is written first.
  auto* memory = static_cast<char*>(std::malloc(bytes + 1));
  if (memory == nullptr) {
    std::fprintf(stderr, "load: no memory for %zu bytes\n", bytes);
    return 1;
  }
  std::vector<Found> found(threads);
  double begun = seconds();
  auto load = [&](std::size_t t) {
    found[t].complete = File(name, of_main, status).read(memory, part_of(bytes, t, threads));
  };
  if (main_loads)
    for (std::size_t t = 0; t < threads; ++t) load(t);
  else
    in_threads(threads, load);
  double loaded = seconds();
  in_threads(threads, [&](std::size_t t) { count(memory, part_of(bytes, t, threads), found[t]); });
  std::fprintf(stderr, "loaded in %.3f s, counted in %.3f s\n", loaded - begun, seconds() - loaded);
  Found all;
  bool complete = true;
  for (const Found& one : found) {
    all.lines += one.lines;
    all.words += one.words;
    complete = complete && one.complete;
  }
  if (!complete) {
    std::fprintf(stderr, "load: %s could not be read to its end\n", name);
    return 1;
  }
  std::printf("%zu lines, %zu words, %zu bytes\n", all.lines, all.words, bytes);
  std::free(memory);
  ::close(of_main);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  if (argc > 2) threads = std::strtoul(argv[2], nullptr, 10);
  bool main_loads = argc > 3 && std::strcmp(argv[3], "main") == 0;
  bool good = argc >= 2 && argc <= 4 && threads > 0 &&
              (argc < 4 || main_loads || std::strcmp(argv[3], "all") == 0);
  if (!good) {
    std::fprintf(stderr, "usage: load FILE [THREADS [main|all]]; main, all: who loads\n");
    return 2;
  }
  return run(argv[1], threads, main_loads);
}
