// A process that uses several front-ends, in the way that the mode says. Prints "good" where all is
// as it should be, or what is not. Usage: hybrid_program MODE NODES
#include <shmem.h>
#include <signal.h>
#include <sys/wait.h>
#include <terrane/chunks.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

void expect(bool good, const char* what) {
  if (good) return;
  std::printf("not good: %s (pages: %s; chunks: %s)\n", what, terrane_error(),
              terrane_chunks_error());
  std::fflush(stdout);
  std::_Exit(1);
}

void begin_pages() { expect(terrane_init() == TERRANE_OK, "terrane_init"); }
void end_pages() { expect(terrane_finalize() == TERRANE_OK, "terrane_finalize"); }
void begin_chunks() { expect(terrane_chunks_init() == TERRANE_OK, "terrane_chunks_init"); }
void end_chunks() { expect(terrane_chunks_finalize() == TERRANE_OK, "terrane_chunks_finalize"); }

int expected = 0;  // nodes

int nodes_expected() { return expected; }

// Each front-end ends before the next one begins.
void in_turn() {
  begin_pages();
  expect(terrane_nodes() == nodes_expected(), "the nodes of pages");
  int node = terrane_node();
  end_pages();
  begin_chunks();
  expect(terrane_chunks_nodes() == nodes_expected(), "the nodes of chunks");
  expect(terrane_chunks_node() == node, "the node of chunks");
  end_chunks();
  shmem_init();
  expect(shmem_n_pes() == nodes_expected(), "the PEs");
  expect(shmem_my_pe() == node, "the PE");
  shmem_finalize();
}

// One goes on when others have ended, however long.
void in_each_others_time() {
  begin_chunks();
  shmem_init();
  begin_pages();
  end_chunks();
  static long sum, one = 1;
  for (int i = 0; i < 100; ++i) shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &one, 1);
  expect(sum == nodes_expected(), "a sum of PEs");
  shmem_finalize();
  auto* counter = static_cast<long*>(terrane_alloc_all(sizeof(long), nullptr));
  for (int i = 0; i < 100; ++i) {
    terrane_lock(1);
    ++*counter;
    terrane_unlock(1);
  }
  terrane_barrier();
  expect(*counter == 100L * nodes_expected(), "a counter in pages");
  end_pages();
  shmem_init();
  expect(shmem_n_pes() == nodes_expected(), "the PEs that came back");
  shmem_finalize();
}

// Threads of their own begin the front-ends, in the same order on all nodes.
void by_threads() {
  std::thread(begin_pages).join();
  std::thread(begin_chunks).join();
  expect(terrane_nodes() == nodes_expected() && terrane_chunks_nodes() == nodes_expected(),
         "one job");
  std::thread(end_pages).join();
  std::thread(end_chunks).join();
}

// The last node begins in another order: the job ends with a sentence.
void in_other_orders() {
  const char* place = std::getenv("TERRANE_NODE");
  if (place != nullptr && std::atoi(place) == nodes_expected() - 1) {
    begin_chunks();
    begin_pages();
  } else {
    begin_pages();
    begin_chunks();
  }
}

// The last node begins one front-end fewer, and ends.
void one_fewer() {
  begin_pages();
  if (terrane_node() == nodes_expected() - 1) std::exit(0);
  begin_chunks();
}

// Chunks would live on where a node dies, pages cannot.
void a_death() {
  begin_chunks();
  begin_pages();
  if (terrane_node() == nodes_expected() - 1) ::raise(SIGKILL);
  terrane_barrier();
}

// A child has no place of its own, in no front-end.
void a_child() {
  begin_pages();
  pid_t child = ::fork();
  if (child == 0)
    ::_exit(terrane_chunks_init() != TERRANE_OK &&
                    std::strstr(terrane_chunks_error(), "is a child") != nullptr
                ? 0
                : 1);
  int status = -1;
  ::waitpid(child, &status, 0);
  expect(status == 0, "the child's error");
  begin_chunks();
  end_chunks();
  end_pages();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const std::string mode = argv[1];
  expected = std::atoi(argv[2]);
  struct Mode {
    const char* name;
    void (*function)();
  };
  for (auto [name, function] :
       {Mode{"in-turn", in_turn}, Mode{"each-others-time", in_each_others_time},
        Mode{"threads", by_threads}, Mode{"orders", in_other_orders}, Mode{"one-fewer", one_fewer},
        Mode{"death", a_death}, Mode{"child", a_child}}) {
    if (mode != name) continue;
    function();
    std::puts("good");
    return 0;
  }
  return 2;
}
