#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../cluster/launched.h"
#include "hosts.h"

namespace terrane::test_hosts {

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
    } else if (std::getenv("CI") != nullptr) {
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

 private:
  std::unique_ptr<Hosts> hosts_;
};

}  // namespace terrane::test_hosts
