// Signals, forks and threads of programs that use shared memory, on every node of a job, one mode a
// claim. Says "good" on every node, or what went wrong. Usage: signals_program MODE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "program.h"

extern char** environ;

using namespace terrane::pages_test;

namespace {

constexpr std::size_t kPages = 64;
unsigned char* pages;  // each a home of node 0

// Every page is missing here, then faults for reading, then for writing.
void fault_everywhere() {
  EXPECT(terrane_evict(pages, kPages * kPage) == TERRANE_OK);
  auto mine = 8 + static_cast<std::size_t>(terrane_node());
  for (std::size_t page = 0; page < kPages; ++page) {
    EXPECT(at(pages, page * kPage) == 77);
    at(pages, page * kPage + mine) = 5;
  }
}

// Faults go on in another thread while this lives.
class FaultsBeside {
 public:
  FaultsBeside()
      : thread_([this] {
          while (!done_) fault_everywhere();
        }) {}
  ~FaultsBeside() {
    done_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// ---- masks and stacks

void everything_blocked() {
  sigset_t all, before, now;
  sigfillset(&all);
  EXPECT(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
  fault_everywhere();
  EXPECT(sigprocmask(SIG_BLOCK, nullptr, &now) == 0 && sigismember(&now, SIGSEGV) == 1);
  std::thread([&] {
    sigset_t inherited;
    pthread_sigmask(SIG_BLOCK, nullptr, &inherited);
#ifndef __SANITIZE_THREAD__  // its own pthread_create serves, and the kernel's mask is inherited
    EXPECT(sigismember(&inherited, SIGBUS) == 1 && sigismember(&inherited, SIGUSR1) == 1);
#endif
    fault_everywhere();
  }).join();
  EXPECT(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
}

void on_user_signal(int) { fault_everywhere(); }

void handlers_that_fault() {
  struct sigaction action {};
  action.sa_handler = on_user_signal;
  sigfillset(&action.sa_mask);
  EXPECT(sigaction(SIGUSR1, &action, nullptr) == 0);
  raise(SIGUSR1);
  signal(SIGUSR2, on_user_signal);
  sigset_t all_but_one;
  sigfillset(&all_but_one);
  sigdelset(&all_but_one, SIGUSR2);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  raise(SIGUSR2);
  EXPECT(sigsuspend(&all_but_one) == -1 && errno == EINTR);
}

// The least stack that a thread may have, and a coroutine on less than that.
void small_stacks() {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  auto least = static_cast<std::size_t>(sysconf(_SC_THREAD_STACK_MIN));
  EXPECT(pthread_attr_setstacksize(&attributes, least) == 0);
  pthread_t thread;
  auto work = [](void* argument) -> void* {
    fault_everywhere();
    return argument;
  };
  int token = 0;
  void* result = nullptr;
  EXPECT(pthread_create(&thread, &attributes, work, &token) == 0);
  EXPECT(pthread_join(thread, &result) == 0 && result == &token);
  static ucontext_t back, aside;
  std::vector<char> stack(8192);
  getcontext(&aside);
  aside.uc_stack.ss_sp = stack.data();
  aside.uc_stack.ss_size = stack.size();
  aside.uc_link = &back;
  makecontext(&aside, fault_everywhere, 0);
  EXPECT(swapcontext(&back, &aside) == 0);
}

// A new thread finds its name where pthread_create stores it, and that place is the caller's alone
// as soon as the call has returned.
void names_of_threads() {
  static sem_t has_begun;
  static pthread_t* name;
  sem_init(&has_begun, 0, 0);
  name = reinterpret_cast<pthread_t*>(pages + static_cast<std::size_t>(terrane_node()) * kPage);
  auto looks = [](void*) -> void* {
    EXPECT(*name == pthread_self());
    return nullptr;
  };
  auto begins = [](void*) -> void* {
    sem_post(&has_begun);
    return nullptr;
  };
  for (int i = 0; i < 200; ++i) {
    EXPECT(pthread_create(name, nullptr, looks, nullptr) == 0);
    EXPECT(pthread_join(*name, nullptr) == 0);
    EXPECT(pthread_create(name, nullptr, begins, nullptr) == 0);
    pthread_t thread = *name;
    *name = 0;
    sem_wait(&has_begun);
    EXPECT(*name == 0);
    EXPECT(pthread_join(thread, nullptr) == 0);
  }
}

void own_signal_stack() {
  std::vector<char> small(static_cast<std::size_t>(sysconf(_SC_MINSIGSTKSZ)) + 1024);
  stack_t mine{}, now{};
  mine.ss_sp = small.data();
  mine.ss_size = small.size();
  EXPECT(sigaltstack(&mine, nullptr) == 0);
  fault_everywhere();
  EXPECT(sigaltstack(nullptr, &now) == 0 && now.ss_sp == small.data());
  mine.ss_flags = SS_DISABLE;
  EXPECT(sigaltstack(&mine, nullptr) == 0);
  fault_everywhere();
}

void cancelled_in_a_call() {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  std::thread thread;
  pthread_t reader;
  auto wait = [](void* fd) -> void* {
    read(*static_cast<int*>(fd), pages + 100, 10);
    return nullptr;
  };
  EXPECT(pthread_create(&reader, nullptr, wait, &ends[0]) == 0);
  EXPECT(pthread_cancel(reader) == 0);
  void* result = nullptr;
  EXPECT(pthread_join(reader, &result) == 0 && result == PTHREAD_CANCELED);
  close(ends[0]);
  close(ends[1]);
}

// ---- the program's own handlers of the signals that faults come by

sigjmp_buf way_out;
volatile unsigned char* volatile bad_page;
volatile sig_atomic_t caught;

void on_fault(int, siginfo_t* info, void*) {
  EXPECT(info->si_addr == bad_page);
  fault_everywhere();  // shared memory may be used here, too
  caught = caught + 1;
  siglongjmp(way_out, 1);
}

volatile unsigned char* closed_page() {
  return static_cast<volatile unsigned char*>(
      mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
}

void own_handlers() {
  bad_page = closed_page();
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  EXPECT(sigaction(SIGSEGV, &action, &before) == 0);
  for (int round = 0; round < 5; ++round) {
    fault_everywhere();
    if (sigsetjmp(way_out, 1) == 0) {
      *bad_page = 1;
      EXPECT(!"a fault of the program's own is its own");
    }
  }
  EXPECT(caught == 5);
  struct sigaction now {};
  EXPECT(sigaction(SIGSEGV, &before, &now) == 0 && now.sa_sigaction == on_fault);
  EXPECT(signal(SIGBUS, SIG_IGN) == SIG_DFL && signal(SIGBUS, SIG_DFL) == SIG_IGN);
  fault_everywhere();
}

// Death by the program's own mistake, by the signal that it is.
void own_mistake() {
  fault_everywhere();
  bad_page = closed_page();
  if (terrane_node() == 1) *bad_page = 1;
}

// ---- children

int status_of(pid_t child) {
  int status = 0;
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  return status;
}

void children() {
  FaultsBeside beside;
  for (int round = 0; round < 20; ++round) {
    pid_t child = fork();
    if (child == 0) _exit(terrane_node() == TERRANE_ESTATE ? 7 : 8);
    EXPECT(WEXITSTATUS(status_of(child)) == 7);
  }
  EXPECT(WEXITSTATUS(system("exit 6")) == 6);
  FILE* answer = popen("echo from a child", "r");
  char line[100] = "";
  EXPECT(answer != nullptr && std::fgets(line, sizeof line, answer) != nullptr);
  EXPECT(std::string(line) == "from a child\n" && pclose(answer) == 0);
  const char* arguments[] = {"sh", "-c", "exit 9", nullptr};
  auto** argv = const_cast<char**>(arguments);
  pid_t child = 0;
  EXPECT(posix_spawnp(&child, "sh", nullptr, nullptr, argv, environ) == 0);
  EXPECT(WEXITSTATUS(status_of(child)) == 9);
  child = vfork();
  if (child == 0) {
    execvp("sh", argv);
    _exit(1);
  }
  EXPECT(WEXITSTATUS(status_of(child)) == 9);
}

// A library installs its handler by the C library's own function. Within 100 ms the node's handler
// thread puts Terrane's handler before it again.
void displaced_handlers() {
  using SigAction = int (*)(int, const struct sigaction*, struct sigaction*);
  void* libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
  auto* install = reinterpret_cast<SigAction>(dlsym(libc, "sigaction"));
  struct sigaction theirs {};
  theirs.sa_handler = [](int) { bad("a fault went to the other handler", __LINE__); };
  for (int fault : {SIGBUS, SIGSEGV}) {
    struct sigaction now {};
    EXPECT(install(fault, &theirs, nullptr) == 0);
    do {
      usleep(1000);
      EXPECT(install(fault, nullptr, &now) == 0);
    } while (now.sa_handler == theirs.sa_handler);
    EXPECT(sigaction(fault, nullptr, &now) == 0 && now.sa_handler == theirs.sa_handler);
  }
  terrane_barrier();
  EXPECT(terrane_evict(pages, kPages * kPage) == TERRANE_OK);
  EXPECT(at(pages, 0) == 77);
}

// The errors that a child gets when it calls, and when it touches.
void child_calls() {
  pid_t child = fork();
  if (child == 0) {
    EXPECT(terrane_lock(1) == TERRANE_ESTATE && error_says("in a child of the process"));
    EXPECT(terrane_init() == TERRANE_ESTATE && error_says("in a child of the process"));
    EXPECT(terrane_finalize() == TERRANE_ESTATE && terrane_alloc(8, nullptr) == nullptr);
    int ends[2];
    EXPECT(pipe(ends) == 0 && write(ends[1], pages, 1) == -1 && errno == EFAULT);
    _exit(0);
  }
  EXPECT(status_of(child) == 0);
}

void child_touches() {
  if (terrane_node() != 0) return;
  at(pages, 3) = 9;
  pid_t child = fork();
  if (child == 0) {
    std::fprintf(stderr, "it reads %d\n", at(pages, 3));
    _exit(0);
  }
  int status = status_of(child);
  EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

const std::map<std::string, void (*)()> kModes = {
    {"everything_blocked", everything_blocked},
    {"handlers_that_fault", handlers_that_fault},
    {"small_stacks", small_stacks},
    {"names_of_threads", names_of_threads},
    {"own_signal_stack", own_signal_stack},
    {"cancelled_in_a_call", cancelled_in_a_call},
    {"own_handlers", own_handlers},
    {"displaced_handlers", displaced_handlers},
    {"own_mistake", own_mistake},
    {"children", children},
    {"child_calls", child_calls},
    {"child_touches", child_touches},
};

}  // namespace

int main(int argc, char** argv) {
  auto mode = kModes.find(argc > 1 ? argv[1] : "");
  if (mode == kModes.end()) return 4;
  for (int fault : {SIGBUS, SIGSEGV}) signal(fault, SIG_DFL);  // sanitizers have handlers of theirs
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 3;
  pages = allocate_all<unsigned char>(kPages * kPage);
  if (terrane_node() == 0)
    for (std::size_t page = 0; page < kPages; ++page) at(pages, page * kPage) = 77;
  terrane_barrier();
  mode->second();
  if (terrane_finalize() != TERRANE_OK) return 5;
  std::puts("good");
  return 0;
}
