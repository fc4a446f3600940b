// The limits of a process: a change holds on every node. The number of files is node 0's alone, and
// all threads see that one: numbers of descriptors are divided between the nodes (elsewhere.cpp).
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>

#include "frontend/interpose/arguments.h"
#include "frontend/threads/program.h"
#include "frontend/threads/state_calls.h"
#include "platform/mapping.h"

using terrane::frontend::In;
using terrane::frontend::next;
using terrane::frontend::Out;
using namespace terrane::frontend::threads;

namespace {

using Resource = __rlimit_resource;

int prlimit_here(pid_t process, Resource what, const rlimit64* limit, rlimit64* before) {
  In<rlimit64> own(limit);
  Out<rlimit64> own_before(before);
  auto* call = next<"prlimit64">(::prlimit64);
  return own_before.done(call(process, what, own.get(), own_before.get()));
}

struct LimitChange : Change {
  Resource what;
  rlimit64 limit;
};

// Root raises every limit, others lower theirs, and move the one in use below it.
bool may_change(Change& change) {
  LimitChange& own = static_cast<LimitChange&>(change);
  rlimit64 now{};
  if (prlimit_here(0, own.what, nullptr, &now) != 0) return false;
  if (own.limit.rlim_max <= now.rlim_max || ::geteuid() == 0) return true;
  errno = EPERM;
  return false;
}

bool change_here(Change& change) {
  LimitChange& own = static_cast<LimitChange&>(change);
  if (own.what == RLIMIT_FSIZE) terrane::platform::expect_file_size_limit();
  return prlimit_here(0, own.what, &own.limit, nullptr) == 0;
}

// On node 0, with what all threads are to see.
bool change_files(Change& change) {
  Program& program = *Program::get();
  LimitChange& own = static_cast<LimitChange&>(change);
  if (program.self() == 0) {
    if (!change_here(change)) return false;
    program.control().files = {own.limit.rlim_cur, own.limit.rlim_max};
  }
  return true;
}

bool set_limit(Resource what, const rlimit64& limit) {
  LimitChange change;
  change.what = what;
  change.limit = limit;
  bool is_files = what == RLIMIT_NOFILE;
  change.make = is_files ? change_files : change_here;
  change.may = is_files ? nullptr : may_change;
  return change_all_nodes("setrlimit", change);
}

void get_limit(Resource what, rlimit64& to) {
  if (what == RLIMIT_NOFILE) {
    const FileLimit& files = Program::get()->control().files;
    to = {files.now, files.most};
    return;
  }
  prlimit_here(0, what, nullptr, &to);
}

// prlimit(2) of this process: of all nodes.
int prlimit_of_program(Resource what, const rlimit64* limit, rlimit64* before) {
  rlimit64 old{};
  if (what < 0 || what >= RLIM_NLIMITS) return prlimit_here(0, what, limit, before);
  get_limit(what, old);
  if (limit != nullptr && !set_limit(what, *limit)) return -1;
  if (before != nullptr) *before = old;
  return 0;
}

bool is_programs(pid_t process) {
  return concerns_all_nodes() && (process == 0 || process == ::getpid());
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int prlimit64(pid_t process, Resource what, const rlimit64* limit, rlimit64* before) noexcept {
  if (!is_programs(process)) return prlimit_here(process, what, limit, before);
  return prlimit_of_program(what, limit, before);
}

int getrlimit64(__rlimit_resource_t what, rlimit64* to) noexcept {
  return prlimit64(0, static_cast<Resource>(what), nullptr, to);
}

int setrlimit64(__rlimit_resource_t what, const rlimit64* limit) noexcept {
  return prlimit64(0, static_cast<Resource>(what), limit, nullptr);
}

static_assert(sizeof(rlimit) == sizeof(rlimit64));

int prlimit(pid_t process, Resource what, const rlimit* limit, rlimit* before) noexcept {
  return prlimit64(process, what, reinterpret_cast<const rlimit64*>(limit),
                   reinterpret_cast<rlimit64*>(before));
}

int getrlimit(__rlimit_resource_t what, rlimit* to) noexcept {
  return prlimit(0, static_cast<Resource>(what), nullptr, to);
}

int setrlimit(__rlimit_resource_t what, const rlimit* limit) noexcept {
  return prlimit(0, static_cast<Resource>(what), limit, nullptr);
}

int getdtablesize(void) noexcept {
  rlimit64 files{};
  getrlimit64(RLIMIT_NOFILE, &files);
  return static_cast<int>(files.rlim_cur);
}

}  // extern "C"
#pragma GCC visibility pop
