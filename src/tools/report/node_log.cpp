#include "tools/report/node_log.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

namespace terrane::tools::report {
namespace {

using namespace runtime::trace;
using Bytes = std::span<const std::byte>;

template <typename T>
T take(Bytes& bytes) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data(), sizeof value);
  bytes = bytes.subspan(sizeof value);
  return value;
}

base::Result<FileHeader> check_header(Bytes& bytes, const std::string& path) {
  if (bytes.empty())
    return base::error("{} is empty: its node ended before it could write anything", path);
  bool is_log =
      bytes.size() >= sizeof kMagic && std::memcmp(bytes.data(), kMagic.data(), sizeof kMagic) == 0;
  if (!is_log) return base::error("{} is not an event log", path);
  if (bytes.size() < sizeof(FileHeader))
    return base::error("{} breaks off within its first {} bytes: nothing is in it", path,
                       sizeof(FileHeader));
  auto header = take<FileHeader>(bytes);
  if (header.byte_order != kByteOrder)
    return base::error("{} was written by a machine with the other order of bytes: read it there",
                       path);
  if (header.version != kVersion)
    return base::error(
        "{} is an event log of version {}; this terrane reads version {}: use the "
        "terrane that wrote it",
        path, header.version, kVersion);
  if (header.node >= header.nodes)
    return base::error("{} is damaged: it calls itself node {} of {}", path, header.node,
                       header.nodes);
  header.host.back() = 0;
  return header;
}

// Puts blocks together; texts span records, and may span blocks of their thread.
class Parser {
 public:
  Parser(Bytes bytes, NodeLog& out) : all_(bytes.size()), bytes_(bytes), out_(out) {}

  void run() {
    while (out_.left_out.empty() && bytes_.size() >= sizeof(BlockHeader)) block();
    if (!bytes_.empty() && out_.left_out.empty()) say("breaks off within a block");
    std::stable_sort(out_.entries.begin(), out_.entries.end(), [](const Entry& a, const Entry& b) {
      return a.record.time_ns < b.record.time_ns;
    });
  }

 private:
  struct Text {
    Record of;
    std::string text;
    std::size_t missing = 0;
  };

  void say(std::string_view what) {
    out_.left_out = fmt::format("{} {} at byte {}: {} bytes are left out", out_.path, what,
                                sizeof(FileHeader) + all_ - bytes_.size(), bytes_.size());
  }

  void block() {
    Bytes at = bytes_;
    auto header = take<BlockHeader>(bytes_);
    std::size_t there = std::min<std::size_t>(header.bytes, bytes_.size());
    bool records = header.kind == BlockKind::kRecords;
    if (header.mark != kBlockMark || (records && header.bytes % sizeof(Record) != 0)) {
      bytes_ = at;
      return say("is damaged");
    }
    if (records) there = there / sizeof(Record) * sizeof(Record);
    Bytes payload = bytes_.first(there);
    bytes_ = bytes_.subspan(there);
    if (there < header.bytes) say("breaks off within a block");
    if (records) {
      while (!payload.empty()) record(header.thread, take<Record>(payload));
    } else if (header.kind == BlockKind::kEvents) {
      events({reinterpret_cast<const char*>(payload.data()), payload.size()});
    } else if (header.kind == BlockKind::kCommand) {
      command({reinterpret_cast<const char*>(payload.data()), payload.size()});
    } else if (header.kind == BlockKind::kJob) {
      out_.job.assign(reinterpret_cast<const char*>(payload.data()), payload.size());
    } else if (header.kind == BlockKind::kEnd) {
      out_.ended = true;
    }
  }

  void record(std::uint32_t thread, const Record& record) {
    Text& text = texts_[thread];
    if (text.missing > 0) {
      std::size_t part = std::min(text.missing, sizeof record);
      text.text.append(reinterpret_cast<const char*>(&record), part);
      text.missing -= part;
      if (text.missing == 0) named(text);
    } else if (has_text(record.event)) {
      text = {record, {}, record.number};
      if (text.missing == 0) named(text);
    } else if (record.event == Event::kScopesEvery) {
      out_.scopes_every = record.number;
    } else {
      out_.is_shmem = out_.is_shmem || record.event == Event::kShmem;
      out_.has_strips = out_.has_strips || out_.is_shmem || record.event == Event::kPages;
      out_.entries.push_back({record, thread});
    }
  }

  void named(const Text& text) {
    if (text.of.event == Event::kObjectName) {
      out_.objects[text.of.object] = {text.text, text.of.value, text.of.kind};
    } else if (text.of.event != Event::kThreadName) {
      out_.texts.push_back({text.of, text.text});
    } else {
      out_.threads[static_cast<std::uint32_t>(text.of.object)] = text.text;
    }
  }

  void command(std::string_view words) {
    while (!words.empty()) {
      std::string_view word = words.substr(0, words.find('\0'));
      out_.command.emplace_back(word);
      words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
  }

  void events(std::string_view lines) {
    while (!lines.empty()) {
      std::string_view line = lines.substr(0, lines.find('\n'));
      lines.remove_prefix(std::min(line.size() + 1, lines.size()));
      std::uint16_t number = 0;
      auto [end, bad] = std::from_chars(line.data(), line.data() + line.size(), number);
      auto digits = static_cast<std::size_t>(end - line.data());
      if (bad == std::errc() && digits < line.size()) out_.events[number] = line.substr(digits + 1);
    }
  }

  std::size_t all_;
  Bytes bytes_;
  NodeLog& out_;
  std::map<std::uint32_t, Text> texts_;
};

}  // namespace

base::Result<NodeLog> parse_log(Bytes bytes, const std::string& path) {
  auto header = check_header(bytes, path);
  if (!header) return header.error();
  NodeLog log{.path = path, .host = header.value().host.data()};
  log.node = header.value().node;
  log.nodes = header.value().nodes;
  log.monotonic_ns = header.value().monotonic_ns;
  log.realtime_ns = header.value().realtime_ns;
  Parser(bytes, log).run();
  return log;
}

base::Result<NodeLog> read_log(const std::string& path) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                       &std::fclose);
  if (!file) return base::errno_error(path);
  std::vector<std::byte> bytes;
  std::size_t got = 0;
  do {
    std::size_t there = bytes.size();
    bytes.resize(there + (1 << 20));
    got = std::fread(bytes.data() + there, 1, 1 << 20, file.get());
    bytes.resize(there + got);
  } while (got > 0);
  if (std::ferror(file.get()) != 0) return base::errno_error(path);
  return parse_log(bytes, path);
}

}  // namespace terrane::tools::report
