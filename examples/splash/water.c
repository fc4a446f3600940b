#include "water.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "kernel.h"

EXTERN_ENV;

enum { kSeed = 4 };

static const double kDensity = 0.0334;  /* molecules in a cubic angstrom */
static const double kCoulomb = 1389.35; /* of two unit charges, one angstrom apart */
static const double kDepth = 0.650;     /* of the Lennard-Jones potential */
static const double kDiameter = 3.166;
static const double kBondLength = 1.0;
static const double kBondStrength = 4637;
static const double kAngle = 1.91061; /* 109.47 degrees */
static const double kAngleStrength = 383;
static const double kSwitchBegin = 5.2;  /* from here to the cutoff the force fades */
static const double kSpeed = 12;         /* of an atom along an axis, at most, at the start */
static const double kAcceleration = 100; /* of force 1 and mass 1 */

static double charge(int atom) { return atom == kOxygen ? -0.82 : 0.41; }
static double mass(int atom) { return atom == kOxygen ? 15.999 : 1.008; }

static double dot(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const double a[3], const double b[3], double result[3]) {
  for (int axis = 0; axis < 3; axis++) result[axis] = a[axis] - b[axis];
}

/* The force along `direction`, on `a` and against `b`. */
static void push(double a[3], double b[3], const double direction[3], double size) {
  for (int axis = 0; axis < 3; axis++) {
    a[axis] += size * direction[axis];
    b[axis] -= size * direction[axis];
  }
}

static double bond(const double place[kAtoms][3], double force[kAtoms][3], int hydrogen) {
  double d[3];
  subtract(place[hydrogen], place[kOxygen], d);
  const double length = sqrt(dot(d, d));
  const double stretch = length - kBondLength;
  push(force[hydrogen], force[kOxygen], d, -kBondStrength * stretch / length);
  return 0.5 * kBondStrength * stretch * stretch;
}

static double angle(const double place[kAtoms][3], double force[kAtoms][3]) {
  double d[2][3];
  double length[2];
  for (int i = 0; i < 2; i++) {
    subtract(place[i + 1], place[kOxygen], d[i]);
    length[i] = sqrt(dot(d[i], d[i]));
  }
  const double cosine = dot(d[0], d[1]) / (length[0] * length[1]);
  const double bend = acos(cosine) - kAngle;
  const double size = kAngleStrength * bend / sqrt(1 - cosine * cosine);
  for (int i = 0; i < 2; i++) {
    double direction[3];
    for (int axis = 0; axis < 3; axis++) {
      direction[axis] =
          d[1 - i][axis] / (length[0] * length[1]) - cosine * d[i][axis] / (length[i] * length[i]);
    }
    push(force[i + 1], force[kOxygen], direction, size);
  }
  return 0.5 * kAngleStrength * bend * bend;
}

double forces_inside(const double place[kAtoms][3], double force[kAtoms][3]) {
  return bond(place, force, 1) + bond(place, force, 2) + angle(place, force);
}

/* 1 up to kSwitchBegin, 0 from kCutoff on. `slope`: its derivative divided by the distance. */
static double fade(double distance, double* slope) {
  if (distance <= kSwitchBegin) {
    *slope = 0;
    return 1;
  }
  const double width = kCutoff - kSwitchBegin;
  const double x = (distance - kSwitchBegin) / width;
  *slope = -30 * x * x * (1 - x) * (1 - x) / (width * distance);
  return 1 - x * x * x * (10 + x * (-15 + 6 * x));
}

double forces_between(double side, const double a[kAtoms][3], const double b[kAtoms][3],
                      double force_a[kAtoms][3], double force_b[kAtoms][3]) {
  double oxygens[3];
  double image[3]; /* how far b's nearest image is from b */
  subtract(a[kOxygen], b[kOxygen], oxygens);
  for (int axis = 0; axis < 3; axis++) {
    image[axis] = side * nearbyint(oxygens[axis] / side);
    oxygens[axis] -= image[axis];
  }
  const double squared = dot(oxygens, oxygens);
  if (squared >= kCutoff * kCutoff) return 0;
  double slope;
  const double part = fade(sqrt(squared), &slope);
  const double power = pow(kDiameter * kDiameter / squared, 3);
  double potential = 4 * kDepth * (power * power - power);
  push(force_a[kOxygen], force_b[kOxygen], oxygens,
       part * 24 * kDepth * (2 * power * power - power) / squared);
  for (int i = 0; i < kAtoms; i++) {
    for (int j = 0; j < kAtoms; j++) {
      double d[3];
      subtract(a[i], b[j], d);
      for (int axis = 0; axis < 3; axis++) d[axis] -= image[axis];
      const double distance_squared = dot(d, d);
      const double energy = kCoulomb * charge(i) * charge(j) / sqrt(distance_squared);
      potential += energy;
      push(force_a[i], force_b[j], d, part * energy / distance_squared);
    }
  }
  push(force_a[kOxygen], force_b[kOxygen], oxygens, -potential * slope);
  return part * potential;
}

void kick(struct water* water, long index) {
  for (int atom = 0; atom < kAtoms; atom++) {
    for (int axis = 0; axis < 3; axis++) {
      water->velocity[index][atom][axis] +=
          0.5 * kStep * kAcceleration * water->force[index][atom][axis] / mass(atom);
    }
  }
}

/* A molecule that leaves the box comes back on the other side. */
void drift(struct water* water, long index) {
  for (int axis = 0; axis < 3; axis++) {
    for (int atom = 0; atom < kAtoms; atom++) {
      water->place[index][atom][axis] += kStep * water->velocity[index][atom][axis];
    }
    const double back = water->side * floor(water->place[index][kOxygen][axis] / water->side);
    for (int atom = 0; atom < kAtoms; atom++) water->place[index][atom][axis] -= back;
  }
}

double kinetic_energy(const struct water* water, long index) {
  double energy = 0;
  for (int atom = 0; atom < kAtoms; atom++) {
    const double* velocity = water->velocity[index][atom];
    energy += 0.5 * mass(atom) * dot(velocity, velocity) / kAcceleration;
  }
  return energy;
}

void place_molecule(struct water* water, long index) {
  const long a_side = (long)ceil(cbrt((double)water->count));
  const long cell[3] = {index % a_side, index / a_side % a_side, index / a_side / a_side};
  const uint64_t number = 16 * (uint64_t)index;
  const double turn = 2 * M_PI * kernel_random(kSeed, number);
  const double tilt = 2 * kernel_random(kSeed, number + 1) - 1;
  const double flat = sqrt(1 - tilt * tilt);
  /* Two unit vectors at right angles: the molecule lies in their plane. */
  const double first[3] = {flat * cos(turn), flat * sin(turn), tilt};
  const double second[3] = {-sin(turn), cos(turn), 0};
  for (int axis = 0; axis < 3; axis++) {
    const double speed = kSpeed * (2 * kernel_random(kSeed, number + 2 + (uint64_t)axis) - 1);
    const double middle = ((double)cell[axis] + 0.5) * water->side / (double)a_side;
    for (int atom = 0; atom < kAtoms; atom++) {
      const double sign = atom == 1 ? 1 : -1;
      const double offset =
          kBondLength * (cos(kAngle / 2) * first[axis] + sign * sin(kAngle / 2) * second[axis]);
      water->place[index][atom][axis] = middle + (atom == kOxygen ? 0 : offset);
      water->velocity[index][atom][axis] = speed;
      water->force[index][atom][axis] = 0;
    }
  }
}

struct water* water_begin(int argc, char** argv, const char* about, long fewest) {
  long workers = 1;
  long count = 512;
  long steps = 10;
  const struct kernel_option options[] = {
      {'p', "processors", &workers, 1, 1024},
      {'n', "molecules", &count, fewest, 10000000},
      {'s', "steps of half a femtosecond", &steps, 1, 10000000},
      {0, NULL, NULL, 0, 0},
  };
  kernel_options(argc, argv, about, options);
  if (workers > count) kernel_fail("-p %ld: at most one processor a molecule", workers);
  struct water* water = (struct water*)kernel_allocate(1, sizeof *water);
  memset(water, 0, sizeof *water);
  water->workers = workers;
  water->count = count;
  water->steps = steps;
  water->side = cbrt((double)count / kDensity);
  water->place = (atoms*)kernel_allocate((size_t)count, sizeof(atoms));
  water->velocity = (atoms*)kernel_allocate((size_t)count, sizeof(atoms));
  water->force = (atoms*)kernel_allocate((size_t)count, sizeof(atoms));
  LOCKINIT(water->lock);
  BARINIT(water->barrier, workers);
  return water;
}

void add_energies(struct water* water, struct energies own) {
  LOCK(water->lock);
  water->now.potential += own.potential;
  water->now.kinetic += own.kinetic;
  UNLOCK(water->lock);
}

/* The greatest difference of a force from that of a simple loop, in relation to the greatest force.
 */
static double force_error(const struct water* water, double* potential) {
  atoms* expected = (atoms*)kernel_allocate((size_t)water->count, sizeof(atoms));
  memset(expected, 0, (size_t)water->count * sizeof(atoms));
  *potential = 0;
  for (long i = 0; i < water->count; i++) {
    *potential += forces_inside(water->place[i], expected[i]);
    for (long j = i + 1; j < water->count; j++) {
      *potential +=
          forces_between(water->side, water->place[i], water->place[j], expected[i], expected[j]);
    }
  }
  double error = 0;
  double greatest = 0;
  const double* found = (const double*)water->force;
  const double* simple = (const double*)expected;
  for (long i = 0; i < water->count * kAtoms * 3; i++) {
    error = fmax(error, fabs(found[i] - simple[i]));
    greatest = fmax(greatest, fabs(found[i]));
  }
  return error / greatest;
}

void water_report(struct water* water) {
  double potential;
  const double error = force_error(water, &potential);
  const double difference = fabs(water->now.potential - potential) / water->now.kinetic;
  const double drift =
      (water->now.potential + water->now.kinetic - water->start.potential - water->start.kinetic) /
      water->now.kinetic;
  kernel_report(water->begin, water->end, error < 1e-9 && difference < 1e-9 && fabs(drift) < 5e-3,
                "forces differ by %.1e from a simple loop's, the potential by %.1e; the energy "
                "changed by %.2f %%",
                error, difference, 100 * fabs(drift));
}
