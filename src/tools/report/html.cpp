#include "tools/report/html.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>

#include "tools/report/drawing.h"
#include "tools/report/page_section.h"
#include "tools/report/stream_section.h"
#include "tools/report/text.h"

namespace terrane::tools::report {
namespace {

constexpr std::size_t kMostRows = 100;   // of a table
constexpr std::size_t kMostChunks = 20;  // whose states are drawn
constexpr int kHeight = 60, kStrip = 12;

constexpr std::string_view kColours[] = {"none", "#7fb2dd", "#f0b95b", "#d9534f"};
constexpr std::string_view kStates[] = {"none", "shared", "exclusive", "modified"};
constexpr std::string_view kCoherences[] = {"invalidate", "update", "stream", "once",
                                            "work stream"};
constexpr std::string_view kMakings[] = {"chunk", "lock", "barrier", "signal"};

constexpr std::string_view kHead =
    R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><style>
:root{color-scheme:light dark;--text:#222;--back:#fff;--head:#f6f6f6;--line:#ddd;--note:#fff3cd;--plot:#fafafa}
@media(prefers-color-scheme:dark){
:root{--text:#ddd;--back:#1b1d20;--head:#2a2d31;--line:#3a3d42;--note:#4a3d12;--plot:#24272b}}
body{font:14px/1.4 sans-serif;margin:2em;max-width:1500px;color:var(--text);background:var(--back)}
table{border-collapse:collapse;margin:.5em 0 1.5em}
th,td{padding:.15em .6em;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th{background:var(--head);position:sticky;top:0;white-space:normal;vertical-align:bottom}
td:first-child,th:first-child,td.t,th.t{text-align:left}
td:first-child{white-space:normal;max-width:24em}
#chunks td:first-child{min-width:10em}
h1,p,td:first-child{overflow-wrap:anywhere}
@media(max-width:1250px){table{display:block;overflow-x:auto}}
@media(max-width:1500px){#all:not(:checked)~table .m{display:none}}
@media(min-width:1501px){#all,#all+label{display:none}}
.note{background:var(--note);padding:.3em .8em;margin:.2em 0}
.bar{background:#d9534f;height:.7em;display:inline-block}
svg{display:block;margin:.2em 0}
svg text{font-size:10px;fill:var(--text)}
svg .plot{fill:var(--plot)}
svg line{stroke:var(--line)}
.wide{overflow-x:auto}
.strip{display:grid;grid-template-columns:minmax(5em,11em) 1fr 5em;gap:.5em;align-items:center}
.strip>span{overflow-wrap:anywhere}
.strip svg{width:100%;height:20px}
.axis p{display:flex;justify-content:space-between;margin:0}
.box{display:inline-block;width:.8em;height:.8em;margin-right:.4em}
.bytes{font-family:monospace}
.bytes span{display:inline-block;height:1em;vertical-align:middle}
.hint{font-style:italic}
@media(max-width:700px){body{margin:.7em}td:first-child{min-width:9em}
.strip{grid-template-columns:5.5em 1fr 5em;font-size:12px}.axis p span:nth-child(even){display:none}}
.key span{display:inline-block;width:1em;height:1em;margin:0 .3em 0 1em;vertical-align:middle}
</style>
)";

std::uint64_t mean(std::uint64_t sum, std::uint64_t times) { return times > 0 ? sum / times : 0; }

class Page {
 public:
  Page(const JobLog& job, const Totals& totals)
      : job_(job), totals_(totals), streams_(streams(job)) {
    if (job.has_strips) pages_ = count_pages(job, kStripPoints);
  }

  std::string write() {
    text_ = kHead;
    heading();
    what_was_slow();
    if (job_.scopes_every > 1)
      put("<p id=\"sampled\">Of scopes that opened at once about one of {} has a record: their "
          "numbers "
          "are exact, the time for which they were open is estimated. All else has a record "
          "each.</p>\n",
          job_.scopes_every);
    for (const std::string& note : job_.notes)
      put("<p class=\"note\">{}</p>\n", escaped(printable(note)));
    if (job_.has_strips) text_ += page_section(job_, pages_);
    if (job_.has_chunks) about_chunks();
    text_ += "</body></html>\n";
    return std::move(text_);
  }

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  void about_chunks() {
    text_ += "<input type=\"checkbox\" id=\"all\"><label for=\"all\">all columns</label>\n";
    nodes();
    text_ += stream_section(job_, streams_);
    chunks();
    meetings();
    states_of_nodes();
    states_of_chunks();
  }

  // Of the node with the lowest number whose log tells it.
  const std::vector<std::string>& words() const {
    static const std::vector<std::string> kNone;
    for (const NodeLog& log : job_.logs)
      if (!log.command.empty()) return log.command;
    return kNone;
  }
  std::string command() const {
    return escaped(printable(fmt::format("{}", fmt::join(words(), " "))));
  }
  std::string program() const {
    if (words().empty()) return "report of a job";
    return escaped(printable(std::filesystem::path(words().front()).filename().string()));
  }

  // What, when, where, how long.
  void heading() {
    std::vector<std::string> hosts;
    std::uint64_t begin_ns = ~0ull;
    for (const NodeLog& log : job_.logs) {
      if (std::find(hosts.begin(), hosts.end(), log.host) == hosts.end()) hosts.push_back(log.host);
      begin_ns = std::min(begin_ns, log.realtime_ns);
    }
    auto seconds = static_cast<std::time_t>(begin_ns / 1'000'000'000);
    std::tm parts{};
    ::localtime_r(&seconds, &parts);
    char date[32] = "";
    std::strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S", &parts);
    put("<title>Terrane: {0}</title></head><body>\n<h1>{0}</h1>\n", program());
    if (!command().empty()) put("<p id=\"command\"><code>{}</code></p>\n", command());
    put("<p>{} nodes on {}, begun {}, {}, {} records.</p>\n", job_.nodes,
        escaped(printable(fmt::format("{}", fmt::join(hosts, ", ")))), date,
        time_text(job_.length_ns), job_.records);
  }

  void what_was_slow() {
    text_ += "<p id=\"slow\">";
    if (job_.has_strips) text_ += slow_sentences(job_, pages_);
    if (job_.has_chunks) slow_chunks();
    text_ += "</p>\n";
  }

  // At most three sentences.
  void slow_chunks() {
    const ChunkTotals* chunk = totals_.chunks.empty() ? nullptr : &totals_.chunks.front();
    if (chunk == nullptr || chunk->tally.wait_ns == 0) {
      text_ += "No scope waited. ";
    } else {
      put("Threads waited longest for scopes of {}: {} in all, and at most {} for one scope; ",
          escaped(text_of(job_, chunk->object)), time_text(chunk->tally.wait_ns),
          time_text(chunk->tally.longest_wait_ns));
      std::uint64_t median_ns = chunk->wait_ns(50);
      put("half of the scopes opened {}. ",
          median_ns == 0 ? "at once" : "within " + time_text(median_ns));
    }
    if (!totals_.meetings.empty() && totals_.meetings.front().wait_ns > 0) {
      const MeetingTotals& one = totals_.meetings.front();
      put("Of locks, barriers and signals, the {} {} cost most: {} in {} calls. ",
          kMakings[static_cast<std::size_t>(one.making)], escaped(text_of(job_, one.object)),
          time_text(one.wait_ns), one.times);
    }
    slow_subscriber();
  }

  // The node that could not follow, or else the one that follows late.
  void slow_subscriber() {
    std::size_t slow = 0;
    for (std::size_t i = 0; i < totals_.nodes.size(); ++i)
      if (totals_.nodes[i].tally.missed > totals_.nodes[slow].tally.missed) slow = i;
    if (totals_.nodes.empty() || totals_.nodes[slow].tally.missed == 0) {
      text_ += slowest_subscriber(job_, streams_);
      return;
    }
    put("The slowest subscriber was node {} on {}: {} versions were left out before those that it "
        "took.",
        job_.logs[slow].node, escaped(printable(job_.logs[slow].host)),
        totals_.nodes[slow].tally.missed);
  }

  void nodes() {
    text_ +=
        "<h2>Nodes</h2>\n<table id=\"nodes\"><tr><th>node</th><th class=\"t\">host</th>"
        "<th>read scopes</th><th>write</th><th>read-write</th><th>versions taken</th>"
        "<th class=\"m\">not opened</th><th>waited for scopes</th><th>longest</th>"
        "<th class=\"m\">scopes open</th><th>published</th><th>left out</th>"
        "<th class=\"m\">handlers</th><th class=\"m\">in handlers</th>"
        "<th class=\"m\">locks, barriers, signals</th><th>waited there</th>"
        "<th class=\"m\">shared on the host</th><th>sent in messages</th>"
        "<th class=\"m\">came in messages</th></tr>\n";
    for (std::size_t i = 0; i < job_.logs.size(); ++i) {
      if (job_.logs[i].has_strips) continue;
      const NodeTotals& node = totals_.nodes[i];
      const Tally& t = node.tally;
      put("<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
          "<td class=\"m\">{}</td><td>{}</td><td>{}</td><td class=\"m\">{}</td>",
          job_.logs[i].node, escaped(printable(job_.logs[i].host)), t.opened[0], t.opened[1],
          t.opened[2], t.taken, t.refused, time_text(t.wait_ns), time_text(t.longest_wait_ns),
          time_text(t.held_ns()));
      put("<td>{}</td><td>{}</td><td class=\"m\">{}</td><td class=\"m\">{}</td>"
          "<td class=\"m\">{}</td><td>{}</td><td class=\"m\">{}</td><td>{}</td>"
          "<td class=\"m\">{}</td></tr>\n",
          t.published, t.missed, t.handlers, time_text(t.handler_ns), node.meetings,
          time_text(node.meeting_ns), bytes_text(t.sent_shared), bytes_text(t.sent_copied),
          bytes_text(t.came_copied));
    }
    text_ += "</table>\n";
    for (std::size_t i = 0; i < job_.logs.size(); ++i)
      for (const auto& [number, times] : totals_.nodes[i].others)
        put("<p class=\"note\">node {}: {} events '{}', which this terrane does not know</p>\n",
            job_.logs[i].node, times, escaped(printable(event_name(job_.logs[i], number))));
  }

  static std::string event_name(const NodeLog& log, std::uint16_t number) {
    auto at = log.events.find(number);
    return at == log.events.end() ? fmt::format("{}", number) : at->second;
  }

  void rest(std::size_t all, std::string_view what) {
    if (all > kMostRows) put("<p>{} more {} are not shown.</p>\n", all - kMostRows, what);
  }

  void chunks() {
    text_ +=
        "<h2>Chunks, and the waits for them</h2>\n<table id=\"chunks\"><tr><th>chunk</th>"
        "<th>size</th><th class=\"t\">coherence</th><th>scopes</th><th>not opened</th>"
        "<th>waited</th><th></th><th class=\"m\">mean</th><th>median</th><th>99 %</th>"
        "<th>longest</th><th>published</th><th>taken</th><th class=\"m\">left out</th>"
        "<th class=\"m\">lost</th>"
        "<th>moved between hosts</th><th class=\"m\">shared on the host</th></tr>\n";
    std::uint64_t most = totals_.chunks.empty() ? 0 : totals_.chunks.front().tally.wait_ns;
    for (std::size_t i = 0; i < std::min(kMostRows, totals_.chunks.size()); ++i)
      chunk(totals_.chunks[i], most);
    text_ += "</table>\n";
    rest(totals_.chunks.size(), "chunks, which were waited for less,");
  }

  void chunk(const ChunkTotals& chunk, std::uint64_t most) {
    auto known = job_.objects.find(chunk.object);
    Object object = known == job_.objects.end() ? Object{} : known->second;
    const Tally& t = chunk.tally;
    double width = most == 0 ? 0 : 6.0 * static_cast<double>(t.wait_ns) / static_cast<double>(most);
    put("<tr><td>{}</td><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td class=\"t\"><span class=\"bar\" style=\"width:{:.2f}em\"></span></td>",
        escaped(text_of(job_, chunk.object)), bytes_text(object.bytes),
        kCoherences[std::min<std::size_t>(object.kind, 3)], t.scopes(), t.refused,
        time_text(t.wait_ns), width);
    put("<td class=\"m\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
        "<td class=\"m\">{}</td><td class=\"m\">{}</td>"
        "<td>{}</td><td class=\"m\">{}</td></tr>\n",
        time_text(mean(t.wait_ns, chunk.calls())), time_text(chunk.wait_ns(50)),
        time_text(chunk.wait_ns(99)), time_text(t.longest_wait_ns), t.published, t.taken, t.missed,
        t.lost, bytes_text(t.sent_copied), bytes_text(t.sent_shared));
  }

  void meetings() {
    if (totals_.meetings.empty()) return;
    text_ +=
        "<h2>Locks, barriers, signals</h2>\n<table id=\"meetings\"><tr><th>name</th>"
        "<th class=\"t\">kind</th><th>calls</th><th>waited</th><th>mean</th><th>longest</th>"
        "</tr>\n";
    for (std::size_t i = 0; i < std::min(kMostRows, totals_.meetings.size()); ++i) {
      const MeetingTotals& one = totals_.meetings[i];
      put("<tr><td>{}</td><td class=\"t\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
          "</tr>\n",
          escaped(text_of(job_, one.object)), kMakings[static_cast<std::size_t>(one.making)],
          one.times, time_text(one.wait_ns), time_text(mean(one.wait_ns, one.times)),
          time_text(one.longest_ns));
    }
    text_ += "</table>\n";
    rest(totals_.meetings.size(), "of them");
  }

  void key() {
    text_ += "<p class=\"key\">";
    for (std::size_t s = 1; s < std::size(kStates); ++s)
      put("<span style=\"background:{}\"></span>{}", kColours[s], kStates[s]);
    put(" &nbsp; from 0 to {}</p>\n", time_text(job_.length_ns));
  }

  // One area a state, one upon the other.
  void states_of_nodes() {
    text_ += "<h2>Copies by state, over time</h2>\n";
    key();
    for (const NodeLog& log : job_.logs) {
      if (log.has_strips) continue;
      StatesInTime all = states_in_time(job_, log, kPoints);
      std::uint32_t most = 1;
      for (const auto& at : all) most = std::max(most, at[0] + at[1] + at[2]);
      put("<p>node {}, at most {} copies</p>\n", log.node, most);
      text_ += begin_drawing(job_, kHeight);
      for (std::size_t s = 3; s > 0; --s) {
        put("<polygon fill=\"{}\" points=\"{},{}", kColours[s], kLeft, kHeight);
        for (std::size_t p = 0; p < kPoints; ++p) {
          std::uint32_t sum = 0;
          for (std::size_t below = 0; below < s; ++below) sum += all[p][below];
          auto y = kHeight - static_cast<double>(sum) * kHeight / most;
          put(" {},{:.1f} {},{:.1f}", kLeft + p * kWidth / kPoints, y,
              kLeft + (p + 1) * kWidth / kPoints, y);
        }
        put(" {},{}\"><title>{}</title></polygon>\n", kLeft + kWidth, kHeight, kStates[s]);
      }
      text_ += kEndDrawing;
    }
  }

  // A strip a node.
  void states_of_chunks() {
    std::vector<const ChunkTotals*> busy;
    for (const ChunkTotals& chunk : totals_.chunks)
      if (chunk.tally.states > 0) busy.push_back(&chunk);
    std::stable_sort(busy.begin(), busy.end(), [](const ChunkTotals* a, const ChunkTotals* b) {
      return a->tally.states > b->tally.states;
    });
    if (busy.empty()) return;
    put("<h2>Chunks that changed most, a strip for each node</h2>\n");
    key();
    for (std::size_t i = 0; i < std::min(kMostChunks, busy.size()); ++i) {
      put("<p>{}: {} changes</p>\n", escaped(text_of(job_, busy[i]->object)),
          busy[i]->tally.states);
      text_ += begin_drawing(job_, kStrip * static_cast<int>(job_.logs.size()));
      for (std::size_t n = 0; n < job_.logs.size(); ++n) strip(job_.logs[n], busy[i]->object, n);
      text_ += kEndDrawing;
    }
    if (busy.size() > kMostChunks)
      put("<p>{} more chunks are not shown.</p>\n", busy.size() - kMostChunks);
  }

  void strip(const NodeLog& log, std::uint64_t object, std::size_t row) {
    std::vector<std::uint8_t> all = states_of_chunk(job_, log, object, kPoints);
    put("<text x=\"0\" y=\"{}\">node {}</text>\n", (row + 1) * kStrip - 3, log.node);
    for (std::size_t from = 0, to = 0; from < kPoints; from = to) {
      for (to = from; to < kPoints && all[to] == all[from]; ++to) {
      }
      if (all[from] == 0) continue;
      put("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"><title>node {}: {}, {} "
          "to {}"
          "</title></rect>\n",
          kLeft + from * kWidth / kPoints, row * kStrip, (to - from) * kWidth / kPoints, kStrip - 1,
          kColours[all[from]], log.node, kStates[all[from]], time_at(job_, from),
          time_at(job_, to));
    }
  }

  const JobLog& job_;
  const Totals& totals_;
  const std::vector<Stream> streams_;
  PageTotals pages_;
  std::string text_;
};

}  // namespace

std::string as_html(const JobLog& job, const Totals& totals) { return Page(job, totals).write(); }

}  // namespace terrane::tools::report
