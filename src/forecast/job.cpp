#include "forecast/job.h"

#include <fmt/format.h>

#include <algorithm>

namespace terrane::forecast {

namespace {

std::uint64_t count_pages(Program& program) {
  std::uint64_t pages = 0;
  for (const Region& region : program.regions()) pages += region.pages;
  return pages;
}

Setup with_places(Setup setup, std::uint32_t threads) {
  for (std::uint32_t t = 0; setup.node_of.size() < threads; ++t)
    setup.node_of.push_back(
        static_cast<std::uint32_t>(std::uint64_t{t} * setup.nodes / std::max(threads, 1u)));
  return setup;
}

}  // namespace

Job::Job(Program& the_program, const Setup& the_setup, Observer* the_observer)
    : setup(with_places(the_setup, the_program.threads())),
      costs(setup.costs),
      program(the_program),
      observer(the_observer),
      pages(count_pages(the_program)),
      blocks((pages + 127) / 64 * 64),
      accounts(pages, setup.nodes),
      failure(refuse()) {}

// What is wrong with the arguments; empty: nothing.
std::string Job::refuse() const {
  if (setup.nodes == 0 || setup.processors == 0) return "a node and a processor are needed";
  for (std::uint32_t t = 0; t < program.threads(); ++t)
    if (setup.node_of[t] >= setup.nodes)
      return fmt::format("thread {} is placed on node {} of {}", t, setup.node_of[t], setup.nodes);
  std::uint64_t next = 0;
  for (const Region& region : program.regions()) {
    if (region.first != next || region.pages == 0)
      return fmt::format("a region of {} pages begins at page {}, and {} is next", region.pages,
                         region.first, next);
    next += region.pages;
  }
  return next == 0 ? "the program has no pages" : "";
}

// A sender sends, and a receiver receives, one message at a time.
void Job::post(std::uint32_t from, std::uint32_t to, std::vector<std::byte> bytes) {
  std::size_t size = size_of(bytes);
  Message message{from, to, size, std::move(bytes)};
  Node& sender = *nodes[from];
  Node& receiver = *nodes[to];
  ++sender.tally.messages;
  sender.tally.bytes += size;
  auto transfer = static_cast<Ns>(static_cast<double>(size) * costs.per_byte);
  sender.out_free =
      std::max(now(), sender.out_free) + static_cast<Ns>(costs.per_message) + transfer;
  Ns first = sender.out_free - transfer + static_cast<Ns>(costs.latency);
  receiver.in_free = std::max(first, receiver.in_free) + transfer;
  std::uint32_t number = 0;
  if (free_messages_.empty()) {
    number = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(std::move(message));
  } else {
    number = free_messages_.back();
    free_messages_.pop_back();
    messages_[number] = std::move(message);
  }
  agenda.add(Happening::Kind::kArrives, receiver.in_free, to, number);
}

}  // namespace terrane::forecast
