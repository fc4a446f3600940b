// Lists of addresses and of networks that the C library allocates and the program frees: copied to
// the program's heap, in the blocks that freeaddrinfo, freeifaddrs and if_freenameindex free.
#include <ifaddrs.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <netdb.h>
#include <netpacket/packet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "frontend/interpose/notices.h"
#include "frontend/threads/copies.h"

using terrane::frontend::next;
using namespace terrane::frontend::threads;

namespace {

void* shared_block(std::size_t bytes) {
  void* block = Program::get()->heap().allocate(bytes);
  if (block == nullptr) errno = ENOMEM;
  return block;
}

char* shared_copy(const char* text) {
  std::size_t bytes = std::strlen(text) + 1;
  auto* copy = static_cast<char*>(shared_block(bytes));
  return copy == nullptr ? nullptr : static_cast<char*>(std::memcpy(copy, text, bytes));
}

// An entry with its address in one block, and its name in another one.
addrinfo* shared_copy(const addrinfo& from) {
  auto* copy = static_cast<addrinfo*>(shared_block(sizeof(addrinfo) + from.ai_addrlen));
  if (copy == nullptr) return nullptr;
  *copy = from;
  copy->ai_next = nullptr;
  if (from.ai_addr != nullptr) {
    copy->ai_addr = reinterpret_cast<sockaddr*>(copy + 1);
    std::memcpy(copy->ai_addr, from.ai_addr, from.ai_addrlen);
  }
  if (from.ai_canonname != nullptr) copy->ai_canonname = shared_copy(from.ai_canonname);
  return copy;
}

// nullptr: there is no memory.
addrinfo* shared_list(const addrinfo* from) {
  addrinfo* first = nullptr;
  addrinfo** last = &first;
  for (; from != nullptr; from = from->ai_next) {
    *last = shared_copy(*from);
    bool failed =
        *last == nullptr || (from->ai_canonname != nullptr) != ((*last)->ai_canonname != nullptr);
    if (failed) {
      ::freeaddrinfo(first);
      return nullptr;
    }
    last = &(*last)->ai_next;
  }
  return first;
}

std::size_t bytes_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) return sizeof(sockaddr_in);
  if (address.sa_family == AF_INET6) return sizeof(sockaddr_in6);
  if (address.sa_family != AF_PACKET) return sizeof(sockaddr);
  const auto& packet = reinterpret_cast<const sockaddr_ll&>(address);
  return std::max(sizeof(sockaddr_ll), offsetof(sockaddr_ll, sll_addr) + packet.sll_halen);
}

void address(Layout& at, sockaddr*& member) {
  if (member == nullptr) return;
  at.copy(reinterpret_cast<const std::uint64_t*>(member), 0);  // aligned
  member = reinterpret_cast<sockaddr*>(
      at.copy(reinterpret_cast<const char*>(member), bytes_of(*member)));
}

// All in one block, which begins with the first entry.
ifaddrs* place(Layout& at, const ifaddrs* from) {
  std::size_t number = 0;
  std::vector<ifaddrs> all;
  for (const ifaddrs* one = from; one != nullptr; one = one->ifa_next) all.push_back(*one);
  ifaddrs* to = at.copy(all.data(), all.size());
  for (ifaddrs& own : all) {
    at.text(own.ifa_name);
    address(at, own.ifa_addr);
    address(at, own.ifa_netmask);
    address(at, own.ifa_ifu.ifu_broadaddr);
    bool counts = own.ifa_data != nullptr && from->ifa_addr != nullptr &&
                  from->ifa_addr->sa_family == AF_PACKET;
    own.ifa_data = counts ? at.copy(static_cast<const rtnl_link_stats*>(own.ifa_data)) : nullptr;
    from = from->ifa_next;
    own.ifa_next = from == nullptr || to == nullptr ? nullptr : to + number + 1;
    if (to != nullptr) to[number] = own;
    ++number;
  }
  return to;
}

struct if_nameindex* shared_list(const struct if_nameindex* from) {
  std::size_t count = 0;
  while (from[count].if_index != 0 || from[count].if_name != nullptr) ++count;
  auto* copy = static_cast<struct if_nameindex*>(shared_block((count + 1) * sizeof *from));
  if (copy == nullptr) return nullptr;
  std::memset(copy, 0, (count + 1) * sizeof *from);
  for (std::size_t i = 0; i < count; ++i) {
    copy[i] = {from[i].if_index, shared_copy(from[i].if_name)};
    if (copy[i].if_name != nullptr) continue;
    ::if_freenameindex(copy);
    return nullptr;
  }
  return copy;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int getaddrinfo(const char* name, const char* service, const addrinfo* wanted, addrinfo** out) {
  auto* call = next<"getaddrinfo">(::getaddrinfo);
  if (!concerns_all_nodes()) return call(name, service, wanted, out);
  struct Found {
    int error;
    addrinfo* list;
  };
  auto find = +[](const char* of, const char* by, const addrinfo* as) {
    Found found{0, nullptr};
    found.error = next<"getaddrinfo">(::getaddrinfo)(of, by, as, &found.list);
    return found;
  };
  Found found = in_library(find, name, service, wanted);
  if (found.error != 0) return found.error;
  *out = shared_list(found.list);
  ::freeaddrinfo(found.list);
  return *out == nullptr ? EAI_MEMORY : 0;
}

// The C library's own threads would write to pages that they do not reach: the calling thread asks
// before the call returns, and gai_error, gai_suspend and gai_cancel find that in the requests.
int getaddrinfo_a(int mode, gaicb* list[], int count, sigevent* event) noexcept {
  if (Program::get() == nullptr || !is_in_program())
    return next<"getaddrinfo_a">(::getaddrinfo_a)(mode, list, count, event);
  if (mode != GAI_WAIT && mode != GAI_NOWAIT) {
    errno = EINVAL;
    return EAI_SYSTEM;
  }
  for (gaicb* one : std::span(list, static_cast<std::size_t>(std::max(count, 0)))) {
    if (one == nullptr) continue;
    one->ar_result = nullptr;
    one->__return = ::getaddrinfo(one->ar_name, one->ar_service, one->ar_request, &one->ar_result);
  }
  if (mode == GAI_NOWAIT && event != nullptr) terrane::frontend::notify(*event);
  return 0;
}

int getifaddrs(ifaddrs** out) noexcept {
  if (!concerns_all_nodes()) return next<"getifaddrs">(::getifaddrs)(out);
  auto find = +[] {
    ifaddrs* list = nullptr;
    return next<"getifaddrs">(::getifaddrs)(&list) == 0 ? list : nullptr;
  };
  errno = 0;
  ifaddrs* found = in_library(find);
  *out = nullptr;
  if (found == nullptr) return errno == 0 ? 0 : -1;
  Layout count(nullptr);
  place(count, found);
  auto* block = static_cast<std::byte*>(shared_block(count.bytes()));
  if (block != nullptr) {
    Layout layout(block);
    *out = place(layout, found);
  }
  ::freeifaddrs(found);
  return block == nullptr ? -1 : 0;
}

struct if_nameindex* if_nameindex(void) noexcept {
  auto* call = next<"if_nameindex">(::if_nameindex);
  if (!concerns_all_nodes()) return call();
  struct if_nameindex* found = in_library(call);
  if (found == nullptr) return nullptr;
  struct if_nameindex* copy = shared_list(found);
  ::if_freenameindex(found);
  return copy;
}

}  // extern "C"
#pragma GCC visibility pop
