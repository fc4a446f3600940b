// An index of the k-mers of a DNA sequence, larger than the memory of one machine: a hash table
// that says of each word of 31 letters its first place and how often it occurs. A program that
// knows nothing of Terrane.
//   c++ -O2 -pthread bigtable.cpp -o bigtable
//   terrane threads -n 2 --memory 256M ./bigtable 400
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kLetters = 31;  // of a word, two bits each
constexpr std::uint64_t kWordMask = (std::uint64_t{1} << (2 * kLetters)) - 1;
constexpr std::size_t kMib = 1 << 20;

struct Slot {
  std::uint64_t word_and_one;  // 0: the slot is empty
  std::uint64_t first : 40;    // the first place of the word in the sequence
  std::uint64_t count : 24;
};

struct Options {
  std::size_t mib = 48;
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  bool main_fills = true;
  std::size_t lookups = 100'000;  // of each thread
  std::size_t slice_mib = 8;
};

// What a thread found; a cache line each.
struct alignas(64) Found {
  std::uint64_t words = 0, places = 0, sum = 0, wrong = 0;
};

// Any bit of the result depends on every bit of the number (the end of MurmurHash3).
std::uint64_t mix(std::uint64_t number) {
  number = (number ^ (number >> 33)) * 0xff51afd7ed558ccdU;
  number = (number ^ (number >> 33)) * 0xc4ceb9fe1a85ec53U;
  return number ^ (number >> 33);
}

// Random letters; every eighth block of 1000 repeats an earlier one, so that words occur again.
std::uint8_t letter(std::size_t place) {
  std::size_t block = place / 1000;
  while (block % 8 == 7) block /= 2;
  return mix(block * 1000 + place % 1000) & 3;
}

std::uint64_t word_at(const std::vector<std::uint8_t>& sequence, std::size_t place) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < kLetters; ++i) word = word << 2 | sequence[place + i];
  return word;
}

// Calls visit(word, place) for each word of the sequence.
template <typename Visit>
void each_word(const std::vector<std::uint8_t>& sequence, Visit visit) {
  std::uint64_t word = 0;
  for (std::size_t end = 0; end < sequence.size(); ++end) {
    word = (word << 2 | sequence[end]) & kWordMask;
    if (end + 1 >= kLetters) visit(word, end + 1 - kLetters);
  }
}

// Slices of equal size; a word belongs to one slice, and only the thread that fills the slice
// writes there. So the table needs no lock.
class Table {
 public:
  Table(std::size_t mib, std::size_t slice_mib)
      : slices_(std::max<std::size_t>(1, mib / slice_mib)),
        slice_slots_(mib * kMib / sizeof(Slot) / slices_),
        slots_(slices_ * slice_slots_) {}

  std::size_t slices() const { return slices_; }
  std::size_t size() const { return slots_.size(); }

  void fill(std::size_t slice, const std::vector<std::uint8_t>& sequence) {
    each_word(sequence, [&](std::uint64_t word, std::size_t place) {
      if (slice_of(mix(word)) == slice) add(word, place);
    });
  }

  // The slot of the word; null if the sequence has no such word.
  const Slot* find(std::uint64_t word) const {
    const Slot* slot = &slots_[place_of(word)];
    return slot->word_and_one != 0 ? slot : nullptr;
  }

  // Adds up what a slice holds.
  void sweep(std::size_t slice, Found& found) const {
    const Slot* slot = &slots_[slice * slice_slots_];
    for (const Slot* end = slot + slice_slots_; slot != end; ++slot) {
      if (slot->word_and_one == 0) continue;
      ++found.words;
      found.places += slot->count;
      found.sum += slot->count * mix(slot->word_and_one - 1);
    }
  }

 private:
  std::size_t slice_of(std::uint64_t hash) const { return (hash >> 32) * slices_ >> 32; }

  // Where the word is, or the empty slot where it belongs.
  std::size_t place_of(std::uint64_t word) const {
    std::uint64_t hash = mix(word);
    std::size_t first = slice_of(hash) * slice_slots_;
    std::size_t at = (hash & 0xffffffff) * slice_slots_ >> 32;
    for (std::size_t tries = 0; tries < slice_slots_; ++tries) {
      const Slot& slot = slots_[first + at];
      if (slot.word_and_one == 0 || slot.word_and_one == word + 1) return first + at;
      if (++at == slice_slots_) at = 0;
    }
    std::fprintf(stderr, "bigtable: a slice of the table is full\n");
    std::exit(1);
  }

  void add(std::uint64_t word, std::size_t place) {
    Slot& slot = slots_[place_of(word)];
    if (slot.word_and_one == 0) slot = {word + 1, place, 0};
    ++slot.count;
  }

  std::size_t slices_, slice_slots_;
  std::vector<Slot> slots_;
};

// work(t) for each t below the number of threads, in a thread each.
template <typename Work>
void in_threads(std::size_t threads, Work work) {
  std::vector<std::thread> team;
  for (std::size_t t = 0; t < threads; ++t) team.emplace_back(work, t);
  for (std::thread& thread : team) thread.join();
}

// Words at random places of the sequence, and as many random words, of which the table has none.
void look_up(const Table& table, const std::vector<std::uint8_t>& sequence, std::size_t lookups,
             std::size_t self, Found& found) {
  std::size_t places = sequence.size() - kLetters + 1;
  for (std::size_t i = 0; i < lookups; ++i) {
    std::uint64_t random = mix(self << 40 | i);
    std::size_t place = random % places;
    std::uint64_t word = word_at(sequence, place);
    const Slot* slot = table.find(word);
    if (slot == nullptr || slot->first > place || word_at(sequence, slot->first) != word)
      ++found.wrong;
    slot = table.find(mix(random) & kWordMask);
    if (slot != nullptr && word_at(sequence, slot->first) != (mix(random) & kWordMask))
      ++found.wrong;
  }
}

// Prints how long a part of the run took, on stderr: the output is the same in every run.
class Watch {
 public:
  void lap(const char* part) {
    auto now = std::chrono::steady_clock::now();
    std::fprintf(stderr, "%s %.3f s\n", part, std::chrono::duration<double>(now - last_).count());
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

int run(const Options& options) {
  Watch watch;
  Table table(options.mib, options.slice_mib);
  std::vector<std::uint8_t> sequence(table.size() / 8 * 5);  // so the table becomes 5/8 full
  for (std::size_t place = 0; place < sequence.size(); ++place) sequence[place] = letter(place);
  Found right;
  each_word(sequence, [&](std::uint64_t word, std::size_t) {
    ++right.places;
    right.sum += mix(word);
  });
  watch.lap("sequence");

  auto fill = [&](std::size_t first, std::size_t step) {
    for (std::size_t slice = first; slice < table.slices(); slice += step)
      table.fill(slice, sequence);
  };
  if (options.main_fills)
    fill(0, 1);
  else
    in_threads(options.threads, [&](std::size_t t) { fill(t, options.threads); });
  watch.lap("fill");

  std::vector<Found> found(options.threads);
  in_threads(options.threads,
             [&](std::size_t t) { look_up(table, sequence, options.lookups, t, found[t]); });
  watch.lap("lookups");
  in_threads(options.threads, [&](std::size_t t) {
    for (std::size_t slice = t; slice < table.slices(); slice += options.threads)
      table.sweep(slice, found[t]);
  });
  watch.lap("sweep");

  Found all;
  for (const Found& part : found) {
    all.words += part.words;
    all.places += part.places;
    all.sum += part.sum;
    all.wrong += part.wrong;
  }
  bool good = all.wrong == 0 && all.places == right.places && all.sum == right.sum;
  std::printf("%llu words at %llu places, sum %016llx: %s\n",
              static_cast<unsigned long long>(all.words),
              static_cast<unsigned long long>(all.places), static_cast<unsigned long long>(all.sum),
              good ? "good" : "wrong");
  return good ? 0 : 1;
}

// Takes the number from the argument if there is one; false if it is none, or 0.
bool read_number(int argc, char** argv, int at, std::size_t& number) {
  if (at >= argc) return true;
  char* end = nullptr;
  number = std::strtoull(argv[at], &end, 10);
  return argv[at][0] >= '1' && argv[at][0] <= '9' && *end == '\0' && number < (1U << 30);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  bool good = argc <= 6 && read_number(argc, argv, 1, options.mib) &&
              read_number(argc, argv, 2, options.threads) &&
              read_number(argc, argv, 4, options.lookups) &&
              read_number(argc, argv, 5, options.slice_mib);
  if (argc > 3) {
    options.main_fills = std::strcmp(argv[3], "main") == 0;
    good = good && (options.main_fills || std::strcmp(argv[3], "all") == 0);
  }
  if (!good) {
    std::fprintf(stderr, "usage: bigtable [MIB [THREADS [main|all [LOOKUPS [SLICE_MIB]]]]]\n");
    return 2;
  }
  try {
    return run(options);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "bigtable: no memory for a table of %zu MiB\n", options.mib);
    return 1;
  }
}
