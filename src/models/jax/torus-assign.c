/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns whole physical axes to each axis of a mesh (gke-kuberay-jax 6.2, step 6). */
#include <string.h>

#include "models/jax/torus.h"

/* The rank of a set of physical axes on a torus whose cores have the most bandwidth. The rank of an axis is 0 for the
 * cores, 1 for x, 2 for y and 3 for z. On other tori all sets have the same rank. */
typedef struct {
  guint lowest; /* the lowest rank of the axes in the set */
  guint total;  /* the sum of their ranks */
} SetRank;

/* A set of physical axes is a bit mask with the first axis as its highest bit. Sets of the same size in descending
 * order, as numbers, are then in the order in which JAX tries them: that of Python's itertools.combinations(). With
 * 3 axes, the sets of 2 are 110, 101, 011. */
static gboolean
has_axis (const QuoitTorus *torus, guint set, guint p)
{
  return (set >> (torus->n_axes - 1 - p) & 1) != 0;
}

static guint64
set_product (const QuoitTorus *torus, guint set, const guint32 *remaining)
{
  guint64 product = 1;

  for (guint p = 0; p < torus->n_axes; p++)
    if (has_axis (torus, set, p))
      product *= remaining[p];
  return product;
}

static SetRank
set_rank (const QuoitTorus *torus, guint set)
{
  SetRank rank = { G_MAXUINT, 0 };

  for (guint p = 0; torus->core_first && p < torus->n_axes; p++)
    if (has_axis (torus, set, p))
      {
        guint rank_of_axis = torus->axes[p] == QUOIT_TORUS_CORE ? 0 : torus->axes[p] + 1u;

        rank.lowest = MIN (rank.lowest, rank_of_axis);
        rank.total += rank_of_axis;
      }
  return rank;
}

/* JAX prefers the set that contains the axis with the most bandwidth. */
static gboolean
comes_first (SetRank a, SetRank b)
{
  return a.lowest != b.lowest ? a.lowest < b.lowest : a.total < b.total;
}

/* Returns the first set of @n_members physical axes whose product is @size: the one with the best rank, or else the one
 * that JAX tries first. Returns 0 if no set has that product. */
static guint
find_set (const QuoitTorus *torus, guint n_members, const guint32 *remaining, guint64 size)
{
  guint found = 0;

  for (guint set = (1u << torus->n_axes) - 1; set > 0; set--)
    if ((guint) __builtin_popcount (set) == n_members && set_product (torus, set, remaining) == size
        && (found == 0 || comes_first (set_rank (torus, set), set_rank (torus, found))))
      found = set;
  return found;
}

static guint
axes_of_size_one (const QuoitTorus *torus, const guint32 *remaining)
{
  guint set = 0;

  for (guint p = 0; p < torus->n_axes; p++)
    set = set << 1 | (remaining[p] == 1);
  return set;
}

/* JAX prefers many physical axes, because they have more bandwidth together. A mesh axis of size 1 gets all physical
 * axes of size 1. */
static guint
find_largest_set (const QuoitTorus *torus, const guint32 *remaining, guint64 size)
{
  guint set = 0;

  if (size == 1)
    return axes_of_size_one (torus, remaining);
  for (guint n_members = torus->n_axes; n_members > 0 && set == 0; n_members--)
    set = find_set (torus, n_members, remaining, size);
  return set;
}

gboolean
quoit_torus_assign (const QuoitTorus *torus, const gint64 *sizes, guint n, QuoitTorusShares *shares,
                    QuoitTorusMismatch *mismatch)
{
  guint32 remaining[QUOIT_TORUS_MOST_AXES];

  memcpy (remaining, torus->sizes, sizeof remaining);
  for (guint l = n; l-- > 0;)
    {
      guint set = find_largest_set (torus, remaining, (guint64) sizes[l]);

      if (set == 0 && sizes[l] > 1)
        {
          mismatch->axis = l;
          memcpy (mismatch->remaining, remaining, sizeof remaining);
          return FALSE;
        }
      for (guint p = 0; p < torus->n_axes; p++)
        {
          gboolean is_in_set = has_axis (torus, set, p);

          shares->sizes[p][l] = is_in_set ? torus->sizes[p] : 1;
          if (is_in_set)
            remaining[p] = 0;
        }
    }
  return TRUE;
}
