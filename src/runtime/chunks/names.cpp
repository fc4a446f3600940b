#include "runtime/chunks/names.h"

#include <fmt/format.h>

#include <utility>

namespace terrane::runtime::chunks {

std::string title_of(std::string_view name) {
  if (name.starts_with(kSignalPrefix) &&
      name.substr(kSignalPrefix.size()).starts_with(kChainMadePrefix))
    name.remove_prefix(kSignalPrefix.size());
  for (auto [prefix, kind] : {std::pair{kLockPrefix, "lock"},
                              {kBarrierPrefix, "barrier"},
                              {kSignalPrefix, "signal"},
                              {kChainMadePrefix, "completion of chain"},
                              {kTypePrefix, "type of chunk"},
                              {kChainPrefix, "chain"}})
    if (name.starts_with(prefix)) return fmt::format("{} '{}'", kind, name.substr(prefix.size()));
  return fmt::format("chunk '{}'", name);
}

}  // namespace terrane::runtime::chunks
