// Sorts more records than one node's memory holds, in place, and checks the result.
//
// Each node fills and sorts a part. Then neighbours meet: of two sorted parts, one read forwards
// and the other backwards, the smaller records go to the first part and the larger ones to the
// second, and each sorts its own again. After as many rounds as there are nodes all is in order.
//
// Usage: terrane run -n 4 --memory 64M sort_large [MIB]
#include <terrane/pages.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace {

struct Record {
  std::uint64_t key;
  std::uint64_t load[7];
};
bool operator<(const Record& a, const Record& b) { return a.key < b.key; }

[[noreturn]] void die(const char* what) {
  std::fprintf(stderr, "sort_large: %s: %s\n", what, terrane_error());
  std::exit(1);
}

// The i-th key: as good as random, and known without asking anybody.
std::uint64_t key_at(std::uint64_t i) {
  std::uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

class Sort {
 public:
  Sort(Record* records, std::uint64_t part)
      : part_(part),
        node_(static_cast<std::uint64_t>(terrane_node())),
        nodes_(static_cast<std::uint64_t>(terrane_nodes())),
        mine_(records + node_ * part) {}

  void fill() {
    for (std::uint64_t i = 0; i < part_; ++i) {
      mine_[i].key = key_at(node_ * part_ + i);
      for (std::uint64_t j = 0; j < 7; ++j) mine_[i].load[j] = mine_[i].key + j;
    }
  }

  void run() {
    std::sort(mine_, mine_ + part_);
    for (std::uint64_t round = 0; round < nodes_; ++round) {
      terrane_barrier();
      exchange(round);
      terrane_barrier();
      std::sort(mine_, mine_ + part_);
    }
    terrane_barrier();
  }

  // Whether the records are in order, whole, and still those that were filled in; on every node.
  bool is_right() {
    std::uint64_t sums[] = {0, 0, 0};
    for (std::uint64_t i = 0; i < part_; ++i) {
      std::uint64_t key = mine_[i].key, filled = key_at(node_ * part_ + i);
      sums[0] += filled - key;
      sums[1] += filled * filled - key * key;
      bool last = node_ + 1 == nodes_ && i + 1 == part_;
      sums[2] += !last && mine_[i + 1] < mine_[i];
      for (std::uint64_t j = 0; j < 7; ++j) sums[2] += mine_[i].load[j] != key + j;
    }
    terrane_barrier_reduce(1, 1, TERRANE_SUM, TERRANE_UINT64, sums, sums, 3);
    return sums[0] == 0 && sums[1] == 0 && sums[2] == 0;
  }

 private:
  // Even and odd pairs of neighbours in turn. Each of the two does half of what they have to do.
  void exchange(std::uint64_t round) {
    bool first = node_ % 2 == round % 2;
    if ((first && node_ + 1 == nodes_) || (!first && node_ == 0)) return;
    Record* low = first ? mine_ : mine_ - part_;
    Record* high = low + 2 * part_ - 1;
    std::uint64_t from = first ? 0 : part_ / 2;
    std::uint64_t to = first ? part_ / 2 : part_;
    for (std::uint64_t i = from; i < to; ++i)
      if (*(high - i) < low[i]) std::swap(low[i], *(high - i));
  }

  std::uint64_t part_;  // records of each node
  std::uint64_t node_, nodes_;
  Record* mine_;
};

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 192;
  if (terrane_init() != TERRANE_OK) die("terrane_init");
  std::uint64_t bytes = mib << 20;
  auto* records = static_cast<Record*>(terrane_alloc_all(bytes, nullptr));
  if (records == nullptr) die("terrane_alloc_all");
  Sort sort(records, bytes / sizeof(Record) / static_cast<std::uint64_t>(terrane_nodes()));

  terrane_barrier();
  auto begun = std::chrono::steady_clock::now();
  sort.fill();
  sort.run();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
  bool right = sort.is_right();

  terrane_counters counters{};
  terrane_read_counters(&counters);
  std::uint64_t evicted = counters.pages_evicted;
  terrane_barrier_reduce(1, 1, TERRANE_SUM, TERRANE_UINT64, &evicted, &evicted, 1);
  if (terrane_node() == 0) {
    std::printf("%llu MiB on %d nodes, sorted in %.3f s, %llu copies evicted: %s\n",
                static_cast<unsigned long long>(mib), terrane_nodes(), took.count(),
                static_cast<unsigned long long>(evicted), right ? "right" : "WRONG");
  }
  terrane_finalize();
  return right ? 0 : 1;
}
