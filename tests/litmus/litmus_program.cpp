// Runs the litmus tests on a job of four nodes, a thread of the test on each: each test many times,
// with other homes, copies and delays each time. Node 0 prints a line a test, and "good" if no
// forbidden outcome came and each weak one that can show was seen.
//
//   terrane run -n 4 litmus_program [ROUNDS [NAME]]
#include <sched.h>
#include <terrane/pages.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "base/prng.h"
#include "litmus.h"
#include "platform/wait.h"

namespace {

using namespace terrane::litmus;

constexpr std::uint64_t kPage = 4096;
constexpr int kPlacements = 6;             // sets of variables with homes of their own
constexpr std::uint32_t kMostTries = 500;  // times the rounds, until a weak outcome is seen

struct Results {
  std::uint64_t registers[kMostThreads][512];  // a page each
  std::uint64_t last[512];                     // the variables in the end
};

volatile std::uint64_t* variables[2][kPlacements]
                                 [kVariables];  // second: with sequential consistency
volatile Results* results;
volatile std::uint64_t* verdict;  // node 0's: whether to go on with the test

void* shared(std::uint64_t bytes, terrane_homes homes, std::uint32_t home,
             bool sequential = false) {
  terrane_alloc_options options{};
  options.homes = homes;
  options.home = home;
  options.name = "litmus";
  if (sequential) options.protocol = TERRANE_PROTOCOL_SC;
  void* address = terrane_alloc_all(bytes, &options);
  if (address != nullptr) return address;
  std::fprintf(stderr, "litmus: %s\n", terrane_error());
  std::exit(1);
}

// Each variable on a page of its own with a home of its own, all on one page, or homes that move.
void place_variables(bool sequential) {
  for (int p = 0; p < kPlacements; ++p) {
    auto* together =
        p == 0 ? static_cast<std::uint64_t*>(shared(kPage, TERRANE_HOMES_EXPLICIT, 1, sequential))
               : nullptr;
    for (int v = 0; v < kVariables; ++v) {
      auto home = static_cast<std::uint32_t>((v + p) % terrane_nodes());
      auto homes = p == 1 ? TERRANE_HOMES_FIRST_TOUCH : TERRANE_HOMES_EXPLICIT;
      variables[sequential][p][v] =
          together ? together + v
                   : static_cast<std::uint64_t*>(shared(kPage, homes, home, sequential));
    }
  }
}

// A round of a test: its objects have numbers of their own, so nothing has to be reset.
struct Round {
  std::uint32_t number;
  volatile std::uint64_t** variables;
  std::uint32_t object(int of_test) const {
    return number * 4 + static_cast<std::uint32_t>(of_test);
  }
};

void perform(const Op& op, const Round& round, volatile std::uint64_t* registers) {
  std::uint32_t object = round.object(op.object);
  // What a condition is about, under its lock.
  volatile std::uint64_t& ready = results->last[kVariables + 1];
  switch (op.kind) {
    case 'W':
      __atomic_store_n(round.variables[op.object], static_cast<std::uint64_t>(op.value),
                       __ATOMIC_SEQ_CST);
      break;
    case 'R':
      registers[op.value] = __atomic_load_n(round.variables[op.object], __ATOMIC_SEQ_CST);
      break;
    case 'I':
      registers[op.value] =
          __atomic_fetch_add(round.variables[op.object], std::uint64_t{1}, __ATOMIC_SEQ_CST);
      break;
    case 'L':
      terrane_lock(object);
      break;
    case 'U':
      terrane_unlock(object);
      break;
    case 'B':
      terrane_barrier_threads(1, 1);
      break;
    case 'S':
      terrane_flag_set(object);
      break;
    case 'A':
      terrane_flag_wait(object);
      break;
    case 'C':
      terrane_counter_fetch(object, TERRANE_COUNTER_ADD, 1, nullptr);
      break;
    case 'K':
      terrane_counter_wait(object, op.value);
      break;
    case 'P':
      terrane_semaphore_post(object, 1);
      break;
    case 'V':
      terrane_semaphore_wait(object);
      break;
    case 'N':
      while (ready != round.number) terrane_condition_wait(object, object);
      break;
    case 'M':
      ready = round.number;
      terrane_condition_signal(object);
      break;
    default:
      break;
  }
}

void delay(terrane::base::Prng& rng) {
  for (std::uint32_t i = rng.below(4) == 0 ? rng.below(20'000) : rng.below(50); i > 0; --i)
    asm volatile("" ::: "memory");
}

// Long enough for others to write and to give what they wrote away.
void stay_behind() {
  constexpr std::uint64_t kNs = 500'000;
  std::uint64_t until_ns = terrane::platform::now_ns() + kNs;
  while (terrane::platform::now_ns() < until_ns) sched_yield();
}

bool holds(const std::vector<Term>& outcome) {
  for (const Term& term : outcome) {
    std::uint64_t value =
        term.thread < 0 ? results->last[term.index] : results->registers[term.thread][term.index];
    if (value != term.value) return false;
  }
  return true;
}

class Runner {
 public:
  // The same random numbers on every node, but for delays and copies.
  explicit Runner(std::uint32_t rounds)
      : rounds_(rounds), self_(terrane_node()), own_(static_cast<std::uint64_t>(self_) + 99) {}

  // Whether the test came out as it must.
  bool run(const Test& test, bool sequential) {
    auto outcome = parse_outcome(test);
    weak_ = test.verdict == Test::kSeen;
    sequential_ = sequential;
    auto threads = static_cast<int>(test.threads.size());
    std::vector<Op> ops;
    if (self_ < threads) ops = parse_thread(test, test.threads[static_cast<std::size_t>(self_)]);
    bool barriers = test.threads[0].find('B') != std::string_view::npos;
    if (self_ >= threads && barriers) ops.push_back({'B', 0, 0});
    std::uint32_t seen = 0, done = 0;
    for (bool goes_on = true; goes_on; ++done) {
      seen += round(ops, outcome, threads);
      bool enough = weak_ ? seen > 0 && done >= rounds_ / 4 : seen > 0 || done >= rounds_;
      if (self_ == 0) *verdict = !enough && done < rounds_ * kMostTries;
      terrane_barrier();
      goes_on = *verdict != 0;
    }
    if (self_ != 0) return true;
    bool right = (seen > 0) == weak_;
    std::printf("%-24.*s %6" PRIu32 " times, %s %" PRIu32 " times: %s\n",
                static_cast<int>(test.name.size()), test.name.data(), done,
                weak_ ? "weak" : "forbidden", seen, right ? "right" : "WRONG");
    return right;
  }

 private:
  // What the thread loads after something else, of which a copy may grow old meanwhile; or -1.
  static int looked_at_last(const std::vector<Op>& ops) {
    for (std::size_t i = ops.size(); i-- > 1;)
      if (ops[i].kind == 'R') return ops[i].object;
    return -1;
  }

  // Whether the outcome came; node 0 alone knows.
  bool round(const std::vector<Op>& ops, const std::vector<Term>& outcome, int threads) {
    Round round{++number_, variables[sequential_][shared_.below(kPlacements)]};
    if (self_ == static_cast<int>(shared_.below(static_cast<std::uint32_t>(terrane_nodes()))))
      for (int v = 0; v < kVariables; ++v) *round.variables[v] = 0;
    volatile std::uint64_t* registers = results->registers[self_];
    for (int r = 0; r < kRegisters; ++r) registers[r] = 0;
    terrane_barrier();
    for (int v = 0; v < kVariables; ++v)
      if (own_.below(2) == 0) static_cast<void>(*round.variables[v]);  // a copy that may grow old
    terrane_barrier_threads(2, 1);
    bool ages = weak_ && shared_.below(2) == 0;
    for (int v = 0; v < kVariables; ++v)
      if (ages ? v == looked_at_last(ops) : own_.below(2) == 0)
        static_cast<void>(*round.variables[v]);
    bool late_half = shared_.below(weak_ ? 2 : 4) == 0;  // more often where copies are to grow old
    for (int t = threads / 2; late_half && t <= self_ && self_ < threads; ++t) stay_behind();
    delay(own_);
    for (const Op& op : ops) {
      perform(op, round, registers);
      if (own_.below(3) == 0) delay(own_);
    }
    terrane_barrier();
    if (self_ == 0)
      for (int v = 0; v < kVariables; ++v) results->last[v] = *round.variables[v];
    return self_ == 0 && threads > 0 && holds(outcome);
  }

  std::uint32_t rounds_;
  int self_;
  bool weak_ = false;  // the test is one of a weak outcome
  bool sequential_ = false;
  std::uint32_t number_ = 0;
  terrane::base::Prng shared_{1};
  terrane::base::Prng own_;
};

}  // namespace

int main(int argc, char** argv) {
  auto rounds = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 100);
  if (terrane_init() != TERRANE_OK || terrane_nodes() != kMostThreads) {
    std::fprintf(stderr, "litmus: a job of %d nodes is needed\n", kMostThreads);
    return 2;
  }
  place_variables(false);
  place_variables(true);
  results = static_cast<Results*>(shared(sizeof(Results), TERRANE_HOMES_CYCLIC, 0));
  verdict = static_cast<std::uint64_t*>(shared(kPage, TERRANE_HOMES_EXPLICIT, 0));
  Runner runner(rounds);
  bool good = true;
  for (bool sequential : {false, true})
    for (const Test& test : sequential ? sequential_tests() : tests())
      if (argc < 3 || test.name == argv[2]) good &= runner.run(test, sequential);
  terrane_finalize();
  if (good) std::puts("good");
  return good ? 0 : 1;
}
