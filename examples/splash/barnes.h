/* Bodies that attract each other, and the tree of Barnes and Hut (1986) over them: barnes.c,
 * tree.c. */
#ifndef BARNES_H
#define BARNES_H

#include <stddef.h>

struct body {
  double place[3];
  double velocity[3];
  double acceleration[3];
  double mass;
  long work;   /* how many bodies and cells acted on it in the last step */
  long number; /* identifies it: bodies move in memory */
};

/* A cube of space. A leaf has bodies; any other node has children, NULL where there is no body. */
struct node {
  double middle_of_mass[3];
  double mass;
  double side;
  struct node* child[8];
  const struct body* bodies;
  long count; /* of `bodies`; 0: no leaf */
};

struct cube {
  double corner[3];
  double side;
};

/* Memory for the nodes of one worker's trees. */
struct node_pool {
  struct node* nodes;
  long used;
  long size;
};

/* How many nodes a tree of `bodies` bodies has at most, in kMostLevels levels. */
long most_nodes(long bodies);

/* A part of `cube`, in the order of struct node's children. */
struct cube part_of(const struct cube* cube, int part);

/* Builds the tree of `count` bodies in `cube`, and sorts them so that a leaf's bodies lie together.
 * NULL without a body. */
struct node* build_tree(struct node_pool* pool, const struct cube* cube, struct body* bodies,
                        long count);

/* A node over up to 8 children. NULL if there is no child. */
struct node* join_nodes(struct node_pool* pool, double side, struct node* const child[8]);

/* The acceleration of `body` by all that is below `root`. Sets body->acceleration and body->work.
 */
void attract(struct body* body, const struct node* root);

/* What `mass` at `place` adds to `acceleration` at `at`. */
void attract_by(const double at[3], const double place[3], double mass, double acceleration[3]);

#endif
