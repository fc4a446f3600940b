// The rows of page coherence that one program can measure: each beside its floor, sampled in turn
// with it.
//
// Two nodes: node 0 measures, node 1 is the home of what it reads. Prints one line of key=value
// pairs a row: row, ours and floor (medians in nanoseconds), condition. bench/pages/bench_pages.py
// runs it and makes the table.
//
// Usage: terrane run -n 2 terrane_bench_pages_rows [--threads T] [--home polling|computing]
// [--rounds R] [--over shm|network]
//
// Over a network the floor of what needs a message is UCX's own request and reply, taken in the
// same condition: the server polls, or sleeps while its process computes.
#include <sched.h>
#include <terrane/pages.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "floors.h"
#include "pairwise_barrier.h"
#include "partner.h"
#include "platform/wait.h"

namespace {

using terrane::platform::now_ns;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kPages = 256;              // a sample is a mean over these
constexpr std::size_t kReplyBytes = kPage + 24;  // a page and the header before it
constexpr std::size_t kTracked = 4096;           // pages of the barrier row
constexpr std::size_t kScPages = 64;             // with sequential consistency

struct Options {
  unsigned threads = 1;
  bool home_computes = false;
  bool network = false;
  unsigned rounds = 25;
};

double median(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.empty() ? 0 : samples[samples.size() / 2];
}

// Memory that may be read before it is written, byte by byte, whatever the compiler thinks.
volatile std::uint8_t& byte(std::uint8_t* base, std::size_t at) { return base[at]; }

class Rows {
 public:
  explicit Rows(const Options& options) : options_(options), node_(terrane_node()) {
    // Copies that are brought up to date are not missed, and misses are what is measured.
    terrane_alloc_options on_one{TERRANE_HOMES_EXPLICIT, 1, "bench remote", TERRANE_PROTOCOL_HLRC,
                                 TERRANE_INVALIDATE};
    remote_ = static_cast<std::uint8_t*>(terrane_alloc_all(kPages * kPage, &on_one));
    apart_ = static_cast<std::uint8_t*>(terrane_alloc_all(2 * kPages * kPage, &on_one));
    terrane_alloc_options on_zero{TERRANE_HOMES_EXPLICIT, 0, "bench tracked"};
    tracked_ = static_cast<std::uint8_t*>(terrane_alloc_all(kTracked * kPage, &on_zero));
    terrane_alloc_options sequential{TERRANE_HOMES_EXPLICIT, 1, "bench sc", TERRANE_PROTOCOL_SC};
    sc_ = static_cast<std::uint8_t*>(terrane_alloc_all((kScPages + 1) * kPage, &sequential));
    if (options_.network) {
      auto partner = terrane::bench::Partner::meet(tracked_, options_.home_computes);
      if (!partner) fail(partner.error().message);
      partner_ = std::move(partner).value();
    } else {
      arrange_meeting();
    }
    if (node_ != 0) return;
    auto floors = terrane::bench::Floors::create();
    if (!floors) fail(floors.error().message);
    floors_.emplace(std::move(floors).value());
    if (options_.threads > 1) sibling_.emplace();
  }

  void run() {
    barriers();  // the first: nothing is tracked yet
    read_faults("read-fault-warm", Order::kApart);
    read_faults("read-fault-cold", Order::kApartCold);
    read_faults("read-run", Order::kForwards);
    write_faults();
    releases();
    sc_faults();
    sc_turns();
  }

 private:
  // Apart: every page is a miss of its own. Forwards: a miss prefetches the pages that were used
  // after it before.
  enum class Order { kApart, kApartCold, kForwards };

  [[noreturn]] static void fail(const std::string& why) {
    std::fprintf(stderr, "bench: %s\n", why.c_str());
    std::exit(1);
  }

  void arrange_meeting() {
    terrane_alloc_options on_zero{TERRANE_HOMES_EXPLICIT, 0, "bench meeting"};
    auto* told = static_cast<int*>(terrane_alloc_all(kPage, &on_zero));
    using terrane::bench::PairwiseBarrier;
    auto made = [](terrane::base::Result<PairwiseBarrier> one) {
      if (!one) fail(one.error().message);
      return std::move(one).value();
    };
    if (node_ == 0) {
      meeting_ = made(PairwiseBarrier::create());
      told[0] = getpid();
      told[1] = meeting_->fd();
    }
    terrane_barrier();
    if (node_ == 1) meeting_ = made(PairwiseBarrier::join(told[0], told[1]));
    terrane_barrier();
    if (node_ == 0) terrane_free(told);  // no copy is left of it
    terrane_barrier();
  }

  // Node 1 between two barriers of arrange_meeting(): it waits in the barrier and polls, or
  // computes until node 0 must be done.
  void home_passes_time() {
    if (partner_) {
      if (node_ == 1) partner_->pass_time();
      if (node_ == 0) partner_->measured();
      return;
    }
    if (node_ != 1 || !options_.home_computes) return;
    volatile double x = 1;
    for (std::uint64_t until = now_ns() + 4'000'000; now_ns() < until;)
      for (int i = 0; i < 1000; ++i) x = x * 1.0000001;
  }

  void print(const char* row, std::vector<double>& ours, std::vector<double>& floor,
             const char* floor_name) {
    if (node_ != 0) return;
    std::printf("row=%s ours=%.1f floor=%.1f floor_name=%s threads=%u home=%s\n", row, median(ours),
                median(floor), floor_name, options_.threads,
                options_.home_computes ? "computing" : "polling");
    std::fflush(stdout);
  }

  // UCX's own request and reply in this row's condition; on both nodes, after a barrier.
  void take_network_floor(std::vector<double>& floor, std::size_t reply_bytes) {
    terrane_barrier();
    if (node_ == 1) partner_->serve();
    if (node_ == 0) floor.push_back(partner_->request_reply(reply_bytes));
  }

  // The home writes every page, so that no copy of the last round is valid; then node 0 reads each.
  // Pages apart: of every other page, whose neighbours nobody ever touches, so that none comes
  // along with a miss.
  void read_faults(const char* row, Order order) {
    std::vector<double> ours, floor;
    std::uint8_t* base = order == Order::kForwards ? remote_ : apart_;
    std::size_t step = order == Order::kForwards ? kPage : 2 * kPage;
    for (unsigned round = 0; round < options_.rounds; ++round) {
      if (node_ == 1)
        for (std::size_t p = 0; p < kPages; ++p)
          byte(base, p * step) = static_cast<std::uint8_t>(round);
      bool cold = order == Order::kApartCold;
      if (cold && node_ == 0) terrane_evict(base, kPages * step);
      terrane_barrier();
      if (node_ == 0) {
        std::uint64_t from = now_ns();
        for (std::size_t p = 0; p < kPages; ++p) sum_ += byte(base, p * step + 64);
        ours.push_back(static_cast<double>(now_ns() - from) / kPages);
        if (!partner_)
          floor.push_back(cold ? floors_->read_fault_cold() : floors_->read_fault_warm());
      }
      home_passes_time();
      if (partner_) take_network_floor(floor, kReplyBytes);
      terrane_barrier();
    }
    print(row, ours, floor, partner_ ? "UCX-request-and-reply-of-a-page" : "signal+copy+continue");
  }

  void write_faults() {
    std::vector<double> ours, floor;
    for (unsigned round = 0; round < options_.rounds; ++round) {
      if (node_ == 1)
        for (std::size_t p = 0; p < kPages; ++p)
          byte(remote_, p * kPage) = static_cast<std::uint8_t>(round);
      terrane_barrier();
      if (node_ == 0) {
        for (std::size_t p = 0; p < kPages; ++p) sum_ += byte(remote_, p * kPage + 64);
        std::uint64_t from = now_ns();
        for (std::size_t p = 0; p < kPages; ++p)
          byte(remote_, p * kPage + 128) = static_cast<std::uint8_t>(round);
        ours.push_back(static_cast<double>(now_ns() - from) / kPages);
        floor.push_back(floors_->first_write_async());
      }
      home_passes_time();
      terrane_barrier();
    }
    print("write-fault", ours, floor, "kernel-notes-write");
  }

  // A release of kPages pages: all bytes changed, and every 16th.
  void releases() {
    std::vector<double> full, scattered, copy;
    for (unsigned round = 0; round < 2 * options_.rounds; ++round) {
      terrane_barrier();
      if (node_ == 0) {
        bool all = round % 2 == 0;
        for (std::size_t p = 0; p < kPages; ++p) sum_ += byte(remote_, p * kPage + 64);
        terrane_flag_clear(2);  // its token stays here: what is timed is the release alone
        for (std::size_t i = 0; i < kPages * kPage; i += all ? 1 : 16)
          byte(remote_, i) = static_cast<std::uint8_t>(round + 1);
        std::uint64_t from = now_ns();
        terrane_flag_set(2);
        (all ? full : scattered).push_back(static_cast<double>(now_ns() - from) / kPages);
        copy.push_back(floors_->copy_page());
      }
      home_passes_time();
      terrane_barrier();
    }
    print("release-full-page", full, copy, "memcpy-page");
    print("release-scattered", scattered, full, "release-full-page");
  }

  void barriers() {
    std::vector<double> plain, with_tracked, floor, per_page;
    // Short samples: one interruption would be all that the mean of a long one tells of.
    constexpr int kTimes = 10;
    auto time_barriers = [&](std::vector<double>& into) {
      terrane_barrier();
      for (int sample = 0; sample < 20; ++sample) {
        std::uint64_t from = now_ns();
        for (int i = 0; i < kTimes; ++i) terrane_barrier();
        into.push_back(static_cast<double>(now_ns() - from) / kTimes);
      }
    };
    for (unsigned round = 0; round < options_.rounds; ++round) {
      time_barriers(plain);
      if (partner_) {
        take_network_floor(floor, 0);
      } else {
        terrane_barrier();
        meeting_->meet(kTimes);
        for (int sample = 0; sample < 20; ++sample) floor.push_back(meeting_->meet(kTimes));
      }
    }
    print("barrier-nothing-tracked", plain, floor,
          partner_ ? "UCX-request-and-reply" : "pairwise-barrier");
    if (node_ == 0)
      for (std::size_t p = 0; p < kTracked; ++p) byte(tracked_, p * kPage) = 1;
    for (int i = 0; i < 3; ++i) {  // read as leases, tracked at the next release, read once more
      terrane_barrier();
      if (node_ == 1)
        for (std::size_t p = 0; p < kTracked; ++p) sum_ += byte(tracked_, p * kPage);
    }
    for (unsigned round = 0; round < options_.rounds; ++round) time_barriers(with_tracked);
    double more = median(with_tracked) - median(plain);
    per_page.push_back(more / kTracked);
    std::vector<double> none{3.0};
    print("barrier-per-tracked-page", per_page, none, "goal");
  }

  // Of pages that node 1 has written, with sequential consistency: node 0 reads them, which takes
  // them from the writer, then writes them, which takes them from the other reader.
  void sc_faults() {
    std::vector<double> reads, writes, floor;
    auto time_all = [&](std::vector<double>& into, auto access) {
      std::uint64_t from = now_ns();
      for (std::size_t p = 0; p < kScPages; ++p) access(byte(sc_, p * kPage));
      into.push_back(static_cast<double>(now_ns() - from) / kScPages);
    };
    for (unsigned round = 0; round < options_.rounds; ++round) {
      if (node_ == 1)
        for (std::size_t p = 0; p < kScPages; ++p) byte(sc_, p * kPage) = 1;
      terrane_barrier();
      if (node_ == 0) {
        time_all(reads, [&](volatile std::uint8_t& at) { sum_ += at; });
        time_all(writes, [&](volatile std::uint8_t& at) { at = 2; });
        if (!partner_) floor.push_back(floors_->read_fault_warm());
      }
      home_passes_time();
      if (partner_) take_network_floor(floor, kReplyBytes);
      terrane_barrier();
    }
    const char* name = partner_ ? "UCX-request-and-reply-of-a-page" : "signal+copy+continue";
    print("sc-read-fault", reads, floor, name);
    print("sc-write-fault", writes, floor, name);
  }

  // Both nodes wait for their turn by loads, and give it on by a store: two faults a turn.
  void sc_turns() {
    constexpr std::uint64_t kTurns = 200;
    auto& turn = *reinterpret_cast<std::atomic<std::uint64_t>*>(sc_ + kScPages * kPage);
    std::vector<double> ours, floor;
    for (unsigned round = 0; round < options_.rounds / 5 + 1; ++round) {
      terrane_barrier();
      std::uint64_t from = now_ns();
      std::uint64_t first = round * kTurns + static_cast<std::uint64_t>(node_);
      for (std::uint64_t mine = first; mine < (round + 1) * kTurns; mine += 2) {
        while (turn.load() < mine) sched_yield();
        turn.store(mine + 1);
      }
      ours.push_back(static_cast<double>(now_ns() - from) / kTurns);
      if (partner_) {
        take_network_floor(floor, kReplyBytes);
      } else if (node_ == 0) {
        floor.push_back(floors_->read_fault_warm());
      }
    }
    print("sc-turn", ours, floor,
          partner_ ? "UCX-request-and-reply-of-a-page" : "signal+copy+continue");
  }

  Options options_;
  int node_;
  std::uint8_t* remote_ = nullptr;
  std::uint8_t* apart_ = nullptr;
  std::uint8_t* tracked_ = nullptr;
  std::uint8_t* sc_ = nullptr;
  std::unique_ptr<terrane::bench::Partner> partner_;        // over a network
  std::optional<terrane::bench::PairwiseBarrier> meeting_;  // on a host
  std::optional<terrane::bench::Floors> floors_;
  std::optional<terrane::bench::BusySibling> sibling_;
  std::uint64_t sum_ = 0;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string name = argv[i];
    std::string value = argv[i + 1];
    if (name == "--threads")
      options.threads = static_cast<unsigned>(std::stoul(value));
    else if (name == "--home")
      options.home_computes = value == "computing";
    else if (name == "--over")
      options.network = value == "network";
    else if (name == "--rounds")
      options.rounds = static_cast<unsigned>(std::stoul(value));
    else {
      std::fprintf(stderr, "terrane_bench_pages_rows: unknown option %s\n", name.c_str());
      std::exit(2);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  Options options = parse(argc, argv);
  if (terrane_init() != TERRANE_OK) return std::fprintf(stderr, "%s\n", terrane_error()), 1;
  if (terrane_nodes() != 2) {
    std::fprintf(stderr, "terrane_bench_pages_rows needs two nodes: terrane run -n 2 ...\n");
    return 2;
  }
  {
    Rows rows(options);
    rows.run();
  }
  return terrane_finalize() == TERRANE_OK ? 0 : 1;
}
