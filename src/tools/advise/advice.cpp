#include "tools/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/advise/page_uses.h"

namespace terrane::tools::advise {
namespace {

constexpr std::size_t kMostMatters = 3, kMostLooked = 16;
constexpr double kLeastShare = 0.005;  // of the time: less does not matter

// Threads that compute next to nothing wait for others: main in pthread_join, for example.
bool computes(const forecast::Times& times, forecast::Ns most) {
  return times.computing * 20 >= most;
}

forecast::Ns all_of(const forecast::Times& times) {
  return times.computing + times.faults + times.locks + times.barriers + times.others;
}

struct Sums {
  double computing = 0, faults = 0, locks = 0, barriers = 0, others = 0, all = 0;
  double most_computing = 0;  // of one thread
  std::size_t threads = 0;
};

Sums sums_of(const forecast::Forecast& played) {
  Sums sums;
  forecast::Ns most = 0;
  for (const forecast::Times& one : played.threads) most = std::max(most, one.computing);
  for (const forecast::Times& one : played.threads) {
    if (!computes(one, most)) continue;
    ++sums.threads;
    sums.computing += static_cast<double>(one.computing);
    sums.faults += static_cast<double>(one.faults);
    sums.locks += static_cast<double>(one.locks);
    sums.barriers += static_cast<double>(one.barriers);
    sums.others += static_cast<double>(one.others);
    sums.all += static_cast<double>(all_of(one));
  }
  sums.most_computing = static_cast<double>(most);
  return sums;
}

Point point_of(const forecast::Forecast& played, std::uint32_t nodes,
               const RecordedProgram& program, std::uint32_t processors) {
  std::uint64_t page_bytes = program.page_bytes();
  auto computing = static_cast<double>(program.computing());
  Point point{.nodes = nodes, .ns = played.total};
  // Threads that share a processor wait for it wherever they wait.
  Sums sums = sums_of(played);
  double waits = sums.faults + sums.locks + sums.barriers + sums.others;
  point.computing =
      std::min(1.0, computing / (static_cast<double>(played.total) * nodes * processors));
  if (waits > 0) {
    double share = (1 - point.computing) / waits;
    point.faults = sums.faults * share;
    point.locks = sums.locks * share;
    point.barriers = sums.barriers * share;
    point.others = sums.others * share;
  }
  for (const forecast::NodeForecast& node : played.nodes) {
    point.messages += node.messages;
    point.bytes += node.bytes;
    point.most_bytes = std::max(point.most_bytes, node.most_held * page_bytes);
  }
  return point;
}

// Pages of one variable or allocation are one matter. Pages that come with a barrier are waited for
// in it, like those that their homes get there.
std::vector<Matter> memory_in(const forecast::Forecast& played, const RecordedProgram& program) {
  double moved = 0;
  for (const forecast::PageForecast& page : played.pages) moved += static_cast<double>(page.came);
  Sums sums = sums_of(played);
  double uneven = sums.most_computing * static_cast<double>(sums.threads) - sums.computing;
  double per_page = moved > 0 ? std::max(0.0, sums.barriers - uneven) / moved : 0;
  std::map<std::string, Matter> memory;
  std::map<std::string, std::uint64_t> most;  // arrivals of the page that comes most often
  for (const forecast::PageForecast& page : played.pages) {
    std::string name = program.name_of(page.page);
    if (name.empty()) name = fmt::format("memory at {:#x}", program.address_of(page.page));
    Matter& matter = memory[name];
    if (matter.name.empty() || page.came > most[name]) {
      most[name] = page.came;
      matter.page = page.page;
    }
    matter.name = name;
    matter.waited_ns += page.waited + static_cast<std::uint64_t>(per_page * page.came);
    matter.times += page.came;
  }
  std::vector<Matter> all;
  for (auto& [name, matter] : memory) all.push_back(matter);
  return all;
}

void add_locks(const forecast::Forecast& played, const RecordedProgram& program,
               std::vector<Matter>& all) {
  for (const forecast::LockForecast& lock : played.locks) {
    if (!forecast::is_lock(lock.id)) continue;  // threads with nothing to do wait for the others
    Matter matter{.waited_ns = lock.waited, .times = lock.acquisitions};
    matter.name = program.name_of_lock(lock.id);
    matter.what =
        fmt::format("comes from another node in {} of {} times", lock.remote, lock.acquisitions);
    matter.remedy = "take it seldom: do more each time, or sum up in each thread first";
    all.push_back(matter);
  }
}

void sort(std::vector<Matter>& all) {
  std::stable_sort(all.begin(), all.end(),
                   [](const Matter& a, const Matter& b) { return a.waited_ns > b.waited_ns; });
}

// What nodes use in the same way is one matter.
std::vector<Matter> joined(const std::vector<Matter>& all) {
  std::vector<Matter> kinds;
  for (const Matter& matter : all) {
    auto same = std::find_if(kinds.begin(), kinds.end(),
                             [&](const Matter& one) { return one.what == matter.what; });
    if (same == kinds.end()) {
      kinds.push_back(matter);
      continue;
    }
    same->name += "; " + matter.name;
    same->waited_ns += matter.waited_ns;
    same->times += matter.times;
  }
  return kinds;
}

std::vector<Matter> matters_of(const forecast::Forecast& played, const RecordedProgram& program) {
  std::vector<Matter> all = memory_in(played, program);
  add_locks(played, program, all);
  sort(all);
  if (all.size() > kMostLooked) all.resize(kMostLooked);
  for (Matter& matter : all) {
    if (!matter.what.empty()) continue;
    PageUses uses = uses_of(program, matter.page);
    matter.what = text_of(uses);
    matter.remedy = remedy_of(uses);
  }
  all = joined(all);
  sort(all);
  double time = sums_of(played).all;
  for (Matter& matter : all)
    matter.share = time > 0 ? static_cast<double>(matter.waited_ns) / time : 0;
  std::erase_if(all, [](const Matter& matter) { return matter.share < kLeastShare; });
  if (all.size() > kMostMatters) all.resize(kMostMatters);
  return all;
}

std::string limit_of(const forecast::Forecast& played, const Point& point) {
  Sums sums = sums_of(played);
  double mean = sums.threads > 0 ? sums.computing / static_cast<double>(sums.threads) : 0;
  double uneven = mean > 0 ? sums.most_computing / mean : 1;
  if (point.nodes == 1)
    return "one node is fastest: what nodes wait for costs more than they compute";
  double most = std::max({point.faults, point.locks, point.barriers, point.others});
  if (most < 0.1 && uneven < 1.25)
    return "nothing: threads compute for most of the time; more nodes would make it faster";
  if (point.faults == most)
    return fmt::format("threads wait {:.0f} % of their time for pages of other nodes",
                       100 * point.faults);
  if (point.locks == most)
    return fmt::format("threads wait {:.0f} % of their time for locks", 100 * point.locks);
  if (uneven >= 1.25)
    return fmt::format(
        "work is uneven: the thread that computes most has {:.1f} times the mean, and the others "
        "wait for it",
        uneven);
  if (point.barriers == most)
    return fmt::format(
        "threads wait {:.0f} % of their time in barriers, for each other and for the network",
        100 * point.barriers);
  return fmt::format(
      "threads wait {:.0f} % of their time for conditions, semaphores, joins and flags, or for one "
      "thread that works alone meanwhile",
      100 * point.others);
}

// 1, 2, 4, ... below the number of nodes that recorded, and that.
std::vector<std::uint32_t> numbers_of_nodes(std::uint32_t recorded) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t n = 1; n < recorded; n *= 2) all.push_back(n);
  all.push_back(recorded);
  return all;
}

forecast::Setup setup_of(const RecordedProgram& program, const Question& question,
                         std::uint32_t nodes) {
  forecast::Setup setup{
      .nodes = nodes,
      .processors = question.processors,
      .costs = forecast::link(question.round_trip_us / 2, question.bytes_per_second)};
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    setup.node_of.push_back(program.node_of(t) * nodes / program.nodes());
  return setup;
}

}  // namespace

base::Result<Advice> advise(RecordedProgram& program, const Question& question) {
  Advice advice;
  advice.used_bytes = program.pages_used() * program.page_bytes();
  for (std::uint32_t nodes : numbers_of_nodes(program.nodes())) {
    program.rewind(nodes);
    forecast::Forecast played = forecast::forecast(program, setup_of(program, question, nodes));
    if (!played.stuck.empty())
      return base::error("the recording cannot be played on {} nodes: {}", nodes, played.stuck);
    Point point = point_of(played, nodes, program, question.processors);
    if (point.ns > 0)
      point.speedup = static_cast<double>(program.computing()) / static_cast<double>(point.ns);
    bool is_best = advice.points.empty() || point.ns < advice.points[advice.best].ns;
    advice.points.push_back(point);
    if (!is_best && nodes != program.nodes()) continue;
    if (is_best) advice.best = advice.points.size() - 1;
    // Where it is fastest; or, if that is one node, what keeps the most nodes from it.
    if (!is_best && advice.points[advice.best].nodes > 1) continue;
    advice.limit = limit_of(played, advice.points[advice.best]);
    advice.matters = matters_of(played, program);
  }
  return advice;
}

}  // namespace terrane::tools::advise
