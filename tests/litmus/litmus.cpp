#include "litmus.h"

#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace terrane::litmus {
namespace {

[[noreturn]] void bad(const Test& test, const std::string& word) {
  std::fprintf(stderr, "litmus: %s: what is '%s'?\n", std::string(test.name).c_str(), word.c_str());
  std::exit(4);
}

int digit(const Test& test, const std::string& word, std::size_t at) {
  if (at >= word.size() || word[at] < '0' || word[at] > '9') bad(test, word);
  return word[at] - '0';
}

int letter(const Test& test, const std::string& word, std::size_t at, char first, int count) {
  if (at >= word.size() || word[at] < first || word[at] >= first + count) bad(test, word);
  return word[at] - first;
}

}  // namespace

std::vector<Op> parse_thread(const Test& test, std::string_view text) {
  std::vector<Op> ops;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    Op op{word[0], 0, 0};
    switch (op.kind) {
      case 'W':
        op.object = letter(test, word, 1, 'x', kVariables);
        op.value = digit(test, word, 2);
        break;
      case 'R':
      case 'I':
        op.object = letter(test, word, 1, 'x', kVariables);
        op.value = letter(test, word, 2, 'a', kRegisters);
        break;
      case 'K':
        op.object = digit(test, word, 1);
        op.value = digit(test, word, 2);
        break;
      case 'B':
        break;
      default:
        if (std::string_view("LUSACPVNM").find(op.kind) == std::string_view::npos) bad(test, word);
        op.object = digit(test, word, 1);
    }
    ops.push_back(op);
  }
  return ops;
}

std::vector<Term> parse_outcome(const Test& test) {
  std::vector<Term> terms;
  std::istringstream words{std::string(test.outcome)};
  for (std::string word; words >> word;) {
    bool of_thread = word[0] >= '0' && word[0] <= '9';
    Term term{-1, 0, 0};
    if (of_thread) {
      term = {digit(test, word, 0), letter(test, word, 1, 'a', kRegisters), 0};
    } else {
      term.index = letter(test, word, 0, 'x', kVariables);
    }
    std::size_t equals = of_thread ? 2 : 1;
    if (word.size() != equals + 2 || word[equals] != '=') bad(test, word);
    term.value = static_cast<std::uint64_t>(digit(test, word, equals + 1));
    terms.push_back(term);
  }
  return terms;
}

// For regions with sequential consistency: what no order of the operations gives never comes.
const std::vector<Test>& sequential_tests() {
  static const std::vector<Test> all = {
      {"SC-MP", {"Wx1 Wy1", "Rya Rxb"}, "1a=1 1b=0"},
      {"SC-SB", {"Wx1 Rya", "Wy1 Rxa"}, "0a=0 1a=0"},
      {"SC-SB-three", {"Wx1 Rya", "Wy1 Rza", "Wz1 Rxa"}, "0a=0 1a=0 2a=0"},
      {"SC-LB", {"Rxa Wy1", "Rya Wx1"}, "0a=1 1a=1"},
      {"SC-WRC", {"Wx1", "Rxa Wy1", "Rya Rxb"}, "1a=1 2a=1 2b=0"},
      {"SC-RWC", {"Wx1", "Rxa Ryb", "Wy1 Rxa"}, "1a=1 1b=0 2a=0"},
      {"SC-ISA2", {"Wx1 Wy1", "Rya Wz1", "Rza Rxb"}, "1a=1 2a=1 2b=0"},
      {"SC-IRIW", {"Wx1", "Wy1", "Rxa Ryb", "Rya Rxb"}, "2a=1 2b=0 3a=1 3b=0"},
      {"SC-CoRR", {"Wx1 Wx2", "Rxa Rxb"}, "1a=2 1b=1"},
      {"SC-CoRR-two-readers", {"Wx1", "Wx2", "Rxa Rxb", "Rxa Rxb"}, "2a=1 2b=2 3a=2 3b=1"},
      {"SC-CoRW", {"Rxa Wx1", "Rxa Wx2"}, "0a=2 1a=1"},
      {"SC-2+2W", {"Wx1 Wy2", "Wy1 Wx2"}, "x=1 y=1"},
      {"SC-S", {"Wx2 Wy1", "Rya Wx1"}, "1a=1 x=2"},
      {"SC-R", {"Wx1 Wy1", "Wy2 Rxa"}, "y=2 1a=0"},
      {"SC-two-increments", {"Ixa", "Ixa"}, "0a=0 1a=0"},
      {"SC-increments-order", {"Ixa Iyb", "Iya Ixb"}, "0b=0 1b=0"},
      {"SC-Dekker", {"Ixa Ryb", "Iya Rxb"}, "0b=0 1b=0"},
  };
  return all;
}

// The names are the field's: message passing, store and load buffering, write-to-read causality,
// and so on (Sarkar et al., Understanding POWER Multiprocessors, PLDI 2011).
const std::vector<Test>& tests() {
  static const std::vector<Test> all = {
      // Message passing: earlier writes are seen by a thread that has seen the later one.
      {"MP+flag", {"Wx1 S1", "A1 Rxa"}, "1a=0"},
      {"MP+counter", {"Wx1 C1", "K11 Rxa"}, "1a=0"},
      {"MP+two-counts", {"Wx1 C1", "Wy1 C1", "K12 Rxa Ryb"}, "2a=0"},
      {"MP+second-of-two-counts", {"Wx1 C1", "Wy1 C1", "K12 Rxa Ryb"}, "2b=0"},
      {"MP+semaphore", {"Wx1 P1", "V1 Rxa"}, "1a=0"},
      {"MP+condition", {"L1 Wx1 M1 U1", "L1 N1 Rxa U1"}, "1a=0"},
      {"MP+barrier", {"Wx1 B", "B Rxa"}, "1a=0"},
      {"MP+locks", {"L1 Wx1 Wy1 U1", "L1 Rya Rxb U1"}, "1a=1 1b=0"},
      {"MP+locks-inside-out", {"Wx1 L1 Wy1 U1", "L1 Rya U1 Rxb"}, "1a=1 1b=0"},
      {"MP+two-locks", {"Wx1 L1 Wy1 U1 L2 Wz1 U2", "L2 Rza U2 Rxb"}, "1a=1 1b=0"},
      {"MP+flag-same-page-later", {"Wx1 S1 Wx2", "A1 Rxa"}, "1a=0"},
      // Store buffering: of two threads, the one that gives way sees the other's store, or the
      // other sees its own.
      {"SB+locks", {"L1 Wx1 U1 L1 Rya U1", "L1 Wy1 U1 L1 Rxa U1"}, "0a=0 1a=0"},
      {"SB+barrier", {"Wx1 B Rya", "Wy1 B Rxa"}, "0a=0"},
      {"SB+barrier-other", {"Wx1 B Rya", "Wy1 B Rxa"}, "1a=0"},
      {"SB+flags", {"Wx1 S1 A2 Rya", "Wy1 S2 A1 Rxa"}, "0a=0"},
      // Load buffering: a load never sees what is stored after it.
      {"LB", {"Rxa Wy1", "Rya Wx1"}, "0a=1 1a=1"},
      {"LB+locks", {"L1 Rxa U1 L2 Wy1 U2", "L2 Rya U2 L1 Wx1 U1"}, "0a=1 1a=1"},
      {"LB+barrier", {"Rxa B Wy1", "Rya B Wx1"}, "0a=1"},
      // Causality through a third thread.
      {"WRC+flags", {"Wx1 S1", "A1 Rxa Wy1 S2", "A2 Ryb Rxa"}, "2b=1 2a=0"},
      {"WRC+locks", {"L1 Wx1 U1", "L1 Rxa U1 L2 Wy1 U2", "L2 Rya U2 Rxb"}, "1a=1 2a=1 2b=0"},
      {"WRC+flag+semaphore", {"Wx1 S1", "A1 P1", "V1 Rxa"}, "2a=0"},
      {"WRC+counter+lock", {"Wx1 C1", "K11 L1 Wy1 U1", "L1 Rya U1 Rxb"}, "2a=1 2b=0"},
      {"ISA2+flags", {"Wx1 S1", "A1 S2", "A2 S3", "A3 Rxa"}, "3a=0"},
      {"ISA2+mixed", {"Wx1 P1", "V1 C1", "K11 S1", "A1 Rxa"}, "3a=0"},
      {"ISA2+locks", {"Wx1 L1 Wy1 U1", "L1 Rya U1 L2 Wz1 U2", "L2 Rza U2 Rxb"}, "1a=1 2a=1 2b=0"},
      {"RWC+flag+locks", {"Wx1 S1", "A1 Rxa L1 Ryb U1", "L1 Wy1 U1 A1 Rxa"}, "2a=0"},
      // Two readers agree on the order of two writers who both gave their locks back.
      {"IRIW+locks",
       {"L1 Wx1 U1", "L2 Wy1 U2", "L1 Rxa U1 L2 Ryb U2", "L2 Rya U2 L1 Rxb U1"},
       "2a=1 2b=0 3a=1 3b=0"},
      {"IRIW+barrier", {"Wx1 B", "Wy1 B", "B Rxa Ryb", "B Rya Rxb"}, "2b=0"},
      // One variable: its stores have one order.
      {"CoRR", {"Wx1", "Rxa Rxb"}, "1a=1 1b=0"},
      {"CoRR+locks", {"L1 Wx1 U1", "L1 Rxa U1 L1 Rxb U1"}, "1a=1 1b=0"},
      {"CoRR+two-readers",
       {"L1 Wx1 U1", "L1 Wx2 U1", "L1 Rxa U1 L1 Rxb U1", "L1 Rxa U1 L1 Rxb U1"},
       "2a=1 2b=2 3a=2 3b=1"},
      {"CoWW", {"Wx1 Wx2 S1", "A1 Rxa"}, "1a=1"},
      {"CoWR", {"Wx1 Rxa", "Wy1"}, "0a=0"},
      {"CoWR+locks", {"L1 Wx1 U1 L1 Rxa U1", "L1 Wx2 U1"}, "0a=0"},
      {"CoRW+flag", {"Rxa S1", "A1 Wx1"}, "0a=1"},
      // Two writers of two variables; S and R.
      {"2+2W+locks", {"L1 Wx1 Wy2 U1", "L1 Wy1 Wx2 U1"}, "x=1 y=1"},
      {"2+2W+locks-apart", {"L1 Wx1 U1 L2 Wy2 U2", "L2 Wy1 U2 L1 Wx2 U1"}, "x=1 y=1"},
      {"2+2W+barrier", {"Wx1 B Wy2", "Wy1 B Wx2"}, "x=1"},
      {"2+2W+flag", {"Wx1 Wy1 S1", "A1 Wx2 Wy2"}, "x=1"},
      {"S+flag", {"Wx2 S1", "A1 Wx1"}, "x=2"},
      {"S+locks", {"L1 Wx2 U1 L2 Wy1 U2", "L2 Rya U2 L1 Wx1 U1"}, "1a=1 x=2"},
      {"R+locks", {"L1 Wx1 U1 L2 Wy1 U2", "L2 Wy2 U2 L1 Rxa U1"}, "y=2 1a=0"},
      // Without synchronisation: what the model allows, and copies that live on do show.
      {"MP", {"Wx1 Wy1", "Rya Rxb"}, "1a=1 1b=0", Test::kSeen},
      {"SB", {"Wx1 Rya", "Wy1 Rxa"}, "0a=0 1a=0", Test::kSeen},
      {"IRIW", {"Wx1", "Wy1", "Rxa Ryb", "Rya Rxb"}, "2a=1 2b=0 3a=1 3b=0", Test::kSeen},
      {"WRC", {"Wx1", "Rxa Wy1", "Rya Rxb"}, "1a=1 2a=1 2b=0", Test::kSeen},
      {"MP+one-lock", {"L1 Wx1 Wy1 U1", "Rya Rxb"}, "1a=1 1b=0", Test::kSeen},
      {"RWC", {"Wx1", "Rxa Ryb", "Wy1 Rxa"}, "1a=1 1b=0 2a=0", Test::kSeen},
  };
  return all;
}

}  // namespace terrane::litmus
