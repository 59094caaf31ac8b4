/* SPDX-License-Identifier: Apache-2.0 */
#include "geometry/pairs.h"

#include "base/indices.h"

/* Of two neighbours, one has an even and one an odd sum of coordinates. A set of pairs is as large as possible if no
 * path leads from an even host without a partner to an odd one without a partner, by turns over a pair that is not
 * chosen and one that is. Exchanging the pairs of such a path gives one more. */
typedef struct {
  const QuoitGrid *grid;
  const QuoitHostSet *free;
  unsigned axes;
  guint32 *partners;
  guint32 *from;  /* for each odd host, the even one before it on a path; QUOIT_NO_INDEX: it is on none */
  guint32 *queue; /* of even hosts */
  guint32 *seen;  /* odd hosts */
} Pairing;

/* Writes the free hosts beside @host to @found and returns their number. */
static guint
list_neighbours (const Pairing *pairing, guint32 host, guint32 found[2 * QUOIT_N_AXES])
{
  const QuoitGrid *grid = pairing->grid;
  guint32 step = 1;
  guint n = 0;

  for (guint axis = 0; axis < QUOIT_N_AXES; step *= grid->n[axis++])
    {
      const guint32 at = host / step % grid->n[axis];

      if ((pairing->axes >> axis & 1) == 0)
        continue;
      if (at > 0 && quoit_host_set_has (grid, pairing->free, host - step))
        found[n++] = host - step;
      if (at + 1 < grid->n[axis] && quoit_host_set_has (grid, pairing->free, host + step))
        found[n++] = host + step;
    }
  return n;
}

/* Exchanges the pairs of the path that ends at @odd. */
static void
exchange (const Pairing *pairing, guint32 odd)
{
  while (odd != QUOIT_NO_INDEX)
    {
      const guint32 even = pairing->from[odd], next = pairing->partners[even];

      pairing->partners[odd] = even;
      pairing->partners[even] = odd;
      odd = next;
    }
}

/* Looks for a path from @start. Hosts that were on a search without success are on no later path. */
static gboolean
pair (const Pairing *pairing, guint32 start)
{
  guint32 n_queued = 0, n_seen = 0, found[2 * QUOIT_N_AXES];

  pairing->queue[n_queued++] = start;
  for (guint32 i = 0; i < n_queued; i++)
    {
      const guint n = list_neighbours (pairing, pairing->queue[i], found);

      for (guint k = 0; k < n; k++)
        {
          if (pairing->from[found[k]] != QUOIT_NO_INDEX)
            continue;
          pairing->from[found[k]] = pairing->queue[i];
          pairing->seen[n_seen++] = found[k];
          if (pairing->partners[found[k]] != QUOIT_NO_INDEX)
            {
              pairing->queue[n_queued++] = pairing->partners[found[k]];
              continue;
            }
          exchange (pairing, found[k]);
          while (n_seen > 0)
            pairing->from[pairing->seen[--n_seen]] = QUOIT_NO_INDEX;
          return TRUE;
        }
    }
  return FALSE;
}

static gboolean
is_even (const QuoitGrid *grid, guint32 host)
{
  const guint32 row = host / grid->n[0];

  return (host % grid->n[0] + row % grid->n[1] + row / grid->n[1]) % 2 == 0;
}

guint32
quoit_grid_find_pairs (const QuoitGrid *grid, const QuoitHostSet *free, unsigned axes, guint32 *partners)
{
  const guint32 n_hosts = quoit_grid_n_hosts (grid);
  g_autofree guint32 *from = g_new (guint32, 3 * n_hosts + 1);
  const Pairing pairing = { grid, free, axes, partners, from, from + n_hosts, from + 2 * n_hosts };
  guint32 n_pairs = 0;

  for (guint32 host = 0; host < n_hosts; host++)
    partners[host] = from[host] = QUOIT_NO_INDEX;
  for (guint32 host = 0; host < n_hosts; host++)
    if (is_even (grid, host) && quoit_host_set_has (grid, free, host))
      n_pairs += pair (&pairing, host);
  return n_pairs;
}

/* By the theorem of König: hosts are reached from the even ones without a partner, by turns over any pair of neighbours
 * and over a chosen pair. The odd hosts that are reached and the even ones that are not are in all pairs. */
void
quoit_grid_cover_pairs (const QuoitGrid *grid, const QuoitHostSet *free, unsigned axes, const guint32 *partners,
                        guint64 *cover)
{
  const guint32 n_hosts = quoit_grid_n_hosts (grid);
  const Pairing pairing = { .grid = grid, .free = free, .axes = axes };
  g_autofree guint32 *queue = g_new (guint32, n_hosts + 1);
  guint32 n_queued = 0, found[2 * QUOIT_N_AXES];

  for (guint32 host = 0; host < n_hosts; host++)
    {
      cover[host] = partners[host] != QUOIT_NO_INDEX && is_even (grid, host);
      if (partners[host] == QUOIT_NO_INDEX && is_even (grid, host) && quoit_host_set_has (grid, free, host))
        queue[n_queued++] = host;
    }
  for (guint32 i = 0; i < n_queued; i++)
    {
      const guint n = list_neighbours (&pairing, queue[i], found);

      for (guint k = 0; k < n; k++)
        if (cover[found[k]] == 0)
          {
            cover[found[k]] = 1;
            cover[partners[found[k]]] = 0;
            queue[n_queued++] = partners[found[k]];
          }
    }
}
