/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns parts of physical axes to each axis of a mesh, if they may be split (gke-kuberay-jax 6.2, step 7). */
#include <string.h>

#include "models/jax/torus.h"

/* The parts that an axis of the mesh may get, and the criteria for the choice. Each criterion counts only if all
 * earlier ones are equal. */
typedef struct {
  guint64 whole;  /* product of the parts that are whole physical axes */
  guint n_whole;  /* number of these parts */
  guint64 shared; /* product of the parts of physical axes of which other mesh axes already have parts */
  guint32 parts[QUOIT_TORUS_MOST_AXES];
} Candidate;

/* The search for the parts of one mesh axis. */
typedef struct {
  const QuoitTorus *torus;
  const guint32 *remaining; /* the size that is not assigned yet, for each physical axis */
  Candidate best;
  guint32 parts[QUOIT_TORUS_MOST_AXES];
} Search;

static gboolean
is_better (const Candidate *a, const Candidate *b, guint n_axes)
{
  guint p = 0;

  if (a->whole != b->whole)
    return a->whole > b->whole;
  if (a->n_whole != b->n_whole)
    return a->n_whole > b->n_whole;
  if (a->shared != b->shared)
    return a->shared > b->shared;
  while (p < n_axes && a->parts[p] == b->parts[p])
    p++;
  return p < n_axes && a->parts[p] > b->parts[p];
}

static void
consider_parts (Search *search)
{
  const QuoitTorus *torus = search->torus;
  Candidate candidate = { .whole = 1, .shared = 1 };

  memcpy (candidate.parts, search->parts, sizeof candidate.parts);
  for (guint p = 0; p < torus->n_axes; p++)
    {
      if (candidate.parts[p] == torus->sizes[p])
        {
          candidate.whole *= candidate.parts[p];
          candidate.n_whole += candidate.parts[p] > 1;
        }
      if (search->remaining[p] < torus->sizes[p])
        candidate.shared *= candidate.parts[p];
    }
  /* The first choice always beats the empty one, because its products are at least 1. */
  if (is_better (&candidate, &search->best, torus->n_axes))
    search->best = candidate;
}

/* Tries all products of parts of the physical axes from @p on that give @size. */
static void
try_parts (Search *search, guint p, guint32 size)
{
  guint32 divisors[QUOIT_MOST_DIVISORS];
  guint n;

  if (p + 1 == search->torus->n_axes)
    {
      search->parts[p] = size;
      if (search->remaining[p] % size == 0)
        consider_parts (search);
      return;
    }
  n = quoit_divisors (size, divisors);
  for (guint i = 0; i < n; i++)
    if (search->remaining[p] % divisors[i] == 0)
      {
        search->parts[p] = divisors[i];
        try_parts (search, p + 1, size / divisors[i]);
      }
}

void
quoit_torus_split (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares)
{
  guint32 remaining[QUOIT_TORUS_MOST_AXES];

  memcpy (remaining, torus->sizes, sizeof remaining);
  for (guint l = n; l-- > 0;)
    {
      Search search = { .torus = torus, .remaining = remaining };

      try_parts (&search, 0, (guint32) sizes[l]);
      g_assert (search.best.whole > 0);
      for (guint p = 0; p < torus->n_axes; p++)
        {
          shares->sizes[p][l] = search.best.parts[p];
          remaining[p] /= search.best.parts[p];
        }
    }
}
