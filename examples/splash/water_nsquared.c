/* Molecules of water, with all pairs looked at (J. P. Singh et al., 1992: Water-Nsquared).
 *
 * Worker i owns consecutive molecules. It looks at each of them together with the next half of all
 * others, adds up the forces in memory of its own, and then adds them to everybody's: one lock for
 * each group of molecules.
 */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "water.h"

MAIN_ENV;

enum { kGroups = 64 };

static struct water* water;
static struct groups { ALOCKDEC(locks, kGroups); } * groups;

/* The molecules with which `index` is paired are the next `partners` ones, in a ring. */
static long partners(long index) {
  const long half = water->count / 2;
  const int both_see_it = water->count % 2 == 0 && index >= half;
  return both_see_it ? half - 1 : half;
}

static double own_pairs(struct kernel_share own, atoms* force) {
  double potential = 0;
  for (long i = own.first; i < own.end; i++) {
    potential += forces_inside(water->place[i], force[i]);
    const long last = i + partners(i);
    for (long next = i + 1; next <= last; next++) {
      const long j = next < water->count ? next : next - water->count;
      potential +=
          forces_between(water->side, water->place[i], water->place[j], force[i], force[j]);
    }
  }
  return potential;
}

/* Adds `force` to everybody's, group by group; each worker begins with another group. */
static void add_forces(long me, atoms* force) {
  const double* from = (const double*)force;
  double* to = (double*)water->force;
  for (long turn = 0; turn < kGroups; turn++) {
    const long group = (turn + me * kGroups / water->workers) % kGroups;
    const struct kernel_share part = kernel_share_of(water->count, group, kGroups);
    ALOCK(groups->locks, group);
    for (long i = part.first * kAtoms * 3; i < part.end * kAtoms * 3; i++) to[i] += from[i];
    AULOCK(groups->locks, group);
  }
}

/* The forces at the places of now, and the energies. */
static void find_forces(long me, struct kernel_share own, atoms* force, struct energies* energies) {
  memset(force, 0, (size_t)water->count * sizeof(atoms));
  memset(water->force[own.first], 0, (size_t)(own.end - own.first) * sizeof(atoms));
  BARRIER(water->barrier, water->workers);
  energies->potential = own_pairs(own, force);
  add_forces(me, force);
  BARRIER(water->barrier, water->workers);
}

static void worker(void) {
  LOCK(water->lock);
  const long me = water->next_worker++;
  UNLOCK(water->lock);
  const struct kernel_share own = kernel_share_of(water->count, me, water->workers);
  struct energies energies = {0, 0};
  atoms* force = (atoms*)malloc((size_t)water->count * sizeof(atoms));
  if (force == NULL) kernel_fail("no memory for the forces of %ld molecules", water->count);
  for (long i = own.first; i < own.end; i++) place_molecule(water, i);
  find_forces(me, own, force, &energies);
  for (long i = own.first; i < own.end; i++) energies.kinetic += kinetic_energy(water, i);
  add_energies(water, energies);
  BARRIER(water->barrier, water->workers);
  if (me == 0) {
    water->start = water->now;
    CLOCK(water->begin);
  }
  for (long step = 0; step < water->steps; step++) {
    for (long i = own.first; i < own.end; i++) {
      kick(water, i);
      drift(water, i);
    }
    find_forces(me, own, force, &energies);
    energies.kinetic = 0;
    for (long i = own.first; i < own.end; i++) {
      kick(water, i);
      energies.kinetic += kinetic_energy(water, i);
    }
    if (me == 0) water->now = (struct energies){0, 0};
    BARRIER(water->barrier, water->workers);
    add_energies(water, energies);
  }
  BARRIER(water->barrier, water->workers);
  if (me == 0) CLOCK(water->end);
  free(force);
}

int main(int argc, char** argv) {
  MAIN_INITENV(, 60000000);
  water = water_begin(argc, argv, "molecules of water, all pairs", 2);
  groups = (struct groups*)kernel_allocate(1, sizeof *groups);
  ALOCKINIT(groups->locks, kGroups);
  CREATE(worker, water->workers);
  WAIT_FOR_END(water->workers);
  water_report(water);
  MAIN_END;
}
