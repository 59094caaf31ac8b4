/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the graph of a fleet: what contains what, the links between chips and between slices, and the groups. */
#include <string.h>

#include "fleet/fleet.h"
#include "fleet/names.h"
#include "fleet/source-kinds.h"
#include "formats/graph.h"
#include "geometry/coordinates.h"

/* A group of more slices gets DCN edges between neighbouring slices only. */
enum { MOST_SLICES_LINKED_IN_PAIRS = 64 };

typedef struct {
  const QuoitFleet *fleet;
  QuoitGraph *graph;
  GHashTable *linked_slices; /* pairs of slice vertices that have a DCN edge */
  guint32 *node_vertices;    /* by node; the vertices of the node's chips follow its own */
  guint32 *slice_vertices;   /* by slice */
  guint32 *worker_nodes;     /* of the current slice: worker id -> node + 1; 0: no node */
} Builder;

/* --- containment --- */

static void
add_number (QuoitGraph *graph, const char *key, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  quoit_graph_add_fact (graph, key, text);
}

/* Adds the chips of a node, with coordinates if the node has a position in its slice. */
static void
add_chips (Builder *builder, guint32 vertex, QuoitNodeId node, const QuoitCoordinates *torus)
{
  const QuoitLayout *layout = builder->fleet->layout;
  guint16 n_chips = quoit_layout_node_kind (layout, node)->chips;
  gint16 worker = layout->nodes[node.index].worker_id;

  for (guint16 chip = 0; chip < n_chips; chip++)
    {
      g_autofree char *name = g_strdup_printf ("chip%u", chip);

      quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_CHIP, vertex, chip, name);
      if (torus != NULL && worker >= 0)
        {
          QuoitPosition spot
              = quoit_position_from_index (torus->facts.shape, quoit_coordinates_chip (torus, (guint32) worker, chip));

          quoit_graph_set_place (builder->graph, spot.at[0], spot.at[1], spot.at[2]);
        }
    }
}

static void
add_node (Builder *builder, guint32 parent, QuoitNodeId node, const QuoitCoordinates *torus)
{
  const QuoitLayout *layout = builder->fleet->layout;
  const QuoitNode *row = &layout->nodes[node.index];
  QuoitNodeState state = quoit_fleet_node_state (builder->fleet, node);
  gint64 number = row->worker_id >= 0 ? row->worker_id : (gint64) row->id;
  guint32 vertex = quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_NODE, parent, number,
                                           quoit_layout_node_name (layout, node));

  g_array_index (builder->graph->vertices, QuoitVertex, vertex).is_down = state != QUOIT_NODE_ALIVE;
  builder->node_vertices[node.index] = vertex;
  quoit_graph_add_fact (builder->graph, "state", quoit_node_state_name (state));
  quoit_graph_add_fact (builder->graph, "address", quoit_layout_node_address (layout, node));
  if (row->worker_id >= 0)
    add_number (builder->graph, "worker_id", row->worker_id);
  if (quoit_fleet_node_is_external (builder->fleet, node))
    quoit_graph_add_fact (builder->graph, "external", "true");
  add_chips (builder, vertex, node, torus);
}

/* --- links --- */

/* Finds the vertex of a chip by its index in the slice. Returns FALSE if no node has the position of its host. */
static gboolean
find_chip (const Builder *builder, const QuoitCoordinates *torus, guint32 chip, guint32 *vertex)
{
  guint32 node = builder->worker_nodes[quoit_coordinates_worker (torus, chip)];
  guint32 index_on_host = quoit_coordinates_index_on_host (torus, chip);

  if (node == 0 || index_on_host >= quoit_layout_node_kind (builder->fleet->layout, (QuoitNodeId) { node - 1 })->chips)
    return FALSE;
  *vertex = builder->node_vertices[node - 1] + 1 + index_on_host;
  return TRUE;
}

/* Adds each link once, in the upward direction. An axis of two chips has no separate wraparound link. */
static void
link_chips (Builder *builder, const QuoitCoordinates *torus)
{
  guint32 n_chips = quoit_shape_chips (torus->facts.shape), from, to, neighbour;

  for (guint32 chip = 0; chip < n_chips; chip++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      if (quoit_coordinates_step (torus, chip, axis, QUOIT_DIRECTION_UP, &neighbour) && neighbour != chip
          && !(torus->facts.shape.dims[axis] == 2 && neighbour < chip) && find_chip (builder, torus, chip, &from)
          && find_chip (builder, torus, neighbour, &to))
        quoit_graph_add_edge (builder->graph, QUOIT_EDGE_ICI, from, to, NULL);
}

/* Records the node as the host with its worker id. If two nodes have the same worker id, the one that is not dead is
 * recorded. */
static void
record_worker (Builder *builder, QuoitNodeId node, guint32 n_hosts)
{
  gint16 worker = builder->fleet->layout->nodes[node.index].worker_id;
  guint32 *recorded;

  if (worker < 0 || (guint32) worker >= n_hosts)
    return;
  recorded = &builder->worker_nodes[worker];
  if (*recorded == 0
      || (quoit_fleet_node_state (builder->fleet, (QuoitNodeId) { *recorded - 1 }) == QUOIT_NODE_DEAD
          && quoit_fleet_node_state (builder->fleet, node) != QUOIT_NODE_DEAD))
    *recorded = node.index + 1;
}

static void
add_slice (Builder *builder, guint32 parent, QuoitSliceId slice)
{
  const QuoitLayout *layout = builder->fleet->layout;
  const QuoitSlice *row = &layout->slices[slice.index];
  const QuoitClass *class = quoit_layout_slice_class (layout, slice);
  QuoitCoordinates torus;
  guint32 vertex = quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_SLICE, parent, slice.index,
                                           quoit_layout_text (layout, row->name));

  builder->slice_vertices[slice.index] = vertex;
  if (class != NULL)
    {
      g_autofree char *topology = quoit_shape_format (class->facts.shape);

      torus = quoit_coordinates_make (&class->facts, QUOIT_WIRING_STRAIGHT);
      quoit_graph_add_fact (builder->graph, "accelerator", quoit_generation_name (class->facts.generation));
      quoit_graph_add_fact (builder->graph, "topology", topology);
      memset (builder->worker_nodes, 0, class->facts.hosts * sizeof *builder->worker_nodes);
    }
  for (guint32 n = row->first_node; n < row->first_node + row->n_nodes; n++)
    {
      QuoitNodeId node = { n };
      gboolean has_position = class != NULL && layout->nodes[n].worker_id >= 0
                              && (guint32) layout->nodes[n].worker_id < class->facts.hosts
                              && quoit_layout_node_kind (layout, node)->chips == class->facts.chips_per_host;

      add_node (builder, vertex, node, has_position ? &torus : NULL);
      if (has_position)
        record_worker (builder, node, class->facts.hosts);
    }
  if (class != NULL)
    link_chips (builder, &torus);
}

static void
add_pool (Builder *builder, guint32 parent, guint32 p)
{
  const QuoitLayout *layout = builder->fleet->layout;
  const QuoitPool *pool = &layout->pools[p];
  guint32 vertex
      = quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_POOL, parent, p, quoit_layout_text (layout, pool->name));

  for (guint32 s = pool->first_slice; s < pool->first_slice + pool->n_slices; s++)
    add_slice (builder, vertex, (QuoitSliceId) { s });
  for (guint32 n = pool->first_node; n < pool->first_node + pool->n_nodes; n++)
    if (layout->nodes[n].slice == QUOIT_NO_INDEX)
      add_node (builder, vertex, (QuoitNodeId) { n }, NULL);
}

static void
add_sources (Builder *builder, guint32 fleet)
{
  const QuoitLayout *layout = builder->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      const QuoitSource *source = &layout->sources[s];
      guint32 vertex = quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_SOURCE, fleet, s,
                                               quoit_layout_text (layout, source->name));

      quoit_graph_add_fact (builder->graph, "kind", quoit_source_kind_name (source->kind));
      for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
        add_pool (builder, vertex, p);
    }
}

/* --- groups --- */

static guint32
add_group (Builder *builder, const QuoitGroupData *group)
{
  g_autofree char *label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
  guint32 vertex
      = quoit_graph_add_vertex (builder->graph, QUOIT_VERTEX_GROUP, QUOIT_NO_PARENT, (gint64) group->id, label);

  quoit_graph_add_fact (builder->graph, "state",
                        quoit_group_state_name (quoit_fleet_group_state (builder->fleet, group)));
  quoit_graph_add_fact (builder->graph, "owner", group->owner);
  quoit_graph_add_fact (builder->graph, "source", group->source);
  return vertex;
}

typedef struct {
  guint32 vertex;
  GArray *slices; /* of guint32: vertices of the group's slices in the order of the layout, without duplicates */
} GroupVertex;

static void
group_vertex_free (gpointer data)
{
  g_array_unref (((GroupVertex *) data)->slices);
  g_free (data);
}

static void
add_group_slice (GroupVertex *group, guint32 slice)
{
  if (group->slices->len == 0 || g_array_index (group->slices, guint32, group->slices->len - 1) != slice)
    g_array_append_val (group->slices, slice);
}

static gint
by_id (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = *(const QuoitGroupData *const *) a, *y = *(const QuoitGroupData *const *) b;

  return (x->id > y->id) - (x->id < y->id);
}

/* Returns all groups that have nodes, sorted by id, so that their vertices do not depend on the order of their
 * nodes. */
static GPtrArray *
list_groups (const QuoitFleet *fleet)
{
  g_autoptr (GHashTable) listed = g_hash_table_new (NULL, NULL);
  GPtrArray *all = g_ptr_array_new ();

  for (guint32 n = 0; n < fleet->layout->n_nodes; n++)
    {
      g_autoptr (GPtrArray) groups = quoit_fleet_node_groups (fleet, (QuoitNodeId) { n });

      for (guint i = 0; i < groups->len; i++)
        if (g_hash_table_add (listed, groups->pdata[i]))
          g_ptr_array_add (all, groups->pdata[i]);
    }
  g_ptr_array_sort (all, by_id);
  return all;
}

/* Adds at most one edge between two slices, even if several groups have both. */
static void
link_slice_pair (Builder *builder, guint32 from, guint32 to)
{
  guint64 *pair = g_new (guint64, 1);

  *pair = (guint64) from << 32 | to;
  if (g_hash_table_add (builder->linked_slices, pair))
    quoit_graph_add_edge (builder->graph, QUOIT_EDGE_DCN, from, to, NULL);
}

/* Links each pair of slices of a group. With many slices it links only neighbours, because the number of pairs grows
 * with the square of the number of slices. */
static void
link_slices (Builder *builder, const GroupVertex *group)
{
  const guint32 *slices = (const guint32 *) (void *) group->slices->data;
  guint n = group->slices->len, reach = n <= MOST_SLICES_LINKED_IN_PAIRS ? n : 2;

  for (guint a = 0; a < n; a++)
    for (guint b = a + 1; b < MIN (n, a + reach); b++)
      link_slice_pair (builder, slices[a], slices[b]);
}

static void
add_groups (Builder *builder)
{
  const QuoitLayout *layout = builder->fleet->layout;
  g_autoptr (GHashTable) vertices = g_hash_table_new_full (NULL, NULL, NULL, group_vertex_free);
  g_autoptr (GPtrArray) all = list_groups (builder->fleet);

  for (guint i = 0; i < all->len; i++)
    {
      GroupVertex *group = g_new0 (GroupVertex, 1);

      group->vertex = add_group (builder, all->pdata[i]);
      group->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_hash_table_insert (vertices, all->pdata[i], group);
    }
  for (guint32 n = 0; n < layout->n_nodes; n++)
    {
      QuoitNodeId node = { n };
      g_autoptr (GPtrArray) groups = quoit_fleet_node_groups (builder->fleet, node);

      for (guint i = 0; i < groups->len; i++)
        {
          GroupVertex *group = g_hash_table_lookup (vertices, groups->pdata[i]);
          g_autofree char *share = quoit_fleet_node_share_text (builder->fleet, node, groups->pdata[i]);

          quoit_graph_add_edge (builder->graph, QUOIT_EDGE_HOLDS, group->vertex, builder->node_vertices[n], share);
          if (layout->nodes[n].slice != QUOIT_NO_INDEX)
            add_group_slice (group, builder->slice_vertices[layout->nodes[n].slice]);
        }
    }
  for (guint i = 0; i < all->len; i++)
    link_slices (builder, g_hash_table_lookup (vertices, all->pdata[i]));
}

/* --- the fleet --- */

QuoitGraph *
quoit_fleet_graph (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint32 *node_vertices = g_new0 (guint32, layout->n_nodes + 1);
  g_autofree guint32 *slice_vertices = g_new0 (guint32, layout->n_slices + 1);
  g_autofree guint32 *worker_nodes = NULL;
  guint32 most_hosts = 1;
  g_autoptr (GHashTable) linked_slices = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Builder builder = { fleet, quoit_graph_new (), linked_slices, node_vertices, slice_vertices, NULL };

  for (guint32 c = 0; c < layout->n_classes; c++)
    most_hosts = MAX (most_hosts, layout->classes[c].facts.hosts);
  builder.worker_nodes = worker_nodes = g_new0 (guint32, most_hosts);
  add_sources (&builder, quoit_graph_add_vertex (builder.graph, QUOIT_VERTEX_FLEET, QUOIT_NO_PARENT, 0, "fleet"));
  add_groups (&builder);
  return builder.graph;
}
