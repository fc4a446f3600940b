#include "frontend/threads/copies.h"

#include <gnu/libc-version.h>
#include <link.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "platform/page_size.h"

namespace terrane::frontend::threads {
namespace {

struct Range {
  std::uintptr_t begin, end;
};

// What no process writes of the files that are loaded at the start: each node has the same bytes at
// the same addresses.
std::vector<Range> constants() {
  std::vector<Range> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* raw) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
          if (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0)
            static_cast<std::vector<Range>*>(raw)->push_back({begin, begin + part.p_memsz});
        }
        return 0;
      },
      &all);
  return all;
}

const std::vector<Range>& constants_of_start() {
  static const auto* all = new std::vector<Range>(constants());
  return *all;
}

bool is_constant(const void* text) {
  auto at = reinterpret_cast<std::uintptr_t>(text);
  const std::vector<Range>& all = constants_of_start();
  return std::any_of(all.begin(), all.end(),
                     [at](const Range& one) { return at - one.begin < one.end - one.begin; });
}

}  // namespace

void Layout::list(char**& member, std::size_t bytes) {
  if (member == nullptr) return;
  std::size_t count = 0;
  while (member[count] != nullptr) ++count;
  char* const* from = member;
  char** to = copy(member, count + 1);
  for (std::size_t i = 0; i < count; ++i) {
    char* one = bytes == 0 ? copy(from[i], std::strlen(from[i]) + 1) : copy(from[i], bytes);
    if (to != nullptr) to[i] = one;
  }
  member = to;
}

passwd* place(Layout& at, const passwd* from) {
  passwd own = *from;
  for (char** text : {&own.pw_name, &own.pw_passwd, &own.pw_gecos, &own.pw_dir, &own.pw_shell})
    at.text(*text);
  return at.copy(&own);
}

group* place(Layout& at, const group* from) {
  group own = *from;
  at.text(own.gr_name);
  at.text(own.gr_passwd);
  at.list(own.gr_mem);
  return at.copy(&own);
}

hostent* place(Layout& at, const hostent* from) {
  hostent own = *from;
  at.text(own.h_name);
  at.list(own.h_aliases);
  at.list(own.h_addr_list, static_cast<std::size_t>(own.h_length));
  return at.copy(&own);
}

netent* place(Layout& at, const netent* from) {
  netent own = *from;
  at.text(own.n_name);
  at.list(own.n_aliases);
  return at.copy(&own);
}

protoent* place(Layout& at, const protoent* from) {
  protoent own = *from;
  at.text(own.p_name);
  at.list(own.p_aliases);
  return at.copy(&own);
}

servent* place(Layout& at, const servent* from) {
  servent own = *from;
  at.text(own.s_name);
  at.text(own.s_proto);
  at.list(own.s_aliases);
  return at.copy(&own);
}

rpcent* place(Layout& at, const rpcent* from) {
  rpcent own = *from;
  at.text(own.r_name);
  at.list(own.r_aliases);
  return at.copy(&own);
}

aliasent* place(Layout& at, const aliasent* from) {
  aliasent own = *from;
  at.text(own.alias_name);
  std::vector<char*> members(own.alias_members, own.alias_members + own.alias_members_len);
  for (char*& member : members) at.text(member);
  own.alias_members = at.copy(members.data(), members.size());
  return at.copy(&own);
}

spwd* place(Layout& at, const spwd* from) {
  spwd own = *from;
  at.text(own.sp_namp);
  at.text(own.sp_pwdp);
  return at.copy(&own);
}

sgrp* place(Layout& at, const sgrp* from) {
  sgrp own = *from;
  at.text(own.sg_namp);
  at.text(own.sg_passwd);
  at.list(own.sg_adm);
  at.list(own.sg_mem);
  return at.copy(&own);
}

mntent* place(Layout& at, const mntent* from) {
  mntent own = *from;
  for (char** text : {&own.mnt_fsname, &own.mnt_dir, &own.mnt_type, &own.mnt_opts}) at.text(*text);
  return at.copy(&own);
}

fstab* place(Layout& at, const fstab* from) {
  fstab own = *from;
  for (char** text : {&own.fs_spec, &own.fs_file, &own.fs_vfstype, &own.fs_mntops}) at.text(*text);
  at.text(own.fs_type);
  return at.copy(&own);
}

ttyent* place(Layout& at, const ttyent* from) {
  ttyent own = *from;
  for (char** text : {&own.ty_name, &own.ty_getty, &own.ty_type, &own.ty_window, &own.ty_comment})
    at.text(*text);
  return at.copy(&own);
}

lconv* place(Layout& at, const lconv* from) {
  lconv own = *from;
  for (char** text : {&own.decimal_point, &own.thousands_sep, &own.grouping, &own.int_curr_symbol,
                      &own.currency_symbol, &own.mon_decimal_point, &own.mon_thousands_sep,
                      &own.mon_grouping, &own.positive_sign, &own.negative_sign})
    at.text(*text);
  return at.copy(&own);
}

SharedResult::~SharedResult() {
  if (block_ != nullptr) Program::get()->heap().free(block_);
}

std::byte* SharedResult::reserve(std::size_t bytes) {
  if (bytes <= room_) return block_;
  constexpr std::size_t kLeast = 128;
  std::size_t room = std::max(bytes, std::max(kLeast, 2 * room_));
  auto* block = static_cast<std::byte*>(Program::get()->heap().allocate(room));
  if (block == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  if (block_ != nullptr) Program::get()->heap().free(block_);
  room_ = room;
  return block_ = block;
}

char* shared_text(const char* text) {
  auto* same = const_cast<char*>(text);
  if (text == nullptr || SharedRange::contains(text) || is_constant(text)) return same;
  static auto* mutex = new std::mutex();
  static auto* known = new std::unordered_map<std::string, char*>();
  Private ours;
  std::lock_guard hold(*mutex);
  char*& copy = (*known)[text];
  if (copy != nullptr) return copy;
  std::size_t bytes = std::strlen(text) + 1;
  copy = static_cast<char*>(Program::get()->heap().allocate(bytes));
  if (copy != nullptr) std::memcpy(copy, text, bytes);
  return copy;
}

}  // namespace terrane::frontend::threads
