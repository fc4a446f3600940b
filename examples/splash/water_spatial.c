/* Molecules of water in cells (Water-Spatial of SPLASH-2): the work grows with n, not with its
 * square.
 *
 * The box is divided into cells that are no smaller than the cutoff, so that a molecule is paired
 * with those of its own and the 26 next cells. Each worker owns consecutive cells, and the
 * molecules in them. It alone writes their forces: a pair in the cells of two workers is computed
 * by both. After each step it moves the molecules that have left a cell to the list of another,
 * which may be another worker's: each list has a lock.
 */
#include <math.h>
#include <string.h>

#include "kernel.h"
#include "water.h"

MAIN_ENV;

enum { kFewest = 216, kNobody = -1, kCellsAround = 27, kLocks = 256 };

static struct water* water;
static struct cells {
  long side; /* cells a side */
  long count;
  long* first; /* of a cell: its first molecule, or kNobody */
  long* next;  /* of a molecule: the next one in its cell */
  ALOCKDEC(locks, kLocks);
} * cells;

static long cell_of(long molecule) {
  long index = 0;
  for (int axis = 2; axis >= 0; axis--) {
    const double place = water->place[molecule][kOxygen][axis] / water->side;
    long at = (long)floor(place * (double)cells->side);
    if (at < 0) at = 0;
    if (at >= cells->side) at = cells->side - 1;
    index = index * cells->side + at;
  }
  return index;
}

static void insert(long molecule, long cell) {
  ALOCK(cells->locks, cell % kLocks);
  cells->next[molecule] = cells->first[cell];
  cells->first[cell] = molecule;
  AULOCK(cells->locks, cell % kLocks);
}

/* Takes the molecules that have left `cell` out of its list, and puts them before `leaving`. */
static long take_leaving(long cell, long leaving) {
  long* link = &cells->first[cell];
  while (*link != kNobody) {
    const long molecule = *link;
    if (cell_of(molecule) == cell) {
      link = &cells->next[molecule];
    } else {
      *link = cells->next[molecule];
      cells->next[molecule] = leaving;
      leaving = molecule;
    }
  }
  return leaving;
}

/* Each worker first takes out of its own lists, then, after a barrier, inserts into anybody's. */
static void move_molecules(struct kernel_share own) {
  long leaving = kNobody;
  for (long cell = own.first; cell < own.end; cell++) leaving = take_leaving(cell, leaving);
  BARRIER(water->barrier, water->workers);
  while (leaving != kNobody) {
    const long molecule = leaving;
    leaving = cells->next[molecule];
    insert(molecule, cell_of(molecule));
  }
  BARRIER(water->barrier, water->workers);
}

static void find_cells_around(long cell, long around[kCellsAround]) {
  const long side = cells->side;
  const long x = cell % side;
  const long y = cell / side % side;
  const long z = cell / side / side;
  for (long i = 0; i < kCellsAround; i++) {
    around[i] = ((z + i / 9 + side - 1) % side * side + (y + i / 3 % 3 + side - 1) % side) * side +
                (x + i % 3 + side - 1) % side;
  }
}

/* The forces on the molecules of a cell; its half of the potential of each pair. */
static double forces_of_cell(long cell) {
  long around[kCellsAround];
  double potential = 0;
  find_cells_around(cell, around);
  for (long i = cells->first[cell]; i != kNobody; i = cells->next[i]) {
    atoms force = {{0}};
    atoms counter_force = {{0}}; /* the other molecule's owner finds it, too */
    potential += forces_inside(water->place[i], force);
    for (int k = 0; k < kCellsAround; k++) {
      for (long j = cells->first[around[k]]; j != kNobody; j = cells->next[j]) {
        if (i == j) continue;
        potential += 0.5 * forces_between(water->side, water->place[i], water->place[j], force,
                                          counter_force);
      }
    }
    memcpy(water->force[i], force, sizeof force);
  }
  return potential;
}

static struct energies find_forces(struct kernel_share own) {
  struct energies energies = {0, 0};
  for (long cell = own.first; cell < own.end; cell++) energies.potential += forces_of_cell(cell);
  return energies;
}

static double kick_all(struct kernel_share own, int drifts) {
  double kinetic = 0;
  for (long cell = own.first; cell < own.end; cell++) {
    for (long i = cells->first[cell]; i != kNobody; i = cells->next[i]) {
      kick(water, i);
      kinetic += kinetic_energy(water, i);
      if (drifts) drift(water, i);
    }
  }
  return kinetic;
}

static void start(long me, struct kernel_share own) {
  const struct kernel_share molecules = kernel_share_of(water->count, me, water->workers);
  for (long cell = own.first; cell < own.end; cell++) cells->first[cell] = kNobody;
  for (long i = molecules.first; i < molecules.end; i++) place_molecule(water, i);
  BARRIER(water->barrier, water->workers);
  for (long i = molecules.first; i < molecules.end; i++) insert(i, cell_of(i));
  BARRIER(water->barrier, water->workers);
  struct energies energies = find_forces(own);
  for (long i = molecules.first; i < molecules.end; i++)
    energies.kinetic += kinetic_energy(water, i);
  add_energies(water, energies);
  BARRIER(water->barrier, water->workers);
  if (me == 0) {
    water->start = water->now;
    CLOCK(water->begin);
  }
}

static void worker(void) {
  LOCK(water->lock);
  const long me = water->next_worker++;
  UNLOCK(water->lock);
  const struct kernel_share own = kernel_share_of(cells->count, me, water->workers);
  start(me, own);
  for (long step = 0; step < water->steps; step++) {
    kick_all(own, 1);
    move_molecules(own);
    struct energies energies = find_forces(own);
    energies.kinetic = kick_all(own, 0);
    if (me == 0) water->now = (struct energies){0, 0};
    BARRIER(water->barrier, water->workers);
    add_energies(water, energies);
  }
  BARRIER(water->barrier, water->workers);
  if (me == 0) CLOCK(water->end);
}

int main(int argc, char** argv) {
  MAIN_INITENV(, 60000000);
  water = water_begin(argc, argv, "molecules of water, in cells", kFewest);
  cells = (struct cells*)kernel_allocate(1, sizeof *cells);
  cells->side = (long)(water->side / kCutoff);
  cells->count = cells->side * cells->side * cells->side;
  cells->first = (long*)kernel_allocate((size_t)cells->count, sizeof(long));
  cells->next = (long*)kernel_allocate((size_t)water->count, sizeof(long));
  ALOCKINIT(cells->locks, kLocks);
  if (water->workers > cells->count) {
    kernel_fail("-p %ld: at most one processor a cell, of which there are %ld", water->workers,
                cells->count);
  }
  CREATE(worker, water->workers);
  WAIT_FOR_END(water->workers);
  water_report(water);
  MAIN_END;
}
