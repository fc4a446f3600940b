// Static data: what tests/shmem/statics_test.cpp runs, built in several ways.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>

#include "program.h"

// Of the shared library that the program is linked with.
extern "C" long library_initialised, library_zero[1000];
extern "C" long* library_hidden();
extern "C" int library_constructed_in_shared_memory;

namespace {

using terrane::shmem_test::Mode;

// With a constructor, which runs before main.
struct Constructed {
  Constructed() : value(std::string(3, 'x').size() + 4) {}
  std::size_t value;
};

long initialised = 42;
long zero[1000];
char sparse[std::size_t{1} << 30];
Constructed constructed;
const char* const words[] = {"one", "two"};
thread_local long of_thread = 5;

int me() { return shmem_my_pe(); }
int next() { return (me() + 1) % shmem_n_pes(); }
void meet() { shmem_free(shmem_malloc(1)); }

template <typename T>
T& at(T& ours, int pe) {
  auto* there = static_cast<T*>(shmem_ptr(&ours, pe));
  EXPECT(there != nullptr);
  return *there;
}

void ring(long& word) {
  long before = word;
  meet();
  at(word, next()) = before + 100 + me();
  meet();
  EXPECT(word == before + 100 + (me() + shmem_n_pes() - 1) % shmem_n_pes());
  meet();
  word = before;
}

void kept() {
  EXPECT(initialised == 42 && zero[999] == 0 && constructed.value == 7 &&
         library_initialised == 11);
  EXPECT(words[1][0] == 't' && of_thread == 5);
}

void symmetric() {
  kept();
  shmem_init();
  kept();
  for (long* word : {&initialised, &zero[0], &zero[999], &library_initialised, &library_zero[999],
                     library_hidden()}) {
    EXPECT(shmem_ptr(word, me()) == word);
    ring(*word);
  }
  ring(reinterpret_cast<long&>(constructed.value));
  kept();
  EXPECT(shmem_addr_accessible(&of_thread, next()) == 0);
  EXPECT(shmem_addr_accessible(words[0], next()) == 0);
  EXPECT(shmem_addr_accessible(&errno, next()) == 0);
  long put = 7 + me();
  shmem_long_put(zero, &put, 1, next());
  meet();
  EXPECT(zero[0] == 7 + (me() + shmem_n_pes() - 1) % shmem_n_pes());
  EXPECT(shmem_long_g(&zero[0], next()) == 7 + me());
  shmem_finalize();
}

void moved_first() { EXPECT(library_constructed_in_shared_memory == 1); }

// A gigabyte of which a page is used.
void sparse_data() {
  sparse[12345] = 1;
  shmem_init();
  EXPECT(at(sparse[12345], next()) == 1 && at(sparse[sizeof sparse - 1], next()) == 0);
  shmem_finalize();
}

void opened_later() {
  shmem_init();
  void* library = ::dlopen(OPENED_LIBRARY, RTLD_NOW);
  EXPECT(library != nullptr);
  auto* word = static_cast<long*>(::dlsym(library, "opened_word"));
  EXPECT(word != nullptr && *word == 77);
  shmem_barrier_all();
  ring(*word);
  EXPECT(*word == 77);
  shmem_finalize();
}

void opened_before() {
  void* library = ::dlopen(OPENED_LIBRARY, RTLD_NOW);
  EXPECT(library != nullptr);
  shmem_init();
  ring(*static_cast<long*>(::dlsym(library, "opened_word")));
  shmem_finalize();
}

// By calls alone, which serve PEs of other hosts as well: puts and gets to all, in all kinds of
// memory.
void exchanged() {
  void* library = ::dlopen(OPENED_LIBRARY, RTLD_NOW);
  EXPECT(library != nullptr);
  shmem_init();
  auto* heap = static_cast<long*>(shmem_malloc(1'000'000 * sizeof(long)));
  auto* opened = static_cast<long*>(::dlsym(library, "opened_word"));
  for (long* word :
       {heap, heap + 999'999, &initialised, &zero[999], &library_initialised, opened}) {
    long before = *word;
    meet();
    shmem_long_p(word, before + 100 + me(), next());
    meet();
    EXPECT(*word == before + 100 + (me() + shmem_n_pes() - 1) % shmem_n_pes());
    EXPECT(shmem_long_g(word, next()) == before + 100 + me());
    meet();
    *word = before;
  }
  shmem_free(heap);
  EXPECT(shmem_malloc(SIZE_MAX / 2) == nullptr);
  shmem_finalize();
}

int exit_of(pid_t child) {
  int status = 0;
  EXPECT(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

// A child has what was there, writes for itself, and does not see what its parent writes later.
void forked() {
  shmem_init();
  const long mine = zero[7] = 70 + me();
  auto* block = static_cast<long*>(shmem_malloc(8));
  *block = 3;
  int pipes[2];
  EXPECT(::pipe(pipes) == 0);
  pid_t child = ::fork();
  if (child == 0) {
    char told = 0;
    bool good = ::read(pipes[0], &told, 1) == 1;
    good = good && zero[7] == mine && initialised == 42 && sparse[12345] == 0;
    zero[7] = 1;
    initialised = 2;
    std::_Exit(good && zero[7] == 1 ? 0 : 3);
  }
  EXPECT(child > 0);
  initialised = 43;
  EXPECT(::write(pipes[1], "x", 1) == 1);
  EXPECT(exit_of(child) == 0);
  EXPECT(zero[7] == 70 + me() && initialised == 43 && *block == 3);
  meet();
  EXPECT(at(zero[7], next()) == 70 + next());
  initialised = 42;
  shmem_finalize();
}

void shell() {
  shmem_init();
  EXPECT(std::system("exit 7") == 7 << 8);
  zero[0] = me();
  meet();
  EXPECT(at(zero[0], next()) == next());
  shmem_finalize();
}

void call_in_child() {
  shmem_init();
  pid_t child = ::fork();
  if (child == 0) {
    shmem_my_pe();
    std::_Exit(0);
  }
  EXPECT(exit_of(child) == 1);
  EXPECT(shmem_my_pe() >= 0);
  shmem_finalize();
}

constexpr Mode kModes[] = {
    {"symmetric", symmetric},
    {"moved-first", moved_first},
    {"sparse", sparse_data},
    {"opened-later", opened_later},
    {"opened-before", opened_before},
    {"exchanged", exchanged},
    {"forked", forked},
    {"shell", shell},
    {"call-in-child", call_in_child},
};

}  // namespace

int main(int argc, char** argv) { return terrane::shmem_test::run_mode(kModes, argc, argv); }
