#include <math.h>
#include <string.h>

#include "barnes.h"
#include "kernel.h"

enum { kLeaf = 8, kMostLevels = 64 };

static const double kSoftening = 0.05; /* keeps two bodies at one place from an infinite force */
static const double kOpening = 0.7;    /* a node acts as a whole if side < kOpening * distance */

/* A node with children has more than kLeaf bodies in at least two of them, or it is in a chain of
 * single children, which has an end at kMostLevels; chains are rare, and twice the nodes are enough
 * for all but made-up cases. */
long most_nodes(long bodies) { return 2 * bodies + kMostLevels; }

static struct node* new_node(struct node_pool* pool, double side) {
  if (pool->used == pool->size) kernel_fail("the tree needs more than %ld nodes", pool->size);
  struct node* node = &pool->nodes[pool->used++];
  memset(node, 0, sizeof *node);
  node->side = side;
  return node;
}

struct cube part_of(const struct cube* cube, int part) {
  struct cube result = {{0}, cube->side / 2};
  for (int axis = 0; axis < 3; axis++) {
    result.corner[axis] = cube->corner[axis] + ((part >> axis & 1) ? result.side : 0);
  }
  return result;
}

static void add_mass(struct node* node, const double place[3], double mass) {
  for (int axis = 0; axis < 3; axis++) node->middle_of_mass[axis] += mass * place[axis];
  node->mass += mass;
}

static struct node* weighed(struct node* node) {
  for (int axis = 0; axis < 3; axis++) node->middle_of_mass[axis] /= node->mass;
  return node;
}

struct node* join_nodes(struct node_pool* pool, double side, struct node* const child[8]) {
  int children = 0;
  for (int part = 0; part < 8; part++) children += child[part] != NULL;
  if (children == 0) return NULL;
  struct node* node = new_node(pool, side);
  for (int part = 0; part < 8; part++) {
    node->child[part] = child[part];
    if (child[part] != NULL) add_mass(node, child[part]->middle_of_mass, child[part]->mass);
  }
  return weighed(node);
}

static struct node* leaf(struct node_pool* pool, double side, const struct body* bodies,
                         long count) {
  struct node* node = new_node(pool, side);
  node->bodies = bodies;
  node->count = count;
  for (long i = 0; i < count; i++) add_mass(node, bodies[i].place, bodies[i].mass);
  return weighed(node);
}

/* Moves the bodies below `limit` on `axis` to the front. Returns how many they are. */
static long split(struct body* bodies, long count, int axis, double limit) {
  long low = 0;
  for (long i = 0; i < count; i++) {
    if (bodies[i].place[axis] >= limit) continue;
    const struct body kept = bodies[low];
    bodies[low++] = bodies[i];
    bodies[i] = kept;
  }
  return low;
}

static struct node* build(struct node_pool* pool, const struct cube* cube, struct body* bodies,
                          long count, int level) {
  if (count == 0) return NULL;
  if (count <= kLeaf || level == kMostLevels) return leaf(pool, cube->side, bodies, count);
  /* begin[part]: where the bodies of a part begin, once they are split along z, then y, then x. */
  long begin[9] = {0, 0, 0, 0, 0, 0, 0, 0, count};
  for (int axis = 2; axis >= 0; axis--) {
    const double limit = cube->corner[axis] + cube->side / 2;
    const int width = 2 << axis;
    for (int part = 0; part < 8; part += width) {
      const long first = begin[part];
      begin[part + width / 2] =
          first + split(&bodies[first], begin[part + width] - first, axis, limit);
    }
  }
  struct node* child[8];
  for (int part = 0; part < 8; part++) {
    const struct cube smaller = part_of(cube, part);
    child[part] =
        build(pool, &smaller, &bodies[begin[part]], begin[part + 1] - begin[part], level + 1);
  }
  return join_nodes(pool, cube->side, child);
}

struct node* build_tree(struct node_pool* pool, const struct cube* cube, struct body* bodies,
                        long count) {
  return build(pool, cube, bodies, count, 0);
}

void attract_by(const double at[3], const double place[3], double mass, double acceleration[3]) {
  const double d[3] = {place[0] - at[0], place[1] - at[1], place[2] - at[2]};
  const double squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + kSoftening * kSoftening;
  const double size = mass / (squared * sqrt(squared));
  for (int axis = 0; axis < 3; axis++) acceleration[axis] += size * d[axis];
}

static void walk(struct body* body, const struct node* node) {
  for (long i = 0; i < node->count; i++) {
    if (node->bodies[i].number == body->number) continue;
    attract_by(body->place, node->bodies[i].place, node->bodies[i].mass, body->acceleration);
    body->work++;
  }
  if (node->count > 0) return;
  double squared = 0;
  for (int axis = 0; axis < 3; axis++) {
    const double d = node->middle_of_mass[axis] - body->place[axis];
    squared += d * d;
  }
  if (node->side * node->side < kOpening * kOpening * squared) {
    attract_by(body->place, node->middle_of_mass, node->mass, body->acceleration);
    body->work++;
    return;
  }
  for (int part = 0; part < 8; part++) {
    if (node->child[part] != NULL) walk(body, node->child[part]);
  }
}

void attract(struct body* body, const struct node* root) {
  body->work = 0;
  memset(body->acceleration, 0, sizeof body->acceleration);
  walk(body, root);
}
