#include "tools/advise/page_uses.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace terrane::tools::advise {

PageUses uses_of(const RecordedProgram& program, std::uint64_t page) {
  struct Written {
    std::uint64_t parts = 0, bytes = 0;
  };
  std::set<std::uint32_t> users;
  std::map<std::uint32_t, Written> written;  // by node
  PageUses uses;
  program.each_use(page, [&](std::uint32_t node, const runtime::RecordedOp& op) {
    users.insert(node);
    if (op.kind != runtime::RecordedOp::Kind::kWrite) return;
    ++uses.writes;
    written[node].parts |= op.value;
    written[node].bytes |= op.other;
  });
  Written all;
  for (auto [node, one] : written) {
    uses.overlap = uses.overlap || ((all.parts & one.parts) != 0 && (all.bytes & one.bytes) != 0);
    all.parts |= one.parts;
    all.bytes |= one.bytes;
    uses.writer = node;
  }
  uses.writers = static_cast<std::uint32_t>(written.size());
  uses.readers = static_cast<std::uint32_t>(users.size()) - uses.writers;
  return uses;
}

std::string text_of(const PageUses& uses) {
  if (uses.writers > 1 && !uses.overlap)
    return fmt::format("{} nodes write different bytes of one page", uses.writers);
  if (uses.writers > 1) return fmt::format("{} nodes write the same bytes of a page", uses.writers);
  if (uses.writers == 1 && uses.readers > 0)
    return fmt::format("node {} writes it, and {} {} it", uses.writer, uses.readers,
                       uses.readers == 1 ? "other node reads" : "other nodes read");
  if (uses.writers == 1) return fmt::format("node {} alone uses it", uses.writer);
  return fmt::format("{} nodes read it", uses.readers);
}

std::string remedy_of(const PageUses& uses) {
  if (uses.writers > 1 && !uses.overlap)
    return "give what each thread writes pages of its own: alignas(4096), or rows that fill pages";
  if (uses.writers > 1) return "change it less often: sums of each thread, reductions";
  if (uses.writers == 1 && uses.writes <= 2)
    return "let each thread fill the data that it works on: what one thread fills, all others "
           "fetch from its node";
  if (uses.writers == 1) return "write it less often, and keep elsewhere what is only read";
  return "read it less often, or copy what is needed";
}

}  // namespace terrane::tools::advise
