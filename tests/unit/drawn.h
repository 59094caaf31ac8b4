/* SPDX-License-Identifier: Apache-2.0 */
/* Small fleets drawn as text, with one letter per host, for suites that compare placement with their own counts:
 *
 *   a=..A b:2x4/4@zone=x[A.]
 *
 * is pool a with three slices of v6e 4x4, the third allocated to group A, and pool b with two slices of 2x4 on hosts
 * of four chips: host 0 of the first is dead, and group A has host 0 of the second. Slices are named a-0, a-1, and
 * their hosts a-0-0... One letter for a slice means its first host, but a group's letter means all of its hosts.
 *
 *   . free   ~ draining   x dead   e external use   _ unknown
 *   A-F allocated to that group   a-d likewise, and dead   1-4 allocated to A-D, and draining */
#pragma once

#include <string.h>

#include "fleet/fleet.h"

enum { DRAWN_SLICES = 64, DRAWN_HOSTS = 4, DRAWN_POOLS = 8, DRAWN_GROUPS = 6 };

typedef struct {
  guint pool;
  const char *topology;
  guint16 chips; /* of a host */
  guint n_hosts;
  char host[DRAWN_HOSTS];
} DrawnSlice;

typedef struct {
  guint n_pools, n_slices;
  char pools[DRAWN_POOLS][8], zones[DRAWN_POOLS][16];
  DrawnSlice slices[DRAWN_SLICES]; /* slices of a pool are adjacent */
} Drawn;

/* The group of the host, 'A' to 'F', or 0. */
static inline char
drawn_group (char host)
{
  if (host >= 'A' && host <= 'F')
    return host;
  if (host >= 'a' && host <= 'd')
    return (char) (host - 'a' + 'A');
  return host >= '1' && host <= '4' ? (char) (host - '1' + 'A') : 0;
}

static inline QuoitNodeState
drawn_state (char host)
{
  if (host == 'x' || (host >= 'a' && host <= 'd'))
    return QUOIT_NODE_DEAD;
  return host == '~' || (host >= '1' && host <= '4') ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
}

/* The letter of the host after its group is released; after it is alive again or undrained. */
static inline char
drawn_released (char host)
{
  static const char left[] = { [QUOIT_NODE_ALIVE] = '.', [QUOIT_NODE_DRAINING] = '~', [QUOIT_NODE_DEAD] = 'x' };

  return drawn_group (host) == 0 ? host : left[drawn_state (host)];
}

static inline char
drawn_alive (char host)
{
  if (drawn_state (host) == QUOIT_NODE_ALIVE)
    return host;
  return drawn_group (host) == 0 ? '.' : drawn_group (host);
}

static inline void
drawn_slice (DrawnSlice *slice, guint pool, const char *topology, guint16 chips, const char *hosts)
{
  QuoitShape shape;
  gboolean all = hosts[1] == '\0' && (hosts[0] == '.' || drawn_group (hosts[0]) != 0);

  g_assert (quoit_shape_parse (topology, &shape, NULL));
  *slice = (DrawnSlice) { .pool = pool, .topology = topology, .chips = chips };
  slice->n_hosts = quoit_shape_chips (shape) / chips;
  g_assert (slice->n_hosts <= DRAWN_HOSTS);
  for (guint w = 0; w < slice->n_hosts; w++)
    slice->host[w] = all ? hosts[0] : w < strlen (hosts) ? hosts[w] : '.';
}

/* Parses @text in this format. Topologies are interned, so a drawing is a plain value. */
static inline void
drawn_parse (Drawn *drawn, const char *text)
{
  g_auto (GStrv) pools = g_strsplit (text, " ", -1);

  *drawn = (Drawn) { 0 };
  for (guint p = 0; pools[p] != NULL; p++)
    {
      char *states = strchr (pools[p], '='), *zone, *topology, *chips;
      guint16 host_chips = 4;

      g_assert (states != NULL && p < DRAWN_POOLS);
      *states++ = '\0';
      if ((zone = strchr (pools[p], '@')) != NULL)
        *zone++ = '\0';
      if ((topology = strchr (pools[p], ':')) != NULL)
        *topology++ = '\0';
      if (topology != NULL && (chips = strchr (topology, '/')) != NULL)
        {
          *chips++ = '\0';
          host_chips = (guint16) g_ascii_strtoull (chips, NULL, 10);
        }
      g_strlcpy (drawn->pools[drawn->n_pools], pools[p], sizeof drawn->pools[0]);
      g_strlcpy (drawn->zones[drawn->n_pools], zone != NULL ? zone : "", sizeof drawn->zones[0]);
      topology = (char *) g_intern_string (topology != NULL ? topology : "4x4");
      for (; *states != '\0'; states++)
        {
          char hosts[DRAWN_HOSTS + 1] = { states[0] };

          if (states[0] == '[')
            {
              gsize n = strcspn (states + 1, "]");

              g_assert (n <= DRAWN_HOSTS);
              memcpy (hosts, states + 1, n);
              hosts[n] = '\0';
              states += n + 1;
            }
          g_assert (drawn->n_slices < DRAWN_SLICES);
          drawn_slice (&drawn->slices[drawn->n_slices++], drawn->n_pools, topology, host_chips, hosts);
        }
      drawn->n_pools++;
    }
}

static inline guint
drawn_number (const Drawn *drawn, guint s)
{
  guint first = s;

  while (first > 0 && drawn->slices[first - 1].pool == drawn->slices[s].pool)
    first--;
  return s - first;
}

static inline void
drawn_node_name (const Drawn *drawn, guint s, guint w, char *name, gsize room)
{
  g_snprintf (name, (gulong) room, "%s-%u-%u", drawn->pools[drawn->slices[s].pool], drawn_number (drawn, s), w);
}

static inline void
drawn_claim_slice (QuoitClaims *claims, const Drawn *drawn, guint s)
{
  const DrawnSlice *slice = &drawn->slices[s];
  g_autofree char *name = g_strdup_printf ("%s-%u", drawn->pools[slice->pool], drawn_number (drawn, s));
  QuoitPair label = { "ray.io/availability-zone", drawn->zones[slice->pool] };
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E,
                         .topology = slice->topology,
                         .chips = slice->chips,
                         .labels = &label,
                         .n_labels = *label.value != '\0' };
  guint32 pool = quoit_claims_ensure_pool (claims, drawn->pools[slice->pool]), kind_index;

  g_assert (quoit_shape_parse (slice->topology, &kind.shape, NULL));
  kind_index = quoit_claims_intern_kind (claims, &kind, name);
  for (guint w = 0; w < slice->n_hosts; w++)
    {
      char node[32];

      drawn_node_name (drawn, s, w, node, sizeof node);
      if (slice->host[w] != '_')
        quoit_claims_add (claims, &(QuoitNodeClaim) { .name = node,
                                                      .slice = name,
                                                      .pool = pool,
                                                      .kind = kind_index,
                                                      .worker_id = (gint32) w,
                                                      .flags = slice->host[w] == 'e' ? QUOIT_NODE_EXTERNAL : 0 });
    }
}

/* The layout only: external and unknown hosts, but no states and groups. */
static inline QuoitLayout *
drawn_layout (const Drawn *drawn)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("t", QUOIT_SOURCE_KIND_FLEET);
  g_autofree guint32 *ids = NULL;
  guint32 n;

  for (guint s = 0; s < drawn->n_slices; s++)
    drawn_claim_slice (claims, drawn, s);
  quoit_claims_nodes (claims, &n);
  ids = g_new (guint32, n + 1);
  for (guint32 i = 0; i < n; i++)
    ids[i] = i + 1; /* in the order of the drawing */
  return quoit_layout_new (&(QuoitLayoutPart) { claims, ids }, 1);
}

/* Sets the states and groups of @fleet, an idle one with the drawing's layout. */
static inline void
drawn_apply (const Drawn *drawn, QuoitFleet *fleet)
{
  guint32 nodes[DRAWN_GROUPS][DRAWN_SLICES * DRAWN_HOSTS], ends[DRAWN_GROUPS][DRAWN_SLICES];
  guint32 n_nodes[DRAWN_GROUPS] = { 0 }, n_slices[DRAWN_GROUPS] = { 0 }, id = 0;

  for (guint s = 0; s < drawn->n_slices; s++)
    {
      for (guint w = 0; w < drawn->slices[s].n_hosts; w++)
        {
          char host = drawn->slices[s].host[w], group = drawn_group (host);

          if (host == '_')
            continue;
          id++;
          if (group != 0)
            nodes[group - 'A'][n_nodes[group - 'A']++] = id;
          if (drawn_state (host) != QUOIT_NODE_ALIVE)
            quoit_fleet_set_node_state (fleet, (QuoitNodeId) { quoit_layout_find_id (fleet->layout, id) },
                                        drawn_state (host));
        }
      for (guint g = 0; g < DRAWN_GROUPS; g++)
        if (n_nodes[g] > (n_slices[g] == 0 ? 0 : ends[g][n_slices[g] - 1]))
          ends[g][n_slices[g]++] = n_nodes[g];
    }
  for (guint g = 0; g < DRAWN_GROUPS; g++)
    if (n_nodes[g] > 0)
      g_assert (
          quoit_fleet_add_group (fleet,
                                 quoit_group_data_new (&(QuoitGroupData) { .id = g + 1,
                                                                           .state = QUOIT_GROUP_RESERVED,
                                                                           .name = (char[]) { (char) ('A' + g), '\0' },
                                                                           .owner = "",
                                                                           .key = "",
                                                                           .request = "",
                                                                           .n_slices = n_slices[g],
                                                                           .slice_end = ends[g],
                                                                           .n_nodes = n_nodes[g],
                                                                           .node_ids = nodes[g] }),
                                 NULL));
}

static inline QuoitFleet *
drawn_fleet (const Drawn *drawn)
{
  g_autoptr (QuoitLayout) layout = drawn_layout (drawn);
  QuoitFleet *fleet = quoit_fleet_new (layout);

  drawn_apply (drawn, fleet);
  return fleet;
}
