#pragma once

#include <cstddef>
#include <cstdint>

#include "matrix.h"

namespace lu {

// Rows and columns of a block: 32 x 32 doubles are two pages.
inline constexpr std::uint32_t kBlock = 32;

// A block column of the matrix, and what its factorisation found. Blocks lie one after the other,
// each row by row, so that a block is contiguous, a panel too, and row r of the panel is the kBlock
// doubles from rows[r * kBlock] on. The last rows and columns are filled up by the identity.
struct PanelHead {
  std::uint64_t singular;        // 0, or 1 + the column in which no pivot was found
  std::uint32_t pivots[kBlock];  // the row that changed places with the block's row i
};
struct Panel {
  double* rows = nullptr;
  PanelHead* head = nullptr;
};

// The shape of a matrix of panels.
struct Shape {
  std::uint32_t size = 0;

  std::uint32_t panels() const { return (size + kBlock - 1) / kBlock; }
  std::uint32_t padded() const { return panels() * kBlock; }
  std::size_t panel_values() const { return std::size_t{padded()} * kBlock; }
  std::size_t panel_bytes() const { return panel_values() * sizeof(double) + sizeof(PanelHead); }
  // A panel in memory of its own, zeroed and aligned for doubles.
  Panel panel_at(void* memory) const;
};

// The entries into panels that are zero.
void fill_panels(const Matrix& matrix, const Panel* panels);

// Factors panel k in place, with partial pivoting in its rows from k * kBlock on: L below the
// diagonal (its unit diagonal is not stored), U on it and above. Rows change places in this panel
// alone; the others follow in update_panel.
void factor_panel(const Shape& shape, std::uint32_t k, const Panel& panel);

// What the factored panel k means to a panel to its right: exchanges rows, solves for U, subtracts
// L U from the rows below. Each element sees the same operations in the same order, whichever
// thread calls.
void update_panel(const Shape& shape, std::uint32_t k, const Panel& factored, const Panel& panel);

}  // namespace lu
