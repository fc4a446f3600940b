#include "frontend/omp/task_moves.h"

#include <time.h>

#include <atomic>
#include <bit>
#include <utility>

#include "frontend/omp/region_report.h"
#include "frontend/omp/task_queue.h"
#include "frontend/threads/for_teams.h"

namespace terrane::frontend::omp {
namespace {

constexpr std::uint32_t kMostNodes = 64, kStock = 64;
// While no node is idle, a thread that creates tasks lends some where it has many.
constexpr std::uint32_t kMany = 8;
// A node that has borrowed short tasks rests, longer and longer.
constexpr std::uint64_t kWorth = 4, kFirstRestNs = 100000, kLongestRestNs = 10000000;
constexpr std::uint64_t kLookAgainNs = 200000;
constexpr std::uint32_t kLendEveryUs = 5000;
constexpr std::uint64_t kServeTicks = 40000;  // of the processor's clock: 10 to 20 us

// The page of one node. Words are changed by operations in the memory of the page's home alone, so
// that the node sees them by plain loads. Sets of nodes, and of places in the stock, are bits.
struct Mail {
  alignas(64) std::uint64_t available;  // places of the stock whose loan nobody has taken
  std::uint64_t done;                   // whose tasks have been run by another node
  std::uint64_t idle;                   // nodes that want to hear of a task of this one
  std::uint64_t offers;                 // nodes that have reported that they have tasks
  alignas(64)
      std::uint64_t quiet[kMostNodes];  // by node: twice its latest barrier, and 1: it had tasks
  std::uint64_t loans[kStock];          // their first tasks
  std::uint64_t units[kStock];          // the loans of other nodes that they are parts of
  // By place of the stock: the address is that of a lock, which carries what the lender wrote
  // before the task, and what the borrower wrote in it.
  std::uint64_t locks[kStock];
};
static_assert(sizeof(Mail) <= 4096);

std::byte* mails = nullptr;
std::size_t mail_bytes = 0;
Mail* own_page = nullptr;
bool is_spread = false;  // over several hosts, where pages are reached by messages

// The lender's half.
std::atomic<bool> is_lending{false}, stock_busy{false};
Task* stock[kStock] = {};
std::atomic<std::uint64_t> used{0};  // places of the stock
std::uint32_t next_place = 0;

// The borrower's half.
std::atomic<bool> is_borrowing{false};
std::atomic<std::uint32_t> loans_here{0};  // that this node runs
bool is_armed[kMostNodes] = {};            // that node knows that this one wants to hear
std::uint64_t looked_ns[kMostNodes] = {};  // when this node has looked there last
std::atomic<std::uint64_t> rest_until_ns{0};
std::atomic<std::uint64_t> rest_ns{0};
std::atomic<std::uint64_t> next_barrier{1};

Mail& mail_of(std::uint32_t node) { return *reinterpret_cast<Mail*>(mails + node * mail_bytes); }
Mail& own_mail() { return *own_page; }
std::uint64_t bit(std::uint32_t number) { return std::uint64_t{1} << number; }
std::uint32_t place_in(std::uint64_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

std::uint64_t load_own(std::uint64_t& word) {
  return std::atomic_ref<std::uint64_t>(word).load(std::memory_order_acquire);
}
std::uint64_t load(std::uint64_t& word) { return terrane_program_atomic(kProgramLoad, &word, 0); }
std::uint64_t add_bits(std::uint64_t& word, std::uint64_t bits) {
  return terrane_program_atomic(kProgramOr, &word, bits);
}
std::uint64_t keep_bits(std::uint64_t& word, std::uint64_t bits) {
  return terrane_program_atomic(kProgramAnd, &word, bits);
}

template <typename Each>
void for_bits(std::uint64_t bits, Each each) {
  for (; bits != 0; bits &= bits - 1) each(static_cast<std::uint32_t>(std::countr_zero(bits)));
}

std::uint64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// A thread that takes and gives back a lock has released what its node wrote, or acquired what the
// lock's holder before it released.
void pass(std::uint64_t& lock) {
  terrane_program_lock(&lock);
  terrane_program_unlock(&lock);
}

const void* unit_of(const Task* task) {
  for (; task != nullptr; task = task->parent)
    if (task->unit != nullptr) return task->unit;
  return nullptr;
}

// A free place, the next one in turn; kStock: there is none.
std::uint32_t free_place() {
  std::uint64_t taken = used.load(std::memory_order_relaxed);
  for (std::uint32_t i = 0; i < kStock; ++i) {
    std::uint32_t place = (next_place + i) % kStock;
    if ((taken & bit(place)) == 0) return place;
  }
  return kStock;
}

bool lend(Mail& own) {
  std::uint32_t place = free_place();
  if (place == kStock) return false;
  Task* task = take_oldest(kMostOfALoan);
  if (task == nullptr) return false;
  next_place = (place + 1) % kStock;
  stock[place] = task;
  own.loans[place] = reinterpret_cast<std::uintptr_t>(task);
  own.units[place] = reinterpret_cast<std::uintptr_t>(unit_of(task));
  used.fetch_or(bit(place), std::memory_order_release);
  pass(own.locks[place]);
  add_bits(own.available, bit(place));
  return true;
}

// False: another thread lends just now.
bool lend_once(Mail& own) {
  if (is_lending.exchange(true, std::memory_order_acquire)) return false;
  if (load_own(own.available) == 0) lend(own);
  is_lending.store(false, std::memory_order_release);
  return true;
}

// To the nodes that want to hear of tasks.
void report_tasks(Mail& own) {
  if (load_own(own.available) == 0) return;
  for_bits(keep_bits(own.idle, 0), [&](std::uint32_t node) {
    add_bits(mail_of(node).offers, bit(terrane_program_node()));
  });
}

// Places whose tasks other nodes run.
std::uint64_t taken_places() {
  return used.load(std::memory_order_acquire) & ~load_own(own_mail().available);
}

bool are_descendants(const Task* first, const Task* of) {
  if (of == nullptr) return true;
  for (const Task* task = first; task != nullptr; task = task->next)
    if (!is_descendant(task, of)) return false;
  return true;
}

// Whether such a task is a descendant of that one, and is `unit` if that is given.
bool is_lent(const Task* of, std::uint64_t unit) {
  Hold hold(stock_busy);
  bool found = false;
  for_bits(taken_places(), [&](std::uint32_t place) {
    const Task* task = stock[place];
    bool fits = unit == 0 || reinterpret_cast<std::uintptr_t>(task) == unit;
    found = found || (fits && are_descendants(task, of));
  });
  return found;
}

struct Found {
  std::uint32_t node = 0, place = 0;
  const Task* task = nullptr;
  std::uint64_t from_ns = 0;  // when the look began
};

bool may_take(Mail& from, std::uint32_t place, const Task* of) {
  if (of == nullptr) return true;
  std::uint64_t unit = load(from.units[place]);
  return unit != 0 && is_lent(of, unit);
}

// A node has one loan at a time that nobody has taken.
Found take_from(std::uint32_t node, const Task* of) {
  Mail& from = mail_of(node);
  looked_ns[node] = now_ns();
  if (of != nullptr) {
    std::uint64_t mask = load(from.available);
    if (mask == 0 || !may_take(from, place_in(mask), of)) return {};
  }
  std::uint64_t mask = keep_bits(from.available, 0);
  if (mask == 0) return {};
  std::uint32_t place = place_in(mask);
  if (!may_take(from, place, of)) {  // it has become another one meanwhile
    add_bits(from.available, mask);
    return {};
  }
  auto* task = reinterpret_cast<const Task*>(load(from.loans[place]));
  return {node, place, task, looked_ns[node]};
}

// Looks whether a node has reported that it has tasks, or asks it to report.
Found look_at(std::uint32_t node, const Task* of) {
  Mail& own = own_mail();
  if (is_armed[node] && (load_own(own.offers) & bit(node)) != 0) {
    keep_bits(own.offers, ~bit(node));
    is_armed[node] = false;
  } else if (is_armed[node] && (of == nullptr || now_ns() - looked_ns[node] < kLookAgainNs)) {
    return {};
  }
  Found found = take_from(node, of);
  if (found.task != nullptr || is_armed[node]) return found;
  is_armed[node] = true;
  add_bits(mail_of(node).idle, bit(terrane_program_node()));
  found = take_from(node, of);
  if (found.task != nullptr) is_armed[node] = false;
  return found;
}

// A node that has taken a loan waits for its lock, which this node has; over a network it asks for
// tasks by messages. The handler thread may find no processor where all of them compute.
void serve_now_and_then() {
  thread_local std::uint64_t served = 0;
  std::uint64_t now = __builtin_ia32_rdtsc();
  if (now - served < kServeTicks) return;
  served = now;
  terrane_program_look();
}

Found look(const Task* of) {
  std::uint32_t self = terrane_program_node(), nodes = terrane_program_nodes();
  for (std::uint32_t i = 1; i < nodes; ++i) {
    std::uint32_t node = (self + i) % nodes;
    // It has said that it has no tasks; it may have borrowed some since, which may wait for others.
    bool is_quiet = load_own(own_mail().quiet[node]) / 2 >= next_barrier;
    if (of == nullptr && is_quiet && !program_fulfils_events()) continue;
    Found found = look_at(node, of);
    if (found.task != nullptr) return found;
  }
  return {};
}

// Short loans are not worth their way.
void rest_after(std::uint64_t run_ns, std::uint64_t way_ns) {
  if (run_ns >= kWorth * way_ns) {
    rest_ns.store(0, std::memory_order_relaxed);
    return;
  }
  std::uint64_t rest = std::clamp(2 * rest_ns.load(), kFirstRestNs, kLongestRestNs);
  rest_ns.store(rest, std::memory_order_relaxed);
  rest_until_ns.store(now_ns() + rest, std::memory_order_relaxed);
}

// Where all threads of this node are busy in tasks of theirs, and other nodes idle.
void lend_now_and_then() {
  Mail& own = own_mail();
  if (load_own(own.idle) == 0 || !has_queued()) return;
  if (load_own(own.available) == 0 && !lend_once(own)) return;
  report_tasks(own);
}

}  // namespace

void* make_mails() {
  return terrane_program_homed_memory(terrane_program_nodes() * terrane_program_page_bytes(),
                                      kProgramCyclic, 0);
}

void use_mails(void* memory) {
  mails = static_cast<std::byte*>(memory);
  mail_bytes = terrane_program_page_bytes();
  is_spread = terrane_program_is_spread();
  own_page = mails == nullptr ? nullptr : &mail_of(terrane_program_node());
  if (own_page == nullptr) return;
  static const bool watches = (terrane_program_repeat(lend_now_and_then, kLendEveryUs), true);
  static_cast<void>(watches);
}

bool may_tasks_move(std::uint32_t nodes) { return nodes > 1 && nodes <= kMostNodes; }

void lend_tasks(bool waits) {
  Mail& own = own_mail();
  bool is_wanted = load_own(own.idle) != 0, is_lent = taken_places() != 0;
  if (is_spread || is_lent || loans_here.load(std::memory_order_relaxed) != 0) serve_now_and_then();
  if (!is_wanted && !is_lent) return;
  if (load_own(own.available) == 0 && (is_wanted || waits || queued_here() >= kMany)) {
    if (!lend_once(own)) return;
  }
  if (is_wanted && load_own(own.available) != 0) report_tasks(own);
}

Task* take_lent(const Task* of) {
  Mail& own = own_mail();
  if (load_own(own.available) == 0) return nullptr;
  Task* found = nullptr;
  {
    Hold hold(stock_busy);
    for_bits(load_own(own.available), [&](std::uint32_t place) {
      Task* task = stock[place];
      if (found != nullptr || !are_descendants(task, of)) return;
      if ((keep_bits(own.available, ~bit(place)) & bit(place)) == 0) return;
      used.fetch_and(~bit(place), std::memory_order_release);
      found = task;
    });
  }
  if (found == nullptr) return nullptr;
  put_back(std::exchange(found->next, nullptr));
  return found;
}

void take_back() {
  Mail& own = own_mail();
  if (load_own(own.done) == 0) return;
  for_bits(keep_bits(own.done, 0), [&](std::uint32_t place) {
    pass(own.locks[place]);
    Task* task = stock[place];
    {
      Hold hold(stock_busy);  // no thread looks at the task any more
      used.fetch_and(~bit(place), std::memory_order_release);
    }
    finish(task);
  });
}

bool borrow(const Task* of) {
  if (of != nullptr && (taken_places() == 0 || !is_lent(of, 0))) return false;
  if (now_ns() < rest_until_ns.load(std::memory_order_relaxed)) return false;
  if (is_borrowing.exchange(true, std::memory_order_acquire)) return false;
  Found found = look(of);
  is_borrowing.store(false, std::memory_order_release);
  if (found.task == nullptr) return false;
  Mail& from = mail_of(found.node);
  pass(from.locks[found.place]);
  std::uint64_t begun_ns = now_ns();
  loans_here.fetch_add(1, std::memory_order_relaxed);
  run_loan(found.task);
  loans_here.fetch_sub(1, std::memory_order_relaxed);
  std::uint64_t ended_ns = now_ns();
  pass(from.locks[found.place]);
  add_bits(from.done, bit(found.place));
  rest_after(ended_ns - begun_ns, begun_ns - found.from_ns + now_ns() - ended_ns);
  return true;
}

void announce_quiet(std::uint64_t barrier, bool had_tasks) {
  std::uint32_t self = terrane_program_node();
  std::uint64_t word = 2 * barrier + (had_tasks ? 1 : 0);
  for (std::uint32_t node = 0; node < terrane_program_nodes(); ++node)
    if (node != self) terrane_program_atomic(kProgramStore, &mail_of(node).quiet[self], word);
}

bool is_all_quiet(std::uint64_t barrier) {
  std::uint32_t self = terrane_program_node();
  for (std::uint32_t node = 0; node < terrane_program_nodes(); ++node)
    if (node != self && load_own(own_mail().quiet[node]) / 2 < barrier) return false;
  next_barrier = barrier + 1;
  return true;
}

bool any_had_tasks(std::uint64_t barrier) {
  for (std::uint32_t node = 0; node < terrane_program_nodes(); ++node)
    if (load_own(own_mail().quiet[node]) == 2 * barrier + 1) return true;
  return false;
}

}  // namespace terrane::frontend::omp
