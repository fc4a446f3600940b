#include "runtime/program/image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "platform/mapping.h"
#include "platform/shared_pages.h"

namespace terrane::runtime {
namespace {

void mix(std::uint64_t& hash, std::uint64_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15u; }

// The kernel's own code (vDSO), which may differ between hosts.
bool is_kernels(const platform::Module& module) { return module.name.starts_with("linux-"); }

// A library that Terrane alone needs (UCX): no address in it comes into shared memory. It is loaded
// behind the views of other nodes' memory, so it lies elsewhere where a host has more nodes.
bool is_apart(const platform::Module& module, platform::ModuleOwner owner) {
  return owner == platform::ModuleOwner::kTerrane && !module.name.starts_with("libterrane");
}

}  // namespace

std::string BuildCard::difference(const BuildCard& other) const {
  if (program != other.program) return "another build of the program: copy one file to all hosts";
  if (libraries != other.libraries)
    return "the program with other versions of its libraries (see ldd): use the same ones on all "
           "hosts";
  if (addresses != other.addresses)
    return "the program at other addresses: the limit of the stack (ulimit -s) must be the same "
           "on all hosts, and address randomisation off (a container may forbid personality(2); "
           "link with -no-pie there)";
  return {};
}

Image::Image(const std::vector<platform::Module>& modules,
             const std::vector<platform::ModuleOwner>& owners) {
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const platform::Module& module = modules[i];
    if (is_kernels(module)) continue;
    bool is_program = module.name.empty();
    mix(is_program ? card_.program : card_.libraries, module.identity);
    if (!is_apart(module, owners[i])) mix(card_.addresses, module.address);
    if (owners[i] != platform::ModuleOwner::kProgram) continue;
    for (const platform::WritablePages& pages : module.writable) {
      data_.push_back(pages);
      bytes_ += pages.end - pages.begin;
    }
  }
}

base::Result<> Image::save() {
  auto fd = platform::create_memfd(std::max<std::uint64_t>(bytes_, 1), "terrane-image");
  if (!fd) return fd.error();
  saved_.reset(fd.value());
  std::uint64_t offset = 0;
  for (const platform::WritablePages& pages : data_) {
    if (auto copied = platform::copy_pages(pages, saved_.get(), offset); !copied) return copied;
    offset += pages.end - pages.begin;
  }
  return {};
}

std::vector<Pane> Image::panes(void* region) const {
  std::vector<Pane> all;
  auto* at = static_cast<std::byte*>(region);
  for (const platform::WritablePages& pages : data_) {
    std::uint64_t bytes = pages.end - pages.begin;
    all.push_back({at, bytes, reinterpret_cast<void*>(pages.begin)});
    at += bytes;
  }
  return all;
}

base::Result<> Image::store() {
  if (bytes_ == 0) return {};
  void* copy = ::mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, saved_.get(), 0);
  if (copy == MAP_FAILED) return base::errno_error("cannot map the copy of the static data");
  std::uint64_t offset = 0;
  for (const platform::WritablePages& pages : data_) {
    auto end = static_cast<off_t>(offset + (pages.end - pages.begin));
    for (auto at = static_cast<off_t>(offset); at < end;) {
      off_t data = ::lseek(saved_.get(), at, SEEK_DATA);
      if (data < 0 || data >= end) break;
      off_t hole = std::min(end, ::lseek(saved_.get(), data, SEEK_HOLE));
      auto* to = reinterpret_cast<std::byte*>(pages.begin) + (data - static_cast<off_t>(offset));
      std::memcpy(to, static_cast<std::byte*>(copy) + data, static_cast<std::size_t>(hole - data));
      at = hole;
    }
    offset += pages.end - pages.begin;
  }
  ::munmap(copy, bytes_);
  saved_.reset();
  return {};
}

}  // namespace terrane::runtime
