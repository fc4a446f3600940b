// Writes pages on all nodes while the kernel may move them, and tells of every byte that is not
// what it must be. In each round every node writes whole pages of its own and its byte of pages
// that all of them write; pages are many and dense, so that large ones can be made of them.
//
// Usage: moved_pages [MIB [ROUNDS]]
#include <terrane/pages.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kShared = 256;  // the first bytes of a page, a slot for each node

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  return z ^ (z >> 27);
}

struct Check {
  std::uint8_t* memory;
  std::uint64_t pages;
  unsigned node, nodes;
  std::uint64_t wrong = 0;

  static bool is_whole(std::uint64_t round, std::uint64_t page) {
    return mix(round, page) % 4 == 0;
  }
  unsigned owner(std::uint64_t round, std::uint64_t page) const {
    return static_cast<unsigned>(mix(round, page) / 4 % nodes);
  }
  static std::uint8_t value(std::uint64_t round, std::uint64_t page, unsigned of) {
    return static_cast<std::uint8_t>(mix(round + 77, page) + of);
  }

  void write(std::uint64_t round) {
    for (std::uint64_t p = 0; p < pages; ++p) {
      std::uint8_t* page = memory + p * kPage;
      if (!is_whole(round, p)) {
        page[node] = value(round, p, node);
      } else if (owner(round, p) == node) {
        std::memset(page + kShared, value(round, p, 0), kPage - kShared);
      }
    }
  }

  void compare(std::uint64_t round, std::uint64_t p, std::uint64_t at, std::uint8_t wanted) {
    std::uint8_t found = memory[p * kPage + at];
    if (found == wanted || ++wrong > 5) return;
    std::printf("node %u: byte %lu of page %lu is %u in round %lu, not %u\n", node,
                static_cast<unsigned long>(at), static_cast<unsigned long>(p), found,
                static_cast<unsigned long>(round), wanted);
  }

  void read(std::uint64_t round) {
    for (std::uint64_t p = 0; p < pages; ++p) {
      if (is_whole(round, p)) {
        for (std::uint64_t at = kShared; at < kPage; at += 509)
          compare(round, p, at, value(round, p, 0));
      } else {
        for (unsigned n = 0; n < nodes; ++n) compare(round, p, n, value(round, p, n));
      }
    }
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (terrane_init() != TERRANE_OK) return 1;
  std::uint64_t mib = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 8;
  std::uint64_t rounds = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 10;
  auto* memory = static_cast<std::uint8_t*>(terrane_alloc_all(mib << 20, nullptr));
  if (memory == nullptr) return 1;
  Check check{memory, (mib << 20) / kPage, static_cast<unsigned>(terrane_node()),
              static_cast<unsigned>(terrane_nodes())};
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    check.write(round);
    terrane_barrier();
    check.read(round);
    terrane_barrier();
  }
  terrane_finalize();
  std::printf("node %u: %lu wrong\n", check.node, static_cast<unsigned long>(check.wrong));
  return check.wrong == 0 ? 0 : 1;
}
