// Setup, exit and query: chapter "Library Setup, Exit, and Query Routines" and "Thread Support".

#include <shmem.h>
#include <shmemx.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string_view>

#include "frontend/shmem/lifetime.h"
#include "frontend/shmem/process.h"

namespace {

using terrane::frontend::shmem::Lifetime;
using terrane::frontend::shmem::world_for;

constexpr std::string_view kName = SHMEM_VENDOR_STRING;

}  // namespace

extern "C" {

void shmem_init() noexcept { Lifetime::of_process().begin("shmem_init", SHMEM_THREAD_SINGLE); }

int shmem_init_thread(int requested, int* provided) noexcept {
  if (requested < SHMEM_THREAD_SINGLE || requested > SHMEM_THREAD_MULTIPLE) {
    terrane::frontend::shmem::fail(
        "shmem_init_thread",
        fmt::format("level {} is none; give one of SHMEM_THREAD_SINGLE to SHMEM_THREAD_MULTIPLE",
                    requested));
  }
  int level = Lifetime::of_process().begin("shmem_init_thread", requested);
  if (provided != nullptr) *provided = level;
  return 0;
}

void start_pes(int) noexcept { Lifetime::of_process().begin_until_exit(); }

void shmem_finalize() noexcept { Lifetime::of_process().end("shmem_finalize"); }

void shmem_query_initialized(int* initialized) noexcept {
  *initialized = Lifetime::of_process().is_initialised() ? 1 : 0;
}

void shmem_query_thread(int* provided) noexcept {
  world_for("shmem_query_thread");
  *provided = Lifetime::of_process().threads();
}

int shmem_my_pe() noexcept { return static_cast<int>(world_for("shmem_my_pe").self().value); }

int shmem_n_pes() noexcept { return static_cast<int>(world_for("shmem_n_pes").pes()); }

// What this process has written so far is flushed before the others end, which the launcher sends
// SIGTERM at once. Us as well: but our exit handlers are still to run.
void shmem_global_exit(int status) noexcept {
  auto& world = world_for("shmem_global_exit");
  std::fflush(nullptr);
  std::signal(SIGTERM, SIG_IGN);
  world.end_job(status);
  Lifetime::of_process().forget_end();
  std::exit(status);
}

void shmem_info_get_version(int* major, int* minor) noexcept {
  *major = SHMEM_MAJOR_VERSION;
  *minor = SHMEM_MINOR_VERSION;
}

void shmem_info_get_name(char* name) noexcept {
  static_assert(kName.size() < SHMEM_MAX_NAME_LEN);
  kName.copy(name, kName.size());
  name[kName.size()] = '\0';
}

double shmemx_wtime() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// No level of profiling is known here: what it may be, it changes nothing.
void shmem_pcontrol(int, ...) noexcept {}

}  // extern "C"
