// The receiving end of a ring whose sender writes what it likes.
#include <memory>

#include "base/check.h"
#include "fuzz/fuzz_target.h"
#include "fuzz/input_reader.h"
#include "fuzz/input_writer.h"
#include "transport/gather.h"
#include "transport/shm/ring_reader.h"

namespace terrane::fuzz {
namespace {

using namespace transport::shm;

constexpr std::uint64_t kRingBytes = 4096;
constexpr int kLooksAWrite = 64;

struct alignas(kPage) Memory {
  ControlPage control{};
  RingControl ring{};
  alignas(kLine) std::byte data[kRingBytes] = {};
};

// What the receiver of messages would do with them: reads every byte.
std::uint32_t sum_of(std::span<const std::byte> message) {
  std::uint32_t sum = 0;
  for (std::byte byte : message) sum += static_cast<std::uint32_t>(byte);
  return sum;
}

}  // namespace

void run_one(std::span<const std::byte> input) {
  InputReader reader(input);
  // On the heap, and the data last: a sanitizer sees what is read beyond.
  auto memory = std::make_unique<Memory>();
  RingReader ring({&memory->ring, memory->data, kRingBytes}, memory->control);
  volatile std::uint32_t sum = 0;
  while (!reader.empty()) {
    std::size_t at = reader.take<std::uint16_t>() % kRingBytes;
    std::span<const std::byte> bytes = reader.take_part();
    bytes = bytes.first(std::min(bytes.size(), kRingBytes - at));
    if (!bytes.empty()) std::memcpy(memory->data + at, bytes.data(), bytes.size());
    for (int look = 0; look < kLooksAWrite; ++look) {
      RingReader::Found found = ring.look();
      if (found == RingReader::Found::kBroken) return;  // the inbox closes the source
      if (found == RingReader::Found::kNothing) break;
      if (found == RingReader::Found::kMessage) {
        sum = sum + sum_of(ring.message());
        ring.done();
      }
    }
    ring.free_space();
  }
}

// What a real sender leaves in the ring, message after message.
std::vector<Input> seeds() {
  std::vector<Input> all;
  for (std::size_t size : {0, 1, 48, 100, 1900, 3000, 9000}) {
    auto memory = std::make_unique<Memory>();
    RingWriter writer({&memory->ring, memory->data, kRingBytes}, memory->control, NodeId{1});
    RingReader reader({&memory->ring, memory->data, kRingBytes}, memory->control);
    std::vector<std::byte> message(size, std::byte{7});
    InputWriter input;
    for (int round = 0; round < 3; ++round) {
      transport::Gather rest(message, {});
      for (bool done = false; !done;) {
        done = writer.write(rest, size);
        input.put(std::uint16_t{0}).part(memory->data);
        for (auto found = reader.look(); found != RingReader::Found::kNothing;
             found = reader.look()) {
          if (found == RingReader::Found::kMessage) reader.done();
        }
        reader.free_space();
      }
    }
    all.push_back(input.input());
  }
  return all;
}

}  // namespace terrane::fuzz
