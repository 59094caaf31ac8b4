/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns parts of physical axes to each axis of a mesh, if they may be split (gke-kuberay-jax 6.2, step 7). */
#include <string.h>

#include "models/jax/torus.h"

/* The parts that an axis of the mesh may get, and the criteria for the choice. Each criterion counts only if all
 * earlier ones are equal. */
typedef struct {
  guint64 whole;   /* product of the parts that are whole physical axes */
  guint n_whole;   /* number of these parts */
  guint64 touched; /* product of the parts of physical axes that other mesh axes share */
  guint32 parts[QUOIT_TORUS_MOST_AXES];
} Choice;

typedef struct {
  const QuoitTorus *torus;
  const guint32 *left; /* what is left of each physical axis */
  Choice best;
  guint32 parts[QUOIT_TORUS_MOST_AXES];
} Search;

static gboolean
is_better (const Choice *a, const Choice *b, guint n_axes)
{
  guint p = 0;

  if (a->whole != b->whole)
    return a->whole > b->whole;
  if (a->n_whole != b->n_whole)
    return a->n_whole > b->n_whole;
  if (a->touched != b->touched)
    return a->touched > b->touched;
  while (p < n_axes && a->parts[p] == b->parts[p])
    p++;
  return p < n_axes && a->parts[p] > b->parts[p];
}

static void
consider (Search *search)
{
  const QuoitTorus *torus = search->torus;
  Choice choice = { .whole = 1, .touched = 1 };

  memcpy (choice.parts, search->parts, sizeof choice.parts);
  for (guint p = 0; p < torus->n_axes; p++)
    {
      if (choice.parts[p] == torus->sizes[p])
        {
          choice.whole *= choice.parts[p];
          choice.n_whole += choice.parts[p] > 1;
        }
      if (search->left[p] < torus->sizes[p])
        choice.touched *= choice.parts[p];
    }
  /* The first choice always beats the empty one, because its products are at least 1. */
  if (is_better (&choice, &search->best, torus->n_axes))
    search->best = choice;
}

static void
try_from (Search *search, guint p, guint32 size)
{
  guint32 divisors[QUOIT_MOST_DIVISORS];
  guint n;

  if (p + 1 == search->torus->n_axes)
    {
      search->parts[p] = size;
      if (search->left[p] % size == 0)
        consider (search);
      return;
    }
  n = quoit_divisors (size, divisors);
  for (guint i = 0; i < n; i++)
    if (search->left[p] % divisors[i] == 0)
      {
        search->parts[p] = divisors[i];
        try_from (search, p + 1, size / divisors[i]);
      }
}

void
quoit_torus_split (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares)
{
  guint32 left[QUOIT_TORUS_MOST_AXES];

  memcpy (left, torus->sizes, sizeof left);
  for (guint l = n; l-- > 0;)
    {
      Search search = { .torus = torus, .left = left };

      try_from (&search, 0, (guint32) sizes[l]);
      g_assert (search.best.whole > 0);
      for (guint p = 0; p < torus->n_axes; p++)
        {
          shares->of[p][l] = search.best.parts[p];
          left[p] /= search.best.parts[p];
        }
    }
}
