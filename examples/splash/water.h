/* Molecules of water in a box: what water_nsquared and water_spatial share.
 *
 * A molecule is an oxygen and two hydrogens with the charges of the SPC model, bonds and an angle
 * that swing, and a Lennard-Jones force between oxygens. The box repeats itself on all sides. Two
 * molecules act on each other if their oxygens are nearer than kCutoff; a smooth switch takes the
 * force to 0 there, so that the energy is conserved. The two programs differ in how they find such
 * pairs; both must find the same forces. Units: angstrom, picosecond, atomic mass, kJ/mol.
 */
#ifndef WATER_H
#define WATER_H

#include <terrane/anl.h>

enum { kAtoms = 3, kOxygen = 0 };

typedef double atoms[kAtoms][3]; /* a vector for each atom of a molecule */

struct energies {
  double potential;
  double kinetic;
};

/* What all workers share. */
struct water {
  long workers;
  long count; /* of molecules */
  long steps;
  double side; /* of the box */
  atoms* place;
  atoms* velocity;
  atoms* force;
  long next_worker;
  struct energies start;
  struct energies now;
  unsigned long begin;
  unsigned long end;
  LOCKDEC(lock);
  BARDEC(barrier);
};

static const double kCutoff = 6.2;
static const double kStep = 0.0005; /* of time */

/* Reads the options, makes the shared memory, and places all molecules. */
struct water* water_begin(int argc, char** argv, const char* about, long fewest);

/* Places molecule `index` in its cell of a lattice, turned at random, with a random velocity. */
void place_molecule(struct water* water, long index);

/* The forces inside a molecule, added to `force`. Returns the potential energy. */
double forces_inside(const double place[kAtoms][3], double force[kAtoms][3]);

/* The forces between two molecules, added to `force_a` and `force_b`. Returns the potential energy,
 * or 0 if they are too far apart. */
double forces_between(double side, const double a[kAtoms][3], const double b[kAtoms][3],
                      double force_a[kAtoms][3], double force_b[kAtoms][3]);

/* Half a step of velocity, after which a whole step of place may follow. */
void kick(struct water* water, long index);
void drift(struct water* water, long index);
double kinetic_energy(const struct water* water, long index);

/* Adds a worker's energies to those of all; the worker that calls it last finds the sum. */
void add_energies(struct water* water, struct energies own);

/* Compares forces and energies with those of a simple loop over all pairs, prints the result and
 * ends. */
void water_report(struct water* water);

#endif
