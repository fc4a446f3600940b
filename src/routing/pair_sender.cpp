#include "routing/pair_sender.h"

#include <algorithm>

namespace terrane::routing {
inline namespace TERRANE_ROUTING_VARIANT {
namespace {

// Appends bytes [begin, begin + size) of two parts that follow each other.
void append_range(std::vector<std::byte>& out, Bytes head, Bytes tail, std::size_t begin,
                  std::size_t size) {
  if (begin < head.size()) {
    Bytes part = head.subspan(begin, std::min(size, head.size() - begin));
    out.insert(out.end(), part.begin(), part.end());
    begin += part.size();
    size -= part.size();
  }
  if (size == 0) return;
  Bytes part = tail.subspan(begin - head.size(), size);
  out.insert(out.end(), part.begin(), part.end());
}

}  // namespace

void PairSender::append(Address from, Address to, std::uint16_t tag, Bytes head, Bytes tail,
                        std::uint32_t frame_payload) {
  const std::size_t total = head.size() + tail.size();
  if (total > frame_payload) mark(Mark::kMessageSplit);
  std::size_t done = 0;
  do {
    std::size_t size = std::min<std::size_t>(total - done, frame_payload);
    FrameHeader header{.payload_bytes = static_cast<std::uint32_t>(size),
                       .kind = FrameKind::kData,
                       .tag = tag,
                       .from = from,
                       .to = to,
                       .position = end_,
                       .rest = total - done - size};
    const auto* bytes = reinterpret_cast<const std::byte*>(&header);
    buffer_.insert(buffer_.end(), bytes, bytes + sizeof header);
    append_range(buffer_, head, tail, done, size);
    buffer_.resize(buffer_.size() + (-size & 7));
    end_ += frame_bytes(header.payload_bytes);
    done += size;
  } while (done < total);
}

void PairSender::append_bye(Address from, Address to) {
  append_frame(buffer_, {.kind = FrameKind::kBye, .from = from, .to = to, .position = end_}, {});
  end_ += frame_bytes(0);
}

std::uint64_t PairSender::bytes_at(std::uint64_t position) const {
  FrameHeader header;
  std::memcpy(&header, at(position), sizeof header);
  return frame_bytes(header.payload_bytes);
}

bool PairSender::may_send(std::uint64_t window) const {
  return sent_ < end_ && sent_ + bytes_at(sent_) <= taken_ + window;
}

Bytes PairSender::next() const { return {at(sent_), bytes_at(sent_)}; }

void PairSender::advance() {
  sent_ += bytes_at(sent_);
  most_sent_ = std::max(most_sent_, sent_);
}

bool PairSender::take(std::uint64_t position) {
  if (position > most_sent_) return false;
  std::uint64_t taken = taken_;
  while (taken < position) taken += bytes_at(taken);
  if (position < taken_) {
    mark(Mark::kTakenStale);
    return true;
  }
  if (taken != position) return false;
  begin_ += position - taken_;
  taken_ = position;
  if (taken_ > sent_) mark(Mark::kTakenAheadOfSent);
  sent_ = std::max(sent_, taken_);
  give_back();
  return true;
}

void PairSender::drop() {
  taken_ = sent_ = most_sent_ = end_;
  begin_ = buffer_.size();
  give_back();
}

// Frees the memory of taken frames, if moving the rest to the front of the buffer is cheap.
void PairSender::give_back() {
  if (begin_ == buffer_.size()) {
    if (buffer_.capacity() > kKeptCapacity) buffer_ = {};
    buffer_.clear();
    begin_ = 0;
  } else if (begin_ > buffer_.size() / 2) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
}

}  // namespace TERRANE_ROUTING_VARIANT
}  // namespace terrane::routing
