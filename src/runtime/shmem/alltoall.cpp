#include <memory>

#include "runtime/shmem/clustered.h"
#include "runtime/shmem/collectives.h"
#include "runtime/shmem/transfer.h"

namespace terrane::runtime::shmem {
namespace {

template <typename Element>
void copy_elements(void* to, std::uint64_t to_stride, const void* from, std::uint64_t from_stride,
                   std::uint64_t count) {
  auto* target = static_cast<Element*>(to);
  auto* source = static_cast<const Element*>(from);
  for (std::uint64_t i = 0; i < count; ++i) target[i * to_stride] = source[i * from_stride];
}

struct Pair {
  std::uint64_t first, second;
};

void copy_strided(void* to, const void* from, AlltoallStrides strides, std::uint64_t count,
                  std::uint64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return copy_elements<std::uint8_t>(to, strides.dest, from, strides.source, count);
    case 2:
      return copy_elements<std::uint16_t>(to, strides.dest, from, strides.source, count);
    case 4:
      return copy_elements<std::uint32_t>(to, strides.dest, from, strides.source, count);
    case 8:
      return copy_elements<std::uint64_t>(to, strides.dest, from, strides.source, count);
    default:
      return copy_elements<Pair>(to, strides.dest, from, strides.source, count);
  }
}

// Bytes from the first element to the end of the last one.
std::uint64_t span(std::uint64_t count, std::uint64_t stride, std::uint64_t element_bytes) {
  return ((count - 1) * stride + 1) * element_bytes;
}

struct StridedBlocks {
  SymmetricAddress dest;
  SymmetricAddress source;
  AlltoallStrides strides;
  std::uint64_t count;
  std::uint64_t element_bytes;

  std::uint64_t dest_block(std::uint64_t block) const {
    return block * count * strides.dest * element_bytes;
  }
  std::uint64_t source_block(std::uint64_t block) const {
    return block * count * strides.source * element_bytes;
  }
};

// One message carries a far block's elements and all bytes between them.
void alltoalls_get(Team& team, std::byte* dest, const StridedBlocks& blocks) {
  std::uint64_t bytes = span(blocks.count, blocks.strides.source, blocks.element_bytes);
  std::unique_ptr<std::byte[]> far;
  team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    SymmetricAddress from = blocks.source + blocks.source_block(team.self());
    const std::byte* block = team.world().memory().at(team.pe(member), from);
    if (block == nullptr) {
      if (!far) far = std::make_unique_for_overwrite<std::byte[]>(bytes);
      team.reach().get(team.pe(member), from, far.get(), bytes);
      block = far.get();
    }
    copy_strided(dest + blocks.dest_block(member), block, blocks.strides, blocks.count,
                 blocks.element_bytes);
  });
  team.sync();
}

void alltoalls_put(Team& team, const std::byte* source, const StridedBlocks& blocks) {
  for_each_member(team, [&](std::uint32_t member) {
    SymmetricAddress to = blocks.dest + blocks.dest_block(team.self());
    copy_strided(team.world().memory().at(team.pe(member), to),
                 source + blocks.source_block(member), blocks.strides, blocks.count,
                 blocks.element_bytes);
  });
  team.sync();
}

}  // namespace

void alltoall(Team& team, void* dest, const void* source, std::uint64_t bytes) {
  if (bytes == 0) return;
  if (team.clusters() != nullptr && clustered::alltoall_pays(team, bytes))
    return clustered::alltoall(team, dest, source, bytes);
  std::uint64_t all = bytes * team.size(), ours = bytes * team.self();
  bool put = team.choose(Collective::kAlltoall, bytes) == Algorithm::kPut;
  SymmetricAddress from = symmetric(team, source, all, "source");
  SymmetricAddress to = symmetric(team, dest, all, "dest");
  if (!put) team.sync();
  for_each_member(team, [&](std::uint32_t member) {
    if (put) {
      team.reach().put(team.pe(member), to + ours,
                       static_cast<const std::byte*>(source) + member * bytes, bytes);
    } else {
      team.reach().start_get(team.pe(member), from + ours,
                             static_cast<std::byte*>(dest) + member * bytes, bytes);
    }
  });
  team.reach().quiet();
  team.sync();
}

void alltoalls(Team& team, void* dest, const void* source, AlltoallStrides strides,
               std::uint64_t count, std::uint64_t element_bytes) {
  if (count == 0) return;
  std::uint64_t elements = count * team.size();
  StridedBlocks blocks{
      symmetric(team, dest, span(elements, strides.dest, element_bytes), "dest"),
      symmetric(team, source, span(elements, strides.source, element_bytes), "source"), strides,
      count, element_bytes};
  bool put = team.choose(Collective::kAlltoalls, count * element_bytes) == Algorithm::kPut;
  if (put && team.on_one_host()) {
    alltoalls_put(team, static_cast<const std::byte*>(source), blocks);
  } else {
    alltoalls_get(team, static_cast<std::byte*>(dest), blocks);
  }
}

}  // namespace terrane::runtime::shmem
