// A hash map that many threads change at once: words are counted, looked up and taken out again. A
// program that knows nothing of Terrane.
//   c++ -O2 -pthread hash_map.cpp -o hash_map
//   terrane threads -n 2 ./hash_map 4 20000
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Chains of entries, a mutex for each stripe of chains; grows when chains become long.
template <typename Key, typename Value>
class Map {
 public:
  // The value after change(value), which begins as Value().
  template <typename Change>
  Value update(const Key& key, Change change) {
    if (size_.load(std::memory_order_relaxed) > 2 * chain_count_.load(std::memory_order_relaxed))
      grow();
    std::shared_lock table(table_);
    std::size_t at = place(key);
    std::lock_guard hold(stripes_[at % kStripes]);
    for (auto& entry : chains_[at]) {
      if (entry->key == key) return change(entry->value), entry->value;
    }
    chains_[at].push_back(std::make_unique<Entry>(Entry{key, Value()}));
    size_.fetch_add(1);
    return change(chains_[at].back()->value), chains_[at].back()->value;
  }

  std::optional<Value> find(const Key& key) {
    std::shared_lock table(table_);
    std::size_t at = place(key);
    std::lock_guard hold(stripes_[at % kStripes]);
    for (auto& entry : chains_[at]) {
      if (entry->key == key) return entry->value;
    }
    return std::nullopt;
  }

  bool erase(const Key& key) {
    std::shared_lock table(table_);
    std::size_t at = place(key);
    std::lock_guard hold(stripes_[at % kStripes]);
    auto& chain = chains_[at];
    for (auto& entry : chain) {
      if (entry->key != key) continue;
      entry.swap(chain.back());
      chain.pop_back();
      size_.fetch_sub(1);
      return true;
    }
    return false;
  }

  long size() const { return size_.load(); }
  std::size_t chains() const { return chains_.size(); }

 private:
  static constexpr std::size_t kStripes = 64;
  struct Entry {
    Key key;
    Value value;
  };
  using Chain = std::vector<std::unique_ptr<Entry>>;

  std::size_t place(const Key& key) const { return std::hash<Key>()(key) % chains_.size(); }

  void grow() {
    std::lock_guard table(table_);
    if (size_.load() <= 2 * static_cast<long>(chains_.size())) return;
    std::vector<Chain> before(chains_.size() * 4);
    before.swap(chains_);
    for (Chain& chain : before)
      for (auto& entry : chain) chains_[place(entry->key)].push_back(std::move(entry));
    chain_count_.store(static_cast<long>(chains_.size()));
  }

  std::shared_mutex table_;  // held alone by a thread that makes the table larger
  std::mutex stripes_[kStripes];
  std::vector<Chain> chains_ = std::vector<Chain>(kStripes);
  std::atomic<long> size_{0}, chain_count_{kStripes};
};

Map<std::string, long> words;
std::atomic<long> wrong{0};

std::string word(long number) { return "word " + std::to_string(number); }

// Every thread counts all words, each in another order; a word of its own comes and goes.
void work(int self, int threads, long count) {
  long first = count * self / threads;
  for (long i = 0; i < count; ++i) {
    words.update(word((first + i) % count), [](long& value) { ++value; });
    if (i % 16 != 0) continue;
    std::string own = "own word of " + std::to_string(self);
    words.update(own, [i](long& value) { value = i; });
    if (words.find(own) != i || !words.erase(own) || words.find(own)) ++wrong;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int threads =
      argc > 1 ? std::atoi(argv[1]) : static_cast<int>(std::thread::hardware_concurrency());
  long count = argc > 2 ? std::atol(argv[2]) : 20'000;
  if (threads < 1 || count < 1) {
    std::fprintf(stderr, "usage: hash_map [THREADS [WORDS]]: at least 1 of each\n");
    return 2;
  }
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(work, t, threads, count);
  for (std::thread& thread : team) thread.join();
  for (long i = 0; i < count; ++i)
    if (words.find(word(i)) != threads) ++wrong;
  bool good = wrong.load() == 0 && words.size() == count;
  std::printf("%ld words in %zu chains, counted by %d threads: %s\n", words.size(), words.chains(),
              threads, good ? "good" : "wrong");
  return good ? 0 : 1;
}
