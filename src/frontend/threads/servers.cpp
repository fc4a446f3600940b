// Threads of the program that make calls for threads of other nodes, one after the other: a call
// finds one that waits, and makes one where all are busy.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <mutex>
#include <vector>

#include "frontend/pages/objects/shared_object.h"
#include "frontend/threads/cancel.h"
#include "frontend/threads/inherited.h"
#include "frontend/threads/program.h"
#include "runtime/program/own_stack.h"

namespace terrane::frontend::threads {
namespace {

using pages::kForEver;

// In shared memory. Written by the thread that calls and by the server in turn.
struct alignas(64) Server {
  std::uint64_t asked, answered;  // semaphores, by their addresses
  void* (*function)(void*);       // nullptr: the server is to end
  void* argument;
  std::uint64_t calls;  // that have returned
  Record* record;
  platform::FloatingPoint floating_point;  // of the thread that calls
};

// A server, and what it may do. Private memory.
struct Known {
  Server* server;
  Rights rights;
};

bool are_equal(const Rights& one, const Rights& other) {
  return std::equal(std::begin(one.of), std::end(one.of), std::begin(other.of));
}

void add_unit(const void* count) {
  Program::get()->node().change_count(count_of(count), protocol::CountOp::kAdd, 1);
}

void take_unit(const void* count) {
  Program::get()->node().take_units(count_of(count), {}, kForEver);
}

void* serve(void* raw) {
  auto& server = *static_cast<Server*>(raw);
  for (;;) {
    take_unit(&server.asked);
    if (server.function == nullptr) return nullptr;
    platform::floating_point::apply(server.floating_point);
    server.function(server.argument);
    ++server.calls;
    add_unit(&server.answered);
  }
}

// Servers of one node that wait for calls from this one.
struct Waiting {
  std::mutex mutex;
  std::vector<Known> servers;
};

// Holds such a list. Meanwhile no handler of the program runs: it might make a call, too.
class Locked {
 public:
  explicit Locked(Waiting& waiting) : waiting_(waiting) {
    ++runtime::own_stack().holds;
    waiting_.mutex.lock();
  }
  ~Locked() {
    waiting_.mutex.unlock();
    --runtime::own_stack().holds;
    runtime::take_signals_after_operation();
  }
  Locked(const Locked&) = delete;

 private:
  Waiting& waiting_;
};

Waiting& waiting_on(std::uint32_t node) {
  static auto* all = new std::vector<Waiting>(Program::get()->node().nodes());
  return (*all)[node];
}

Server* make_server(std::uint32_t node) {
  Program& program = *Program::get();
  auto* server = static_cast<Server*>(program.heap().allocate(sizeof(Server), alignof(Server)));
  if (server == nullptr) return nullptr;
  *server = {};
  server->record = create_server(node, serve, server);
  if (server->record != nullptr) return server;
  program.heap().free(server);
  return nullptr;
}

// One that may do what the calling thread may, since it was made by such a thread.
Known take_server(std::uint32_t node, const Rights& rights) {
  Private ours;
  Waiting& waiting = waiting_on(node);
  {
    Locked hold(waiting);
    for (auto one = waiting.servers.rbegin(); one != waiting.servers.rend(); ++one) {
      if (!are_equal(one->rights, rights)) continue;
      Known known = *one;
      waiting.servers.erase(std::next(one).base());
      return known;
    }
  }
  return {make_server(node), rights};
}

void give_back(std::uint32_t node, const Known& known) {
  Private ours;
  Waiting& waiting = waiting_on(node);
  Locked hold(waiting);
  waiting.servers.push_back(known);
}

// The calling thread is cancelled, or a handler has interrupted its wait: the server ends, in its
// call or after it. Its memory stays, since its semaphores may have units left.
int end_call(Server& server, std::uint64_t calls_before) {
  cancel(*server.record);
  server.function = nullptr;
  add_unit(&server.asked);
  take_unit(&server.record->done);
  Holding hold(&Program::get()->control().lock);
  server.record->state = Record::kFree;
  return server.calls == calls_before ? EINTR : 0;
}

}  // namespace

namespace {

int run(std::uint32_t node, void* (*function)(void*), void* argument, bool may_be_interrupted) {
  Inherited own = inherited_from_here();
  Known known = take_server(node, own.rights);
  if (known.server == nullptr) return EAGAIN;
  Server& server = *known.server;
  server.function = function;
  server.argument = argument;
  server.floating_point = own.floating_point;
  std::uint64_t before = server.calls;
  add_unit(&server.asked);
  pages::Interruptible wait(may_be_interrupted);
  runtime::WaitLimit limit;
  if (may_be_interrupted) limit = pages::cancellable_limit(kForEver);
  if (!Program::get()->node().take_units(count_of(&server.answered), {}, limit))
    return end_call(server, before);
  give_back(node, known);
  return 0;
}

}  // namespace

int run_on(std::uint32_t node, void* (*function)(void*), void* argument) {
  return run(node, function, argument, false);
}

int run_interruptibly_on(std::uint32_t node, void* (*function)(void*), void* argument) {
  return run(node, function, argument, true);
}

void run_on_others(void* (*function)(void*), void* argument) {
  Program& program = *Program::get();
  for (std::uint32_t n = 0; n < program.node().nodes(); ++n)
    if (n != program.self()) run_on(n, function, argument);
}

}  // namespace terrane::frontend::threads
