/* The Barnes-Hut method: the motion of n bodies that attract each other, in n log n steps.
 *
 * As in Barnes-Spatial (H. Shan and J. P. Singh, 1998) no tree is built by several workers. Space
 * is divided into kParts cubes; in each step the cubes are dealt out anew, by the work that their
 * bodies made in the last step. A worker copies its bodies to where their cubes lie in the other of
 * two arrays, builds the trees of its own cubes, and joins all cubes' trees by a top that it alone
 * has. Then it computes the forces on its bodies and moves them.
 */
#include "barnes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <terrane/anl.h>

#include "kernel.h"

MAIN_ENV;

enum {
  kSeed = 5,
  kTopLevels = 4,
  kParts = 1 << 3 * kTopLevels,
  kTopNodes = 2 * kParts,
  kSamples = 128
};

static const double kStep = 0.025;

/* What a worker has counted in the cubes. */
struct tally {
  int bodies[kParts];
  long work[kParts];
};

static struct shared {
  LOCKDEC(lock);
  BARDEC(barrier);
  long workers;
  long count;
  long steps;
  long next_worker;
  double reach[2]; /* the greatest coordinate, in even and in odd steps */
  unsigned long begin;
  unsigned long end;
  struct body* bodies[2];    /* before and after they are dealt out */
  struct tally* tally;       /* of each worker */
  struct node* root[kParts]; /* of each cube */
  double start_momentum[3];
} * shared;

/* What one worker knows. */
struct worker {
  long me;
  struct kernel_share own;   /* its bodies */
  struct kernel_share parts; /* its cubes */
  long begin[kParts + 1];    /* of each cube: its first body */
  long place[kParts];        /* where this worker puts its next body of a cube */
  struct node_pool pool;     /* of the own cubes' trees: shared */
  struct node_pool top;      /* private */
  struct cube space;
};

/* A body of a Plummer sphere (Aarseth, Henon and Wielen, 1974), as dense in the middle as star
 * clusters are. */
static void make_body(struct body* body, long number) {
  const uint64_t seed = 64 * (uint64_t)number;
  memset(body, 0, sizeof *body);
  body->number = number;
  body->mass = 1.0 / (double)shared->count;
  body->work = 1;
  const double radius = 1 / sqrt(pow(0.999 * kernel_random(kSeed, seed) + 1e-6, -2.0 / 3.0) - 1);
  double part = 0;
  for (uint64_t i = 1; i < 40; i += 2) { /* a share of the speed of escape, by rejection */
    part = kernel_random(kSeed, seed + i);
    if (0.1 * kernel_random(kSeed, seed + i + 1) < part * part * pow(1 - part * part, 3.5)) break;
  }
  const double speed = part * sqrt(2.0) * pow(1 + radius * radius, -0.25);
  for (int i = 0; i < 2; i++) {
    const double height = 2 * kernel_random(kSeed, seed + 40 + (uint64_t)i) - 1;
    const double turn = 2 * M_PI * kernel_random(kSeed, seed + 42 + (uint64_t)i);
    const double flat = sqrt(1 - height * height);
    double* vector = i == 0 ? body->place : body->velocity;
    const double length = i == 0 ? radius : speed;
    vector[0] = length * flat * cos(turn);
    vector[1] = length * flat * sin(turn);
    vector[2] = length * height;
  }
}

/* The cube that holds all bodies. */
static void find_space(struct worker* worker, const struct body* bodies, long step) {
  double reach = 0;
  for (long i = worker->own.first; i < worker->own.end; i++) {
    for (int axis = 0; axis < 3; axis++) reach = fmax(reach, fabs(bodies[i].place[axis]));
  }
  LOCK(shared->lock);
  shared->reach[step % 2] = fmax(shared->reach[step % 2], reach);
  UNLOCK(shared->lock);
  BARRIER(shared->barrier, shared->workers);
  worker->space.side = 2.0001 * shared->reach[step % 2];
  for (int axis = 0; axis < 3; axis++) worker->space.corner[axis] = -worker->space.side / 2;
}

/* The number of the cube: three bits for each level, the coarsest first. */
static int part_at(const struct worker* worker, const double place[3]) {
  int part = 0;
  for (int axis = 0; axis < 3; axis++) {
    const double relative = (place[axis] - worker->space.corner[axis]) / worker->space.side;
    const int at = (int)(relative * (1 << kTopLevels));
    for (int level = 0; level < kTopLevels; level++)
      part |= (at >> level & 1) << (3 * level + axis);
  }
  return part;
}

static void count_own(struct worker* worker, const struct body* bodies) {
  struct tally* tally = &shared->tally[worker->me];
  memset(tally, 0, sizeof *tally);
  for (long i = worker->own.first; i < worker->own.end; i++) {
    const int part = part_at(worker, bodies[i].place);
    tally->bodies[part]++;
    tally->work[part] += bodies[i].work;
  }
  BARRIER(shared->barrier, shared->workers);
}

/* From all workers' tallies: where each cube's bodies go, and which cubes are this worker's. A
 * worker gets consecutive cubes with about its share of the work. */
static void deal_out(struct worker* worker) {
  long total = 0;
  for (long other = 0; other < shared->workers; other++) {
    for (int part = 0; part < kParts; part++) total += shared->tally[other].work[part];
  }
  long bodies = 0;
  long work = 0;
  worker->parts.first = worker->parts.end = kParts;
  for (int part = 0; part < kParts; part++) {
    worker->begin[part] = bodies;
    const long owner = work * shared->workers / (total + 1);
    if (owner >= worker->me && worker->parts.first == kParts) worker->parts.first = part;
    if (owner > worker->me && worker->parts.end == kParts) worker->parts.end = part;
    for (long other = 0; other < shared->workers; other++) {
      if (other == worker->me) worker->place[part] = bodies;
      bodies += shared->tally[other].bodies[part];
      work += shared->tally[other].work[part];
    }
  }
  worker->begin[kParts] = bodies;
}

static void move_own(struct worker* worker, const struct body* from, struct body* to) {
  for (long i = worker->own.first; i < worker->own.end; i++) {
    to[worker->place[part_at(worker, from[i].place)]++] = from[i];
  }
  BARRIER(shared->barrier, shared->workers);
  worker->own.first = worker->begin[worker->parts.first];
  worker->own.end = worker->begin[worker->parts.end];
}

static void build_own(struct worker* worker, struct body* bodies) {
  worker->pool.used = 0;
  for (long part = worker->parts.first; part < worker->parts.end; part++) {
    struct cube cube = worker->space;
    for (int level = kTopLevels - 1; level >= 0; level--)
      cube = part_of(&cube, part >> 3 * level & 7);
    const long first = worker->begin[part];
    shared->root[part] =
        build_tree(&worker->pool, &cube, &bodies[first], worker->begin[part + 1] - first);
  }
  BARRIER(shared->barrier, shared->workers);
}

/* The top of the tree over all cubes' trees. */
static const struct node* build_top(struct worker* worker) {
  struct node* nodes[kParts];
  memcpy(nodes, shared->root, sizeof nodes);
  worker->top.used = 0;
  for (int level = kTopLevels - 1; level >= 0; level--) {
    const double side = worker->space.side / (1 << level);
    for (long i = 0; i < 1 << 3 * level; i++) {
      nodes[i] = join_nodes(&worker->top, side, &nodes[8 * i]);
    }
  }
  return nodes[0];
}

static void accelerate(struct body* body, double time) {
  for (int axis = 0; axis < 3; axis++) body->velocity[axis] += time * body->acceleration[axis];
}

/* Forces at the places of now; the bodies are in bodies[(step + 1) % 2] after it. */
static struct body* find_forces(struct worker* worker, long step) {
  struct body* from = shared->bodies[step % 2];
  struct body* to = shared->bodies[(step + 1) % 2];
  find_space(worker, from, step);
  count_own(worker, from);
  if (worker->me == 0) shared->reach[(step + 1) % 2] = 0;
  deal_out(worker);
  move_own(worker, from, to);
  build_own(worker, to);
  const struct node* root = build_top(worker);
  for (long i = worker->own.first; i < worker->own.end; i++) attract(&to[i], root);
  BARRIER(shared->barrier, shared->workers);
  return to;
}

static void add_momentum(const struct worker* worker, const struct body* bodies) {
  LOCK(shared->lock);
  for (long i = worker->own.first; i < worker->own.end; i++) {
    for (int axis = 0; axis < 3; axis++) {
      shared->start_momentum[axis] += bodies[i].mass * bodies[i].velocity[axis];
    }
  }
  UNLOCK(shared->lock);
}

static void work(void) {
  struct worker* worker = (struct worker*)calloc(1, sizeof *worker);
  LOCK(shared->lock);
  worker->me = shared->next_worker++;
  UNLOCK(shared->lock);
  worker->own = kernel_share_of(shared->count, worker->me, shared->workers);
  worker->pool.size = most_nodes(shared->count);
  worker->pool.nodes =
      (struct node*)kernel_allocate((size_t)worker->pool.size, sizeof(struct node));
  worker->top.size = kTopNodes;
  worker->top.nodes = (struct node*)kernel_allocate(kTopNodes, sizeof(struct node));
  struct body* bodies = shared->bodies[0];
  for (long i = worker->own.first; i < worker->own.end; i++) make_body(&bodies[i], i);
  add_momentum(worker, bodies);
  bodies = find_forces(worker, 0); /* and now the work of each body is known */
  if (worker->me == 0) CLOCK(shared->begin);
  for (long step = 1; step <= shared->steps; step++) {
    for (long i = worker->own.first; i < worker->own.end; i++) {
      accelerate(&bodies[i], kStep / 2);
      for (int axis = 0; axis < 3; axis++)
        bodies[i].place[axis] += kStep * bodies[i].velocity[axis];
    }
    bodies = find_forces(worker, step);
    for (long i = worker->own.first; i < worker->own.end; i++) accelerate(&bodies[i], kStep / 2);
  }
  BARRIER(shared->barrier, shared->workers);
  if (worker->me == 0) CLOCK(shared->end);
  free(worker);
}

/* The mean error of the acceleration of a few bodies, against the sum over all others. */
static double sample_error(const struct body* bodies) {
  double sum = 0;
  for (long i = 0; i < kSamples; i++) {
    const struct body* body = &bodies[i * shared->count / kSamples];
    double direct[3] = {0, 0, 0};
    for (long j = 0; j < shared->count; j++) {
      if (&bodies[j] != body) attract_by(body->place, bodies[j].place, bodies[j].mass, direct);
    }
    double difference = 0;
    double size = 0;
    for (int axis = 0; axis < 3; axis++) {
      difference += pow(body->acceleration[axis] - direct[axis], 2);
      size += direct[axis] * direct[axis];
    }
    sum += difference / size;
  }
  return sqrt(sum / kSamples);
}

static void report(void) {
  const struct body* bodies = shared->bodies[(shared->steps + 1) % 2];
  char* seen = (char*)calloc((size_t)shared->count, 1);
  long missing = shared->count;
  double momentum = 0;
  double change[3] = {-shared->start_momentum[0], -shared->start_momentum[1],
                      -shared->start_momentum[2]};
  for (long i = 0; i < shared->count; i++) {
    const long number = bodies[i].number;
    if (number >= 0 && number < shared->count && !seen[number]) {
      seen[number] = 1;
      missing--;
    }
    for (int axis = 0; axis < 3; axis++) change[axis] += bodies[i].mass * bodies[i].velocity[axis];
  }
  for (int axis = 0; axis < 3; axis++) momentum = fmax(momentum, fabs(change[axis]));
  const double error = sample_error(bodies);
  kernel_report(shared->begin, shared->end, missing == 0 && error < 0.02 && momentum < 1e-3,
                "%ld bodies are missing, forces differ by %.2f %% from direct sums, the momentum "
                "changed by %.1e",
                missing, 100 * error, momentum);
}

int main(int argc, char** argv) {
  long workers = 1;
  long count = 16384;
  long steps = 4;
  const struct kernel_option options[] = {
      {'p', "processors", &workers, 1, 1024},
      {'n', "bodies", &count, kSamples, 100000000},
      {'s', "steps of time", &steps, 1, 1000000},
      {0, NULL, NULL, 0, 0},
  };
  MAIN_INITENV(, 70000000);
  kernel_options(argc, argv, "motion of bodies by the Barnes-Hut method", options);
  shared = (struct shared*)kernel_allocate(1, sizeof *shared);
  memset(shared, 0, sizeof *shared);
  shared->workers = workers;
  shared->count = count;
  shared->steps = steps;
  LOCKINIT(shared->lock);
  BARINIT(shared->barrier, workers);
  for (int i = 0; i < 2; i++) {
    shared->bodies[i] = (struct body*)kernel_allocate((size_t)count, sizeof(struct body));
  }
  shared->tally = (struct tally*)kernel_allocate((size_t)workers, sizeof(struct tally));
  CREATE(work, workers);
  WAIT_FOR_END(workers);
  report();
  MAIN_END;
}
