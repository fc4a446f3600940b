#pragma once

#include <cstdint>
#include <vector>

#include "panel.h"

namespace lu {

// A worker's part in the factorisation: panels go around the workers like cards.
struct Share {
  std::uint32_t worker = 0;
  std::uint32_t workers = 1;

  bool has(std::uint32_t panel) const { return panel % workers == worker; }
};

// Right-looking blocked LU with partial pivoting (Golub, Van Loan, section 3.4): PA = LU in the
// panels' places. Called by all workers at once; `wait()` returns when every worker has called it.
// The next panel is brought up to date and factored before the others, so that the one worker whose
// panel it is holds nobody up. A panel is written by its worker alone and read by others after a
// wait. Returns 0, or 1 + the first column without a pivot.
template <typename Wait>
std::uint64_t factor(const Shape& shape, const std::vector<Panel>& panels, Share share,
                     Wait&& wait) {
  if (share.has(0)) factor_panel(shape, 0, panels[0]);
  wait();
  for (std::uint32_t k = 0; k < shape.panels(); ++k) {
    if (panels[k].head->singular != 0) return panels[k].head->singular;
    for (std::uint32_t j = k + 1; j < shape.panels(); ++j) {
      if (!share.has(j)) continue;
      update_panel(shape, k, panels[k], panels[j]);
      if (j == k + 1) factor_panel(shape, j, panels[j]);
    }
    wait();
  }
  return 0;
}

}  // namespace lu
