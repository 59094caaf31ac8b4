/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns whole physical axes to each axis of a mesh (gke-kuberay-jax 6.2, step 6). */
#include <string.h>

#include "models/jax/torus.h"

/* The order of sets with the same number of physical axes, on a torus whose cores have the most bandwidth. */
typedef struct {
  guint best, sum;
} Rank;

/* The highest bit is the first axis. So among sets of the same size, larger numbers come first, as in JAX's
 * combinations. */
static gboolean
has_axis (const QuoitTorus *torus, guint set, guint p)
{
  return (set >> (torus->n_axes - 1 - p) & 1) != 0;
}

static guint64
product_of (const QuoitTorus *torus, guint set, const guint32 *left)
{
  guint64 product = 1;

  for (guint p = 0; p < torus->n_axes; p++)
    if (has_axis (torus, set, p))
      product *= left[p];
  return product;
}

static Rank
rank_of (const QuoitTorus *torus, guint set)
{
  Rank rank = { G_MAXUINT, 0 };

  for (guint p = 0; torus->core_first && p < torus->n_axes; p++)
    if (has_axis (torus, set, p))
      {
        guint own = torus->axes[p] == QUOIT_TORUS_CORE ? 0 : torus->axes[p] + 1u;

        rank.best = MIN (rank.best, own);
        rank.sum += own;
      }
  return rank;
}

static gboolean
is_before (Rank a, Rank b)
{
  return a.best != b.best ? a.best < b.best : a.sum < b.sum;
}

/* Returns the set of @n_members physical axes whose product is @size, or 0. */
static guint
find_set (const QuoitTorus *torus, guint n_members, const guint32 *left, guint64 size)
{
  guint found = 0;

  for (guint set = (1u << torus->n_axes) - 1; set > 0; set--)
    if ((guint) __builtin_popcount (set) == n_members && product_of (torus, set, left) == size
        && (found == 0 || is_before (rank_of (torus, set), rank_of (torus, found))))
      found = set;
  return found;
}

static guint
all_of_one (const QuoitTorus *torus, const guint32 *left)
{
  guint set = 0;

  for (guint p = 0; p < torus->n_axes; p++)
    set = set << 1 | (left[p] == 1);
  return set;
}

/* Prefers many physical axes, because they have more bandwidth. For size 1 it takes all axes of size 1. */
static guint
find_largest_set (const QuoitTorus *torus, const guint32 *left, guint64 size)
{
  guint set = 0;

  if (size == 1)
    return all_of_one (torus, left);
  for (guint n_members = torus->n_axes; n_members > 0 && set == 0; n_members--)
    set = find_set (torus, n_members, left, size);
  return set;
}

gboolean
quoit_torus_assign (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares,
                    QuoitTorusMismatch *mismatch)
{
  guint32 left[QUOIT_TORUS_MOST_AXES];

  memcpy (left, torus->sizes, sizeof left);
  for (guint l = n; l-- > 0;)
    {
      guint set = find_largest_set (torus, left, (guint64) sizes[l]);

      if (set == 0 && sizes[l] > 1)
        {
          mismatch->axis = l;
          memcpy (mismatch->left, left, sizeof left);
          return FALSE;
        }
      for (guint p = 0; p < torus->n_axes; p++)
        {
          gboolean is_taken = has_axis (torus, set, p);

          shares->of[p][l] = is_taken ? torus->sizes[p] : 1;
          if (is_taken)
            left[p] = 0;
        }
    }
  return TRUE;
}
