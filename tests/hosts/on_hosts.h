#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "../launcher/launched.h"
#include "tools/hosts/hosts.h"

namespace terrane::test_hosts {

using cluster_test::count;
using cluster_test::Launched;
using cluster_test::Outcome;

inline const std::string kEnterHost = ENTER_HOST_BINARY;

// Tests on hosts of their own. Where hosts cannot be made they are skipped with the reason; but in
// CI they fail, so that nobody takes silence for success.
class OnHosts : public testing::Test {
 protected:
  // To be followed by a return where this is false.
  bool make_hosts(HostOptions options) {
    hosts_.reset();
    options.shared.insert(options.shared.end(), {TEST_HOSTS_SOURCES, TEST_HOSTS_BUILD});
    auto made = Hosts::make(options, TEST_HOSTS_BINARY);
    if (made) {
      hosts_ = std::make_unique<Hosts>(std::move(made).value());
    } else if (std::getenv("CI") != nullptr &&
               !made.error().message.starts_with("no control groups")) {
      ADD_FAILURE() << "no test hosts in CI: " << made.error().message;
    } else {
      [&made] { GTEST_SKIP() << "no test hosts: " << made.error().message; }();
    }
    return hosts_ != nullptr;
  }

  Hosts& hosts() { return *hosts_; }

  // Launches a command in a host; it is killed together with the object returned.
  Launched launch(std::uint32_t host, const std::vector<std::string>& words,
                  std::vector<std::string> environment = {}) const {
    std::vector<std::string> command{kEnterHost, "--here", host_name(host)};
    command.insert(command.end(), words.begin(), words.end());
    environment.push_back("TERRANE_TEST_HOSTS=" + std::to_string(hosts_->control()));
    environment.push_back("TERRANE_RSH=" + kEnterHost);
    int control = hosts_->control();
    return Launched(command, {.environment = std::move(environment),
                              .before_exec = [control] { ::fcntl(control, F_SETFD, 0); }});
  }
  Outcome run(std::uint32_t host, const std::vector<std::string>& words) const {
    return launch(host, words).finish();
  }
  Outcome shell(std::uint32_t host, const std::string& script) const {
    return run(host, {"sh", "-c", script});
  }

  // `terrane run OPTIONS PROGRAM` on the first host.
  Launched start(const std::string& options, const std::string& program,
                 std::vector<std::string> environment = {}) const {
    std::string line = std::string(cluster_test::kTerrane) + " run " + options + " " + program;
    return launch(0, cluster_test::words(line), std::move(environment));
  }
  Outcome job(const std::string& options, const std::string& program,
              std::vector<std::string> environment = {}) {
    Launched launched = start(options, program, std::move(environment));
    Outcome outcome = launched.finish();
    EXPECT_FALSE(outcome.timed_out) << options << " " << program << " hangs";
    expect_empty_hosts();
    return outcome;
  }
  // Every node says "good".
  void expect_good(int nodes, const std::string& options, const std::string& program,
                   std::vector<std::string> environment = {}) {
    Outcome outcome = job(options, program, std::move(environment));
    EXPECT_EQ(outcome.exit_code, 0) << program << ": " << outcome.err;
    EXPECT_EQ(count(outcome.out, "good"), nodes) << program << ": " << outcome.out << outcome.err;
  }
  void expect_empty_hosts() {
    for (int tries = 0; tries < 5000; ++tries) {
      std::size_t left = 0;
      for (std::uint32_t host = 0; host < hosts().count(); ++host)
        left += hosts().processes(host).size();
      if (left == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ADD_FAILURE() << "processes are left on the hosts";
  }

 private:
  std::unique_ptr<Hosts> hosts_;
};

}  // namespace terrane::test_hosts
