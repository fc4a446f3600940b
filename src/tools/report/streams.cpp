#include "tools/report/streams.h"

#include <algorithm>
#include <map>

namespace terrane::tools::report {
namespace {

using runtime::trace::ScopeOrigin;

bool is_taken(const Record& record) {
  return record.event == Event::kScopeOpened &&
         record.detail == static_cast<std::uint8_t>(ScopeOrigin::kTake);
}

// Where a version was published, by its chunk and number.
struct Publication {
  std::size_t log = 0;
  std::uint32_t thread = 0;
  std::uint64_t time_ns = 0;
};
using Publications = std::map<std::pair<std::uint64_t, std::uint32_t>, Publication>;

Publications publications(const JobLog& job) {
  Publications all;
  for (std::size_t i = 0; i < job.logs.size(); ++i)
    for (const Entry& entry : job.logs[i].entries)
      if (entry.record.event == Event::kPublished)
        all[{entry.record.object, entry.record.number}] = {i, entry.thread, entry.record.time_ns};
  return all;
}

Delivery delivery(const Publication& of, std::size_t to, const Entry& taken) {
  return {.object = taken.record.object,
          .version = taken.record.number,
          .from = of.log,
          .to = to,
          .from_thread = of.thread,
          .to_thread = taken.thread,
          .published_ns = of.time_ns,
          .taken_ns = taken.record.time_ns};
}

class Sorter {
 public:
  explicit Sorter(const JobLog& job) : job_(job), publications_(publications(job)) {}

  std::vector<Stream> run() {
    for (std::size_t i = 0; i < job_.logs.size(); ++i)
      for (const Entry& entry : job_.logs[i].entries) add(i, entry);
    std::vector<Stream> all;
    for (auto& [object, stream] : by_object_) {
      if (stream.published.empty() || making_of(job_, object) != Making::kChunk) continue;
      std::sort(stream.published.begin(), stream.published.end());
      all.push_back(std::move(stream));
    }
    std::stable_sort(all.begin(), all.end(), [](const Stream& a, const Stream& b) {
      return a.published.size() > b.published.size();
    });
    return all;
  }

 private:
  void add(std::size_t log, const Entry& entry) {
    const Record& record = entry.record;
    if (record.event == Event::kPublished) {
      Stream& stream = of(record.object);
      stream.bytes += record.value;
      stream.published.push_back(record.time_ns);
    } else if (record.event == Event::kMissed) {
      subscriber(record.object, log).left_out += record.value;
    } else if (is_taken(record)) {
      Subscriber& one = subscriber(record.object, log);
      auto at = publications_.find({record.object, record.number});
      if (at == publications_.end()) {
        ++one.unknown;
      } else {
        one.taken.push_back(delivery(at->second, log, entry));
      }
    }
  }

  Stream& of(std::uint64_t object) {
    Stream& stream = by_object_[object];
    stream.object = object;
    return stream;
  }
  Subscriber& subscriber(std::uint64_t object, std::size_t log) {
    auto& all = of(object).subscribers;
    if (all.empty() || all.back().log != log) all.push_back({.log = log});
    return all.back();
  }

  const JobLog& job_;
  const Publications publications_;
  std::map<std::uint64_t, Stream> by_object_;
};

}  // namespace

void each_delivery(const JobLog& job, const std::function<void(const Delivery&)>& tell) {
  const Publications all = publications(job);
  for (std::size_t i = 0; i < job.logs.size(); ++i)
    for (const Entry& entry : job.logs[i].entries) {
      if (!is_taken(entry.record)) continue;
      auto at = all.find({entry.record.object, entry.record.number});
      if (at != all.end()) tell(delivery(at->second, i, entry));
    }
}

std::uint64_t Subscriber::latency_ns(unsigned percent) const {
  if (taken.empty()) return 0;
  std::vector<std::uint64_t> all;
  for (const Delivery& one : taken) all.push_back(one.latency_ns());
  auto at = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) * percent / 100);
  std::nth_element(all.begin(), at, all.end());
  return *at;
}

std::vector<Stream> streams(const JobLog& job) { return Sorter(job).run(); }

Slowest slowest(const std::vector<Stream>& all) {
  Slowest found;
  std::uint64_t longest_ns = 0;
  for (const Stream& stream : all) {
    std::uint64_t fastest_ns = ~0ull;
    const Subscriber* last = nullptr;
    std::uint64_t last_ns = 0;
    for (const Subscriber& one : stream.subscribers) {
      if (one.taken.empty()) continue;
      std::uint64_t median_ns = one.latency_ns(50);
      fastest_ns = std::min(fastest_ns, median_ns);
      if (last == nullptr || median_ns > last_ns) {
        last = &one;
        last_ns = median_ns;
      }
    }
    if (last == nullptr || last_ns < fastest_ns + fastest_ns / 2 + 1 || last_ns <= longest_ns)
      continue;
    longest_ns = last_ns;
    found = {&stream, last, fastest_ns};
  }
  return found;
}

}  // namespace terrane::tools::report
