#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Litmus tests: a few stores and loads of a few threads, and an outcome that the memory model
// forbids, or allows although no order of the operations one after the other would give it.
namespace terrane::litmus {

constexpr int kVariables = 3;  // x, y, z
constexpr int kRegisters = 3;  // a, b, c of each thread
constexpr int kMostThreads = 4;

// As a test is written: one string a thread, of words:
//   Wx1  stores 1 to x          Rxa  loads x into register a
//   Ixa  adds one to x by an instruction of the processor; a: what it was
//   L1   locks 1                U1   unlocks 1
//   B    a barrier of all       S1   sets flag 1          A1   waits for flag 1
//   C1   adds one to counter 1  K12  waits until counter 1 is at least 2
//   P1   posts to semaphore 1   V1   takes a unit of it
//   N1   waits for condition 1 with lock 1, which it holds, until M1
//   M1   makes what N1 waits for true, and signals; with lock 1
// An outcome: words such as 1a=0 (register a of thread 1 is 0) and z=2 (z in the end), all of which
// hold.
struct Test {
  std::string_view name;
  std::vector<std::string_view> threads;
  std::string_view outcome;
  enum Verdict : std::uint8_t { kForbidden, kSeen } verdict = kForbidden;
};

struct Op {
  char kind;
  int object;  // of W, R: the variable
  int value;   // of R: the register
};

struct Term {
  int thread;  // -1: a variable in the end
  int index;
  std::uint64_t value;
};

// These end the program with a word on the test where it is written wrongly.
std::vector<Op> parse_thread(const Test& test, std::string_view text);
std::vector<Term> parse_outcome(const Test& test);

const std::vector<Test>& tests();
// Of these the variables lie in regions with sequential consistency.
const std::vector<Test>& sequential_tests();

}  // namespace terrane::litmus
