// Running jobs, as `terrane top` and Prometheus see them.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/unique_fd.h"
#include "on_hosts.h"

namespace terrane::test_hosts {
namespace {

using cluster_test::kTerrane;
using cluster_test::words;

// The first item of a list in a line of JSON, without what is in it.
std::string first_of(const std::string& json, const std::string& list) {
  std::size_t at = json.find("\"" + list + "\":[{");
  if (at == std::string::npos) return "";
  return json.substr(at, json.find('}', at) - at);
}

double number_in(const std::string& json, const std::string& name) {
  std::size_t at = json.find("\"" + name + "\":");
  return at == std::string::npos ? -1 : std::strtod(json.c_str() + at + name.size() + 3, nullptr);
}

// What the line has of a node.
std::string node_in(const std::string& json, int node) {
  std::size_t at = json.find("{\"node\":" + std::to_string(node) + ",");
  if (at == std::string::npos) return "";
  return json.substr(at, json.find("\"memory\"", at) - at);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A page in Prometheus' text format, checked while it is read: each line is one of the format's,
// each metric has its type before its values, and no series comes twice.
std::map<std::string, double> parse_metrics(const std::string& page) {
  static const std::regex kHelp("# HELP ([a-z_]+) .+");
  static const std::regex kType("# TYPE ([a-z_]+) (counter|gauge)");
  static const std::regex kValue(
      R"re(([a-z_]+)\{((?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\} ([0-9.e+-]+))re");
  std::map<std::string, double> values;
  std::set<std::string> typed;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, kHelp)) continue;
    if (std::regex_match(line, parts, kType)) {
      EXPECT_TRUE(typed.insert(parts[1]).second) << line;
      continue;
    }
    if (!std::regex_match(line, parts, kValue)) {
      ADD_FAILURE() << "no line of the format: " << line;
      continue;
    }
    EXPECT_TRUE(typed.count(parts[1]) == 1) << line;
    if (has(parts[1], "_total")) {
      EXPECT_GE(std::stod(parts[3]), 0) << line;
    }
    std::string series = std::string(parts[1]) + "{" + std::string(parts[2]) + "}";
    EXPECT_TRUE(values.try_emplace(series, std::stod(parts[3])).second) << line;
  }
  return values;
}

double value_of(const std::map<std::string, double>& values, const std::string& metric,
                const std::string& label) {
  double sum = -1;
  for (const auto& [series, value] : values)
    if (series.starts_with(metric + "{") && has(series, label)) sum = std::max(sum, 0.0) + value;
  return sum;
}

// What a server of this host answers to one request.
std::string request(int port, const std::string& text) {
  base::UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto generic = reinterpret_cast<const sockaddr*>(&address);
  if (::connect(socket.get(), generic, sizeof address) != 0) return "no connection";
  EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
  std::string all;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::recv(socket.get(), bytes, sizeof bytes, 0)) > 0;)
    all.append(bytes, static_cast<std::size_t>(got));
  return all;
}

std::string page_at(int port) {
  std::string answer = request(port, "GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer.substr(0, 200);
  EXPECT_TRUE(has(answer, "Content-Type: text/plain; version=0.0.4")) << answer.substr(0, 200);
  return answer.substr(answer.find("\r\n\r\n") + 4);
}

class WatchTest : public OnHosts {
 protected:
  // A name that no other test has.
  std::string name() const { return "watched-" + std::to_string(::getpid()); }
  std::string job_line(const std::string& command, const std::string& options,
                       const std::string& program) const {
    return fmt::format("{} {} --name {} {} {}", kTerrane, command, name(), options, program);
  }
  std::string watched(const std::string& what) const {
    return fmt::format("{} {} 2", WATCHED_PROGRAM, what);
  }
  Outcome top(const std::string& arguments) const {
    return Launched(words(fmt::format("{} top {}", kTerrane, arguments)), {}).finish();
  }
  // A view of a running job in JSON whose list begins with an item of that name: what happens while
  // the job starts, or while the machine is busy, may come before it in some views.
  template <typename View>
  static std::string view_with(const std::string& list, const std::string& item, View view) {
    Outcome seen;
    for (int tries = 0; tries < kTries; ++tries) {
      seen = view();
      EXPECT_EQ(seen.exit_code, 0) << seen.err;
      EXPECT_EQ(count(seen.out, "\n"), 1) << seen.out;
      if (has(first_of(seen.out, list), "\"name\":\"" + item)) break;
    }
    EXPECT_TRUE(has(first_of(seen.out, list), "\"name\":\"" + item)) << seen.out;
    EXPECT_FALSE(has(seen.out, "\"answers\":false")) << seen.out;
    return seen.out;
  }
  std::string view_of(const std::string& line, const std::string& list, const std::string& item) {
    Launched job(words(line), {});
    EXPECT_TRUE(job.wait_for("running")) << job.err();
    return view_with(list, item, [this] { return top("--once --json " + name()); });
  }
  std::string threads_line(const std::string& what) const {
    return job_line("threads", "-n 2 --placement 1", watched(what));
  }

  static constexpr int kTries = 8;
};

TEST_F(WatchTest, CountersOfOnePageAreTheHottestPage) {
  std::string view = view_of(threads_line("counters"), "pages", "counters\"");
  std::string page = first_of(view, "pages");
  // The home need not wait, and either node may be it.
  EXPECT_TRUE(has(page, "\"nodes\":[0") || has(page, "\"nodes\":[1")) << view;
  EXPECT_GT(number_in(page, "flushed") + number_in(page, "fetched"), 10) << view;
  for (int node : {0, 1}) {
    EXPECT_EQ(number_in(node_in(view, node), "threads"), 1) << view;
    double sum = 0;
    for (const char* kind : {"computing", "locks", "barriers", "protocol"})
      sum += number_in(node_in(view, node), kind);
    EXPECT_GT(sum, 0.5) << view;
    EXPECT_LT(sum, 1.1) << view;
  }
}

TEST_F(WatchTest, ALockThatTravelsIsNamedWithTheNodesThatWait) {
  std::string view = view_of(threads_line("lock"), "locks", "the lock hot_lock");
  std::string lock = first_of(view, "locks");
  EXPECT_TRUE(has(lock, "\"nodes\":[0,1]") || has(lock, "\"nodes\":[1,0]")) << view;
  EXPECT_GT(number_in(lock, "acquires"), number_in(lock, "remote")) << view;
  EXPECT_GT(number_in(lock, "remote"), 0) << view;
}

TEST_F(WatchTest, WhatAMasterFillsIsWhatTheOtherNodeWaitsFor) {
  std::string view = view_of(threads_line("master"), "pages", "filled");
  EXPECT_GT(number_in(node_in(view, 1), "fetched"), 100) << view;
  EXPECT_GT(number_in(node_in(view, 1), "faults"), number_in(node_in(view, 0), "faults")) << view;
}

TEST_F(WatchTest, ChunksHaveRatesAndWaits) {
  std::string view =
      view_of(job_line("run", "-n 2", std::string(STREAM_PROGRAM) + " 60"), "streams", "frames");
  std::string stream = first_of(view, "streams");
  EXPECT_GT(number_in(stream, "written"), 20) << view;
  EXPECT_NEAR(number_in(stream, "written_bytes"), 10'000 * number_in(stream, "written"), 1e5);
  EXPECT_GT(number_in(stream, "taken"), 20) << view;
  EXPECT_GT(number_in(stream, "take_wait"), 1e-4) << view;
}

TEST_F(WatchTest, LinesComeUntilTheJobEnds) {
  Launched job(words(threads_line("counters")), {});
  ASSERT_TRUE(job.wait_for("running"));
  Launched viewer(words(fmt::format("{} top --json --interval 0.2 {}", kTerrane, name())), {});
  EXPECT_TRUE(viewer.wait_for("\"job\":\"" + name(), 3)) << viewer.out() << viewer.err();
  ::kill(job.pid(), SIGTERM);
  Outcome lines = viewer.finish();
  EXPECT_EQ(lines.exit_code, 0) << lines.err;
  EXPECT_EQ(count(lines.out, "\"job\":\"" + name()), count(lines.out, "\n"));
}

TEST_F(WatchTest, TextHasANodeALineAndNames) {
  Launched job(words(threads_line("lock")), {});
  ASSERT_TRUE(job.wait_for("running"));
  Outcome view = top("--once " + name());
  EXPECT_EQ(view.exit_code, 0) << view.err;
  EXPECT_TRUE(has(view.out, "2 of 2 nodes")) << view.out;
  EXPECT_TRUE(has(view.out, "the lock hot_lock")) << view.out;
  // By the number of its process, and where it is the only one.
  EXPECT_EQ(top("--once " + std::to_string(job.pid())).exit_code, 0);
}

TEST_F(WatchTest, AJobWithoutCountersHasItsProcesses) {
  Launched job(words(job_line("run", "-n 2", "sleep 20")), {});
  Outcome view;
  for (int tries = 0; tries < 50 && view.exit_code != 0; ++tries) {
    ::usleep(20'000);
    view = top("--once --json --interval 0.2 " + name());
  }
  EXPECT_EQ(count(view.out, "\"answers\":false"), 2) << view.out << view.err;
  EXPECT_GT(number_in(view.out, "resident_bytes"), 0) << view.out;
}

TEST_F(WatchTest, WhoNamesNoJobThatRunsIsToldWhichDo) {
  Launched job(words(job_line("run", "", "sleep 20")), {});
  ::usleep(300'000);
  Outcome wrong = top("--once no-such-job");
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(has(wrong.err, "no job no-such-job of yours runs on this host; there ")) << wrong.err;
  EXPECT_TRUE(has(wrong.err, name() + " (sleep, process " + std::to_string(job.pid())))
      << wrong.err;
  Outcome live = top(name());
  EXPECT_EQ(live.exit_code, 2);
  EXPECT_TRUE(has(live.err, "give --once for one view, or --json")) << live.err;
}

TEST_F(WatchTest, AnotherUserSeesNothingOfAJob) {
  if (!cluster_test::is_root()) GTEST_SKIP() << "only root can become another user";
  Launched job(words(job_line("run", "", "sleep 20")), {});
  ::usleep(300'000);
  std::vector<std::string> command = words(fmt::format("{} top --once {}", kTerrane, name()));
  Outcome other = Launched(command, {.as_nobody = true}).finish();
  if (other.exit_code == 127 || other.exit_code == 126) GTEST_SKIP() << "nobody may not run it";
  EXPECT_EQ(other.exit_code, 1);
  EXPECT_TRUE(has(other.err, "job " + name() + " belongs to user root, and user nobody"))
      << other.err;
}

// Reads the port of "metrics: http://127.0.0.1:PORT/metrics".
int port_in(const std::string& text) {
  std::size_t at = text.find("http://127.0.0.1:");
  return at == std::string::npos ? 0 : std::atoi(text.c_str() + at + 17);
}

TEST_F(WatchTest, PrometheusReadsTheCountersOfAllNodes) {
  Launched job(words(job_line("threads", "-n 2 --placement 1 --metrics 0", watched("counters"))),
               {});
  ASSERT_TRUE(job.wait_for("running"));
  int port = port_in(job.err());
  ASSERT_GT(port, 0) << job.err();
  auto first = parse_metrics(page_at(port));
  ::usleep(500'000);
  auto second = parse_metrics(page_at(port));
  for (const char* node : {"node=\"0\"", "node=\"1\""}) {
    EXPECT_EQ(value_of(second, "terrane_up", node), 1);
    EXPECT_GT(value_of(second, "terrane_thread_seconds_total", node),
              value_of(first, "terrane_thread_seconds_total", node));
    EXPECT_GT(value_of(second, "terrane_barriers_total", node), -1);
    EXPECT_GT(value_of(second, "terrane_memory_bytes", node), 0);
  }
  for (const auto& [series, value] : first) {
    bool stays = has(series, "_total{") && !has(series, "_hot_");
    if (stays && second.count(series) == 1) {
      EXPECT_GE(second[series], value) << series;
    }
  }
  EXPECT_GT(value_of(second, "terrane_hot_page_flushes_total", "name=\"counters\""), 0);
}

TEST_F(WatchTest, TheMetricsPortAnswersNothingElse) {
  Launched job(words(job_line("run", "--metrics 0", "sleep 20")), {});
  ASSERT_TRUE(job.wait_for("/metrics"));
  int port = port_in(job.err());
  EXPECT_TRUE(request(port, "GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404 "));
  EXPECT_TRUE(request(port, "POST /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 405 "));
  EXPECT_TRUE(request(port, "hello\r\n\r\n").starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(request(port, std::string(9000, 'x')).starts_with("HTTP/1.1 431 "));
  parse_metrics(page_at(port));
}

TEST_F(WatchTest, AMetricsPortInUseEndsTheJobBeforeItStarts) {
  base::UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(taken.get(), generic, size), 0);
  ASSERT_EQ(::listen(taken.get(), 1), 0);
  ASSERT_EQ(::getsockname(taken.get(), generic, &size), 0);
  std::string options = "--metrics " + std::to_string(ntohs(address.sin_port));
  Outcome refused = Launched(words(job_line("run", options, "echo started")), {}).finish();
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.out, "");
  EXPECT_TRUE(has(refused.err, "Address already in use; give another port, or 0")) << refused.err;
  Outcome wrong = Launched(words(job_line("run", "--metrics here", "true")), {}).finish();
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_TRUE(has(wrong.err, "--metrics here: give a port")) << wrong.err;
}

// `terrane top` on the host of the launcher, about nodes of two hosts.
TEST_F(WatchTest, AJobOnTwoHostsIsSeenAsOne) {
  if (!make_hosts({.hosts = 2})) return;
  std::string options = "--heartbeat 20 -H h0,h1 --placement 1 --metrics 9187";
  Launched job = launch(0, words(job_line("threads", options, watched("counters"))));
  ASSERT_TRUE(job.wait_for("running")) << job.err();
  std::string line = fmt::format("{} top --once --json {}", kTerrane, name());
  std::string view =
      view_with("pages", "counters\"", [&] { return launch(0, words(line)).finish(); });
  EXPECT_TRUE(has(node_in(view, 0), "\"host\":\"h0\"")) << view;
  EXPECT_TRUE(has(node_in(view, 1), "\"host\":\"h1\"")) << view;
  for (int node : {0, 1}) {
    EXPECT_GT(number_in(node_in(view, node), "sent_bytes"), 0) << view;
    EXPECT_GT(number_in(node_in(view, node), "received_bytes"), 0) << view;
  }
  Outcome page = launch(0, {"bash", "-c",
                            "exec 3<>/dev/tcp/127.0.0.1/9187; printf 'GET /metrics "
                            "HTTP/1.1\\r\\n\\r\\n' >&3; cat <&3"})
                     .finish();
  auto values = parse_metrics(page.out.substr(page.out.find("\r\n\r\n") + 4));
  EXPECT_EQ(value_of(values, "terrane_up", "host=\"h0\""), 1) << page.out;
  EXPECT_EQ(value_of(values, "terrane_up", "host=\"h1\""), 1) << page.out;
}

}  // namespace
}  // namespace terrane::test_hosts
