#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "tools/launch/loop.h"
#include "tools/launch/watch/collector.h"
#include "tools/launch/watch/metrics_address.h"
#include "tools/launch/watch/metrics_page.h"

namespace terrane::tools {

// Serves http://ADDRESS:PORT/metrics (HTTP/1.1, one request a connection). Asks the nodes when it
// is asked. Owns its sockets, and keeps a bounded number of visitors, for a bounded time and with a
// bounded request. Whoever reaches the port may read.
class MetricsServer {
 public:
  MetricsServer(Loop& loop, Collector& collector);
  ~MetricsServer();
  MetricsServer(const MetricsServer&) = delete;

  // The error names the address and why it cannot listen there.
  base::Result<> open(const MetricsAddress& address);
  // Of the page, after open().
  const std::string& url() const { return url_; }

 private:
  struct Visitor {
    base::UniqueFd socket;
    std::string request, response;
    std::size_t sent = 0;
    std::uint64_t until_ms = 0;
    bool answered = false;  // the response is there, or is being made
  };

  void admit();
  void on_ready(const std::shared_ptr<Visitor>& visitor, std::uint32_t events);
  void answer(const std::shared_ptr<Visitor>& visitor);
  void respond(const std::shared_ptr<Visitor>& visitor, const std::string& status,
               const std::string& type, const std::string& body);
  void write(const std::shared_ptr<Visitor>& visitor);
  void drop(const std::shared_ptr<Visitor>& visitor);
  void drop_late();

  Loop& loop_;
  Collector& collector_;
  MetricsPage page_;
  base::UniqueFd listener_;
  std::string url_;
  std::list<std::shared_ptr<Visitor>> visitors_;
  Timer late_;
};

}  // namespace terrane::tools
