// Event logs as a node left them, or as anybody else made them: one or two, and what is written of
// them.
#include <cstring>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "runtime/trace/log_format.h"
#include "tools/report/html.h"
#include "tools/report/trace_events.h"

namespace terrane::fuzz {
namespace {

using namespace tools::report;
using namespace runtime::trace;

void write_all(const JobLog& job) {
  std::string page = as_html(job, count(job));
  TERRANE_CHECK(page.ends_with("</body></html>\n"), "a page is whole");
  for (char c : page)
    TERRANE_CHECK(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "a page has no controls");
  std::string json;
  write_trace_events(job, [&](std::string_view text) { json += text; });
  bool whole = json.ends_with("]}\n") || json.ends_with("\"}}\n");  // what is sampled comes last
  TERRANE_CHECK(whole, "a trace is whole");
  for (char c : json)
    TERRANE_CHECK(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "JSON has no controls");
}

template <typename T>
void put(Input& input, const T& value) {
  std::size_t there = input.size();
  input.resize(there + sizeof value);
  std::memcpy(input.data() + there, &value, sizeof value);
}

Input log_of(std::uint32_t node, const std::vector<Record>& records, std::string_view text) {
  Input input;
  FileHeader header;
  header.node = node;
  header.nodes = 2;
  put(input, header);
  put(input, BlockHeader{.kind = BlockKind::kEvents, .bytes = 12});
  for (char c : std::string_view("103 state\n7\n")) input.push_back(static_cast<std::byte>(c));
  auto count = static_cast<std::uint32_t>(records.size() + 2);
  put(input, BlockHeader{.thread = 4, .bytes = count * 32});
  auto length = static_cast<std::uint32_t>(text.size());
  put(input, Record{.object = 9, .value = 64, .event = Event::kObjectName, .number = length});
  for (std::size_t i = 0; i < 32; ++i)
    input.push_back(static_cast<std::byte>(i < text.size() ? text[i] : 0));
  for (const Record& record : records) put(input, record);
  put(input, BlockHeader{.kind = BlockKind::kEnd});
  return input;
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  auto one = parse_log(input, "LOG");
  if (!one) return;
  NodeLog other = one.value();
  other.node = other.nodes - 1 - other.node;
  std::vector<NodeLog> logs{std::move(one).value()};
  if (other.node != logs[0].node) logs.push_back(std::move(other));
  if (auto job = join_logs(std::move(logs))) write_all(job.value());
}

// One of each event in a range, without texts.
std::vector<Record> records_of(std::uint16_t first, std::uint16_t end) {
  std::vector<Record> records;
  for (std::uint16_t event = first; event < end; ++event) {
    Record record{.time_ns = 1000u + event, .object = 9, .value = 12};
    record.event = static_cast<Event>(event);
    record.kind = static_cast<std::uint8_t>(event % 4);
    records.push_back(record);
  }
  return records;
}

std::vector<Input> seeds() {
  std::vector<Record> chunks = records_of(99, 116), pages = records_of(200, 215);
  return {log_of(0, chunks, "a chunk <&\"\\>"), log_of(1, chunks, "\1lock one"),
          log_of(0, {}, "\1barrier \xff\xc3"), log_of(0, pages, "<strip>"),
          log_of(1, pages, "two\n1 2\n0.1")};
}

}  // namespace terrane::fuzz
