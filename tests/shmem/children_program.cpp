// Children of PEs: what tests/shmem/children_test.cpp runs, on one host and on two.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

extern char** environ;

namespace {

using terrane::shmem_test::Mode;

long counter, table[1000];

int me() { return shmem_my_pe(); }
int next() { return (me() + 1) % shmem_n_pes(); }

// 0 where the child ended well; 128 and the signal where one ended it.
int exit_of(pid_t child) {
  int status = 0;
  EXPECT(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// Every kind of communication with the next PE, which has all of it.
void exchange(long round) {
  long numbers[100];
  for (long& number : numbers) number = round * 1000 + me();
  shmem_long_put_nbi(table, numbers, 100, next());
  shmem_long_atomic_inc(&counter, next());
  shmem_quiet();
  shmem_barrier_all();
  const int before = (me() + shmem_n_pes() - 1) % shmem_n_pes();
  for (int i = 0; i < 100; i++) EXPECT(table[i] == round * 1000 + before);
  EXPECT(shmem_long_g(table, next()) == round * 1000 + me());
  shmem_barrier_all();
}

// What runs while children are made: in `worker`, until the last child has ended.
template <typename MakeChildren>
void meanwhile(MakeChildren make_children) {
  int provided = 0;
  shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
  EXPECT(provided == SHMEM_THREAD_MULTIPLE);
  std::atomic<bool> done = false;
  std::thread worker([&] {
    long own = 0;
    for (long round = 0; !done; round++) {
      shmem_long_put_nbi(table + 200, &round, 1, next());
      shmem_long_atomic_fetch_inc(&counter, next());
      shmem_quiet();
      own++;
    }
    shmem_long_atomic_add(&counter, -own, next());
  });
  make_children();
  done = true;
  worker.join();
  shmem_barrier_all();
  EXPECT(counter == 0);
  shmem_barrier_all();
  exchange(1);
  shmem_finalize();
}

void say_at_exit() { std::fputs("", stdout); }

// The child runs its exit handlers and destructors and allocates; the job goes on at once.
void exits() {
  std::atexit(say_at_exit);
  shmem_init();
  for (long round = 0; round < 10; round++) {
    pid_t child = ::fork();
    if (child == 0) {
      std::vector<std::string> own(1000, "a string that takes memory");
      std::exit(static_cast<int>(own.size()) == 1000 ? 3 : 4);
    }
    exchange(round);
    EXPECT(exit_of(child) == 3);
  }
  shmem_finalize();
}

// One that ends long after its parent has gone on, without ever executing another program.
void lingers() {
  shmem_init();
  int held[2];
  EXPECT(::pipe(held) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    char none = 0;
    ::close(held[1]);
    std::exit(::read(held[0], &none, 1) == 0 ? 0 : 1);
  }
  for (long round = 0; round < 20; round++) exchange(round);
  shmem_finalize();
  shmem_init();
  exchange(99);
  ::close(held[1]);
  EXPECT(exit_of(child) == 0);
  exchange(100);
  shmem_finalize();
}

// The heap is the job's: the child has none, and cannot spoil it.
void writes_heap() {
  shmem_init();
  auto* block = static_cast<long*>(shmem_calloc(4, sizeof(long)));
  *block = 5;
  pid_t child = ::fork();
  if (child == 0) {
    *block = 6;
    std::_Exit(0);
  }
  EXPECT(exit_of(child) != 0);
  EXPECT(*block == 5);
  shmem_barrier_all();
  EXPECT(shmem_long_g(block, next()) == 5);
  shmem_finalize();
}

void read_of_pipe() {
  FILE* pipe = ::popen("echo said; exec cat /dev/null", "r");
  char line[16] = {};
  EXPECT(pipe != nullptr && std::fgets(line, sizeof line, pipe) != nullptr);
  EXPECT(std::strcmp(line, "said\n") == 0);
  EXPECT(::pclose(pipe) == 0);
}

void spawn() {
  const char* words[] = {"sh", "-c", "exit 5", nullptr};
  pid_t child = 0;
  EXPECT(::posix_spawn(&child, "/bin/sh", nullptr, nullptr, const_cast<char**>(words), environ) ==
         0);
  EXPECT(exit_of(child) == 5);
}

void execute() {
  pid_t child = ::vfork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", "exit 6", nullptr);
    ::_exit(1);
  }
  EXPECT(exit_of(child) == 6);
}

void of_all_kinds() {
  meanwhile([] {
    for (int i = 0; i < 5; i++) {
      read_of_pipe();
      spawn();
      execute();
      EXPECT(std::system("exit 7") == 7 << 8);
    }
  });
}

// Locks that the other thread holds at the moment are nothing to the child.
void among_threads() {
  meanwhile([] {
    for (int i = 0; i < 50; i++) {
      pid_t child = ::fork();
      if (child == 0) {
        std::string text(1000, 'x');
        std::exit(text.size() == 1000 ? 8 : 9);
      }
      EXPECT(exit_of(child) == 8);
    }
  });
}

// Descriptors of the job in a program that a child executes: it could keep the job's connections.
void inherits_nothing() {
  shmem_init();
  exchange(1);
  EXPECT(std::system("for fd in /proc/self/fd/*; do readlink $fd; done | "
                     "grep -e socket: -e memfd: -e anon_inode: >&2") != 0);
  shmem_finalize();
}

constexpr Mode kModes[] = {
    {"exits", exits},
    {"lingers", lingers},
    {"writes-heap", writes_heap},
    {"of-all-kinds", of_all_kinds},
    {"among-threads", among_threads},
    {"inherits-nothing", inherits_nothing},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
