#include "tools/report/trace_events.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "tools/report/page_totals.h"
#include "tools/report/streams.h"

namespace terrane::tools::report {
namespace {

using runtime::trace::BytesWay;
using runtime::trace::ScopeOrigin;
using runtime::trace::TimeKind;

constexpr std::size_t kMostCounters = 50;
constexpr std::size_t kMostEvents = 1'000'000;  // what a viewer can hold: some 150 MB
constexpr std::size_t kMostArrows = 100'000;    // of them
constexpr std::string_view kModes[] = {"read", "write", "read-write"};

// printable() has left no controls and only UTF-8.
std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

std::string micros(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

class Writer {
 public:
  Writer(const JobLog& job, const std::function<void(std::string_view)>& write)
      : job_(job), write_(write) {
    if (job.has_strips) pages_ = count_pages(job, 1);
  }

  TraceLeftOut run() {
    left_out_.counters = choose_counters();
    write_("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (const NodeLog& log : job_.logs) {
      log_ = &log;
      sent_shared_ = sent_copied_ = 0;
      names();
      for (const Entry& entry : log.entries) event(entry);
    }
    arrows();
    write_("\n]");
    if (job_.scopes_every > 1)
      write_(
          fmt::format(",\"otherData\":{{\"scopes\":\"of those that opened at once about one of {} "
                      "is here, and stands_for so many\"}}",
                      job_.scopes_every));
    write_("}\n");
    return left_out_;
  }

 private:
  std::size_t choose_counters() {
    std::unordered_map<std::uint64_t, std::uint64_t> changes;
    for (const NodeLog& log : job_.logs)
      for (const Entry& entry : log.entries)
        if (entry.record.event == Event::kState) ++changes[entry.record.object];
    std::vector<std::pair<std::uint64_t, std::uint64_t>> order;
    for (const auto& [object, times] : changes) order.emplace_back(times, object);
    std::sort(order.rbegin(), order.rend());
    for (std::size_t i = 0; i < std::min(kMostCounters, order.size()); ++i)
      counted_.insert(order[i].second);
    return order.size() - counted_.size();
  }

  // phase and what else the event has; time in ns.
  void put(std::string_view phase, std::uint64_t time_ns, std::uint32_t thread,
           std::string_view name, std::string_view more) {
    if (events_ == kMostEvents) {
      ++left_out_.events;
      return;
    }
    ++events_;
    write_(fmt::format("{}\n{{\"ph\":\"{}\",\"ts\":{},\"pid\":{},\"tid\":{},\"name\":{}{}}}",
                       first_ ? "" : ",", phase, micros(time_ns), log_->node, thread, quoted(name),
                       more));
    first_ = false;
  }

  void names() {
    put("M", 0, 0, "process_name",
        fmt::format(",\"args\":{{\"name\":{}}}",
                    quoted(fmt::format("node {} on {}", log_->node, printable(log_->host)))));
    for (const auto& [thread, name] : log_->threads)
      put("M", 0, thread, "thread_name",
          fmt::format(",\"args\":{{\"name\":{}}}", quoted(printable(name))));
    for (const TextEntry& one : log_->texts)
      if (one.record.event == Event::kStrip)
        put("M", 0, static_cast<std::uint32_t>(one.record.object), "thread_name",
            fmt::format(",\"args\":{{\"name\":{}}}", quoted(printable(one.text))));
  }

  // From a version's publication to where it was taken; an arrow begins and ends within an event
  // that lasts.
  void arrows() {
    std::uint64_t arrow = 0;
    each_delivery(job_, [&](const Delivery& one) {
      if (++arrow > kMostArrows || events_ + 2 > kMostEvents) {
        ++left_out_.arrows;
        return;
      }
      std::string id = fmt::format(",\"cat\":\"version\",\"id\":{}", arrow);
      log_ = &job_.logs[one.from];
      put("s", one.published_ns, one.from_thread, "version", id);
      log_ = &job_.logs[one.to];
      put("f", std::max(one.taken_ns, one.published_ns), one.to_thread, "version",
          id + ",\"bp\":\"e\"");
    });
  }

  // What lasted `record.value` and is over at its time.
  void lasted(const Entry& entry, std::string_view name, std::string_view category) {
    std::uint64_t duration = std::min(entry.record.value, entry.record.time_ns);
    put("X", entry.record.time_ns - duration, entry.thread, name,
        fmt::format(",\"cat\":\"{}\",\"dur\":{},\"args\":{{\"number\":{}}}", category,
                    micros(duration), entry.record.number));
  }

  // A wait for pages, locks or barriers, or an OpenMP region, of the strip's thread.
  void waited(const Record& record) {
    bool is_region = record.kind == static_cast<std::uint8_t>(TimeKind::kRegion);
    auto region = pages_.region_names.find(record.object);
    std::string name = !is_region ? name_of_wait(pages_, log_->is_shmem, record)
                       : region == pages_.region_names.end() ? "region"
                                                             : "region " + region->second;
    std::uint64_t duration = std::min(record.value, record.time_ns);
    put("X", record.time_ns - duration, record.number, name,
        fmt::format(",\"cat\":\"{}\",\"dur\":{},\"args\":{{}}",
                    is_region ? "region" : name_of_kind(log_->is_shmem, record.kind),
                    micros(duration)));
  }

  // What part of a step went to a kind, also in waits that are too short for events of their own.
  void shared_time(const Record& record) {
    double percent = 0.1 * static_cast<double>(record.value) / std::max(record.number, 1u);
    put("C", record.time_ns, 0,
        fmt::format("{} of thread {}, %", name_of_kind(log_->is_shmem, record.kind), record.object),
        fmt::format(",\"args\":{{\"%\":{:.1f}}}", std::min(percent, 100.0)));
  }

  // What took no time, and at which an arrow may begin.
  void moment(const Entry& entry, std::string_view name) {
    put("X", entry.record.time_ns, entry.thread, name,
        fmt::format(",\"cat\":\"chunks\",\"dur\":1,\"args\":{{\"number\":{}}}",
                    entry.record.number));
  }

  void instant(const Entry& entry, std::string_view name, char scope) {
    put("i", entry.record.time_ns, entry.thread, name,
        fmt::format(",\"cat\":\"chunks\",\"s\":\"{}\",\"args\":{{\"number\":{}}}", scope,
                    entry.record.number));
  }

  // Scopes of a thread need not lie within each other.
  void scope(const Entry& entry, std::string_view name) {
    std::uint64_t duration = std::min(entry.record.value, entry.record.time_ns);
    std::string id = fmt::format(",\"cat\":\"scope\",\"id\":\"{:#x}\"", ++scopes_);
    std::uint32_t more = entry.record.event == Event::kScope ? entry.record.detail : 0;
    put("b", entry.record.time_ns - duration, entry.thread, name,
        more == 0 ? id : fmt::format("{},\"args\":{{\"stands_for\":{}}}", id, more + 1));
    put("e", entry.record.time_ns, entry.thread, name, id);
  }

  void sent(const Entry& entry) {
    bool shared = entry.record.kind == static_cast<std::uint8_t>(BytesWay::kShared);
    (shared ? sent_shared_ : sent_copied_) += entry.record.value;
    put("C", entry.record.time_ns, 0, "bytes sent",
        fmt::format(",\"args\":{{\"shared\":{},\"in messages\":{}}}", sent_shared_, sent_copied_));
  }

  void event(const Entry& entry) {
    const Record& record = entry.record;
    auto of = [&](std::string_view what) {
      return fmt::format("{} {}", what, text_of(job_, record.object));
    };
    std::string_view mode = kModes[record.kind < 3 ? record.kind : 0];
    bool taken = record.detail == static_cast<std::uint8_t>(ScopeOrigin::kTake);
    switch (record.event) {
      case Event::kScopeOpened:
        lasted(entry, of(taken ? "take" : fmt::format("open {}", mode)), "wait");
        if (taken) moment(entry, of("taken"));
        return;
      case Event::kScopeRefused:
        return lasted(entry, of(fmt::format("no {}", mode)), "wait");
      case Event::kScope:
      case Event::kScopeClosed:
        return scope(entry, of(mode));
      case Event::kHandlerRan:
        return lasted(entry, of("handler"), "handler");
      case Event::kBarrier:
        return lasted(entry, of("barrier"), "wait");
      case Event::kAwaited:
        return lasted(entry, of("await"), "wait");
      case Event::kSignal:
        return lasted(entry, of("signal"), "wait");
      case Event::kPublished:
        return moment(entry, of("publish"));
      case Event::kLost:
        return instant(entry, of("lost"), 'p');
      case Event::kNodeDied:
        return instant(entry, fmt::format("node {} died", record.object), 'p');
      case Event::kBytesSent:
        return sent(entry);
      case Event::kWait:
        return waited(record);
      case Event::kTime:
        return shared_time(record);
      case Event::kState:
        if (counted_.count(record.object) > 0)
          put("C", record.time_ns, 0, of("state of"),
              fmt::format(",\"args\":{{\"state\":{}}}", record.kind));
        return;
      default:
        return;
    }
  }

  const JobLog& job_;
  const std::function<void(std::string_view)>& write_;
  PageTotals pages_;
  const NodeLog* log_ = nullptr;
  std::set<std::uint64_t> counted_;
  TraceLeftOut left_out_;
  std::size_t events_ = 0;
  std::uint64_t scopes_ = 0, sent_shared_ = 0, sent_copied_ = 0;
  bool first_ = true;
};

}  // namespace

TraceLeftOut write_trace_events(const JobLog& job,
                                const std::function<void(std::string_view)>& write) {
  return Writer(job, write).run();
}

}  // namespace terrane::tools::report
