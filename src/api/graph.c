/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet as a graph: the containment of its parts, the links between chips and slices, and the groups. */
#include <quoit/snapshot.h>

#include "api/handles.h"
#include "formats/graph.h"
#include "fleet/names.h"
#include "geometry/coordinates.h"

enum { MOST_PAIRED = 64 };

typedef struct {
  const QuoitFleet *fleet;
  QuoitGraph *graph;
  GHashTable *joined; /* pairs of slices */
  guint32 *vertex_of; /* node -> its vertex; the vertices of its chips follow */
  guint32 *slice_of;  /* slice -> its vertex */
  guint32 *host_of;   /* for one slice: worker id -> node + 1 */
} Drawing;

/* --- containment --- */

static void
say_number (QuoitGraph *graph, const char *key, gint64 number)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, number);

  quoit_graph_say (graph, key, text);
}

/* Adds the chips of a node, with coordinates if the node has a position in its slice. */
static void
add_chips (Drawing *drawing, guint32 vertex, QuoitNodeId node, const QuoitCoordinates *torus)
{
  const QuoitLayout *layout = drawing->fleet->layout;
  guint16 n_chips = quoit_layout_node_kind (layout, node)->chips;
  gint16 worker = layout->nodes[node.index].worker_id;

  for (guint16 chip = 0; chip < n_chips; chip++)
    {
      g_autofree char *name = g_strdup_printf ("chip%u", chip);

      quoit_graph_add (drawing->graph, QUOIT_VERTEX_CHIP, vertex, chip, name);
      if (torus != NULL && worker >= 0)
        {
          QuoitSpot spot = quoit_spot_of (torus->facts.shape, quoit_coordinates_chip (torus, (guint32) worker, chip));

          say_number (drawing->graph, "x", spot.at[0]);
          say_number (drawing->graph, "y", spot.at[1]);
          say_number (drawing->graph, "z", spot.at[2]);
        }
    }
}

static void
add_node (Drawing *drawing, guint32 parent, QuoitNodeId node, const QuoitCoordinates *torus)
{
  const QuoitLayout *layout = drawing->fleet->layout;
  const QuoitNode *row = &layout->nodes[node.index];
  QuoitNodeState state = quoit_fleet_node_state (drawing->fleet, node);
  gint64 number = row->worker_id >= 0 ? row->worker_id : (gint64) row->id;
  guint32 vertex
      = quoit_graph_add (drawing->graph, QUOIT_VERTEX_NODE, parent, number, quoit_layout_node_name (layout, node));

  g_array_index (drawing->graph->vertices, QuoitVertex, vertex).is_down = state != QUOIT_NODE_ALIVE;
  drawing->vertex_of[node.index] = vertex;
  quoit_graph_say (drawing->graph, "state", quoit_node_state_name (state));
  quoit_graph_say (drawing->graph, "address", quoit_layout_node_address (layout, node));
  if (row->worker_id >= 0)
    say_number (drawing->graph, "worker_id", row->worker_id);
  if (quoit_fleet_node_is_external (drawing->fleet, node))
    quoit_graph_say (drawing->graph, "external", "true");
  add_chips (drawing, vertex, node, torus);
}

/* --- links --- */

/* Finds the vertex of a chip by its number in the slice. Returns FALSE if no node has the position of its host. */
static gboolean
find_chip (const Drawing *drawing, const QuoitCoordinates *torus, guint32 chip, guint32 *vertex)
{
  guint32 node = drawing->host_of[quoit_coordinates_worker (torus, chip)];
  guint32 local = quoit_coordinates_local (torus, chip);

  if (node == 0 || local >= quoit_layout_node_kind (drawing->fleet->layout, (QuoitNodeId) { node - 1 })->chips)
    return FALSE;
  *vertex = drawing->vertex_of[node - 1] + 1 + local;
  return TRUE;
}

/* Adds each link once, in the upward direction. An axis of two chips has no separate wraparound link. */
static void
link_chips (Drawing *drawing, const QuoitCoordinates *torus)
{
  guint32 n_chips = quoit_shape_chips (torus->facts.shape), from, to, neighbour;

  for (guint32 chip = 0; chip < n_chips; chip++)
    for (guint axis = 0; axis < QUOIT_N_AXES; axis++)
      if (quoit_coordinates_step (torus, chip, axis, QUOIT_DIRECTION_UP, &neighbour) && neighbour != chip
          && !(torus->facts.shape.dims[axis] == 2 && neighbour < chip) && find_chip (drawing, torus, chip, &from)
          && find_chip (drawing, torus, neighbour, &to))
        quoit_graph_join (drawing->graph, QUOIT_EDGE_ICI, from, to, NULL);
}

/* If two nodes have the same worker id, the one that is not dead gets the position. */
static void
take_place (Drawing *drawing, QuoitNodeId node, guint32 n_hosts)
{
  gint16 worker = drawing->fleet->layout->nodes[node.index].worker_id;
  guint32 *place;

  if (worker < 0 || (guint32) worker >= n_hosts)
    return;
  place = &drawing->host_of[worker];
  if (*place == 0
      || (quoit_fleet_node_state (drawing->fleet, (QuoitNodeId) { *place - 1 }) == QUOIT_NODE_DEAD
          && quoit_fleet_node_state (drawing->fleet, node) != QUOIT_NODE_DEAD))
    *place = node.index + 1;
}

static void
add_slice (Drawing *drawing, guint32 parent, QuoitSliceId slice)
{
  const QuoitLayout *layout = drawing->fleet->layout;
  const QuoitSlice *row = &layout->slices[slice.index];
  const QuoitClass *of = quoit_layout_slice_class (layout, slice);
  QuoitCoordinates torus;
  guint32 vertex = quoit_graph_add (drawing->graph, QUOIT_VERTEX_SLICE, parent, slice.index,
                                    quoit_layout_text (layout, row->name));

  drawing->slice_of[slice.index] = vertex;
  if (of != NULL)
    {
      g_autofree char *topology = quoit_shape_format (of->facts.shape);

      torus = quoit_coordinates_of (&of->facts, QUOIT_WIRING_STRAIGHT);
      quoit_graph_say (drawing->graph, "accelerator", quoit_generation_name (of->facts.generation));
      quoit_graph_say (drawing->graph, "topology", topology);
      memset (drawing->host_of, 0, of->facts.hosts * sizeof *drawing->host_of);
    }
  for (guint32 n = row->first_node; n < row->first_node + row->n_nodes; n++)
    {
      QuoitNodeId node = { n };
      gboolean has_place = of != NULL && layout->nodes[n].worker_id >= 0
                           && (guint32) layout->nodes[n].worker_id < of->facts.hosts
                           && quoit_layout_node_kind (layout, node)->chips == of->facts.chips_per_host;

      add_node (drawing, vertex, node, has_place ? &torus : NULL);
      if (has_place)
        take_place (drawing, node, of->facts.hosts);
    }
  if (of != NULL)
    link_chips (drawing, &torus);
}

static void
add_pool (Drawing *drawing, guint32 parent, guint32 p)
{
  const QuoitLayout *layout = drawing->fleet->layout;
  const QuoitPool *pool = &layout->pools[p];
  guint32 vertex
      = quoit_graph_add (drawing->graph, QUOIT_VERTEX_POOL, parent, p, quoit_layout_text (layout, pool->name));

  for (guint32 s = pool->first_slice; s < pool->first_slice + pool->n_slices; s++)
    add_slice (drawing, vertex, (QuoitSliceId) { s });
  for (guint32 n = pool->first_node; n < pool->first_node + pool->n_nodes; n++)
    if (layout->nodes[n].slice == QUOIT_NO_INDEX)
      add_node (drawing, vertex, (QuoitNodeId) { n }, NULL);
}

static void
add_sources (Drawing *drawing, guint32 fleet)
{
  const QuoitLayout *layout = drawing->fleet->layout;

  for (guint32 s = 0; s < layout->n_sources; s++)
    {
      const QuoitSource *source = &layout->sources[s];
      guint32 vertex
          = quoit_graph_add (drawing->graph, QUOIT_VERTEX_SOURCE, fleet, s, quoit_layout_text (layout, source->name));

      quoit_graph_say (drawing->graph, "kind", quoit_source_kind_name (source->kind));
      for (guint32 p = source->first_pool; p < source->first_pool + source->n_pools; p++)
        add_pool (drawing, vertex, p);
    }
}

/* --- groups --- */

static guint32
add_group (Drawing *drawing, const QuoitGroupData *group)
{
  g_autofree char *label = g_strdup_printf ("%s@%" G_GUINT64_FORMAT, group->name, group->id);
  guint32 vertex = quoit_graph_add (drawing->graph, QUOIT_VERTEX_GROUP, QUOIT_NO_PARENT, (gint64) group->id, label);

  quoit_graph_say (drawing->graph, "state", quoit_group_state_name (quoit_fleet_group_state (drawing->fleet, group)));
  quoit_graph_say (drawing->graph, "owner", group->owner);
  quoit_graph_say (drawing->graph, "source", group->source);
  return vertex;
}

/* The vertices of a group. */
typedef struct {
  guint32 vertex;
  GArray *slices; /* of guint32: vertices in the order of the layout, without duplicates */
} Held;

static void
held_free (gpointer data)
{
  g_array_unref (((Held *) data)->slices);
  g_free (data);
}

static void
note_slice (Held *held, guint32 vertex)
{
  if (held->slices->len == 0 || g_array_index (held->slices, guint32, held->slices->len - 1) != vertex)
    g_array_append_val (held->slices, vertex);
}

static gint
by_id (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = *(const QuoitGroupData *const *) a, *y = *(const QuoitGroupData *const *) b;

  return (x->id > y->id) - (x->id < y->id);
}

/* Returns all groups that have nodes, sorted by id, so that their numbering does not depend on their nodes. */
static GPtrArray *
holders_of (const QuoitFleet *fleet)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  GPtrArray *holders = g_ptr_array_new ();

  for (guint32 n = 0; n < fleet->layout->n_nodes; n++)
    {
      g_autoptr (GPtrArray) groups = quoit_fleet_node_groups (fleet, (QuoitNodeId) { n });

      for (guint i = 0; i < groups->len; i++)
        if (g_hash_table_add (seen, groups->pdata[i]))
          g_ptr_array_add (holders, groups->pdata[i]);
    }
  g_ptr_array_sort (holders, by_id);
  return holders;
}

/* Adds at most one edge between two slices, even if several groups have both. */
static void
join_pair (Drawing *drawing, guint32 from, guint32 to)
{
  guint64 *pair = g_new (guint64, 1);

  *pair = (guint64) from << 32 | to;
  if (g_hash_table_add (drawing->joined, pair))
    quoit_graph_join (drawing->graph, QUOIT_EDGE_DCN, from, to, NULL);
}

/* Links each pair of slices. For many slices, links only neighbours, because there would be too many edges. */
static void
join_slices (Drawing *drawing, const Held *held)
{
  const guint32 *slices = (const guint32 *) (void *) held->slices->data;
  guint n = held->slices->len, reach = n <= MOST_PAIRED ? n : 2;

  for (guint a = 0; a < n; a++)
    for (guint b = a + 1; b < MIN (n, a + reach); b++)
      join_pair (drawing, slices[a], slices[b]);
}

static void
add_groups (Drawing *drawing)
{
  const QuoitLayout *layout = drawing->fleet->layout;
  g_autoptr (GHashTable) held_by = g_hash_table_new_full (NULL, NULL, NULL, held_free);
  g_autoptr (GPtrArray) holders = holders_of (drawing->fleet);

  for (guint i = 0; i < holders->len; i++)
    {
      Held *held = g_new0 (Held, 1);

      held->vertex = add_group (drawing, holders->pdata[i]);
      held->slices = g_array_new (FALSE, FALSE, sizeof (guint32));
      g_hash_table_insert (held_by, holders->pdata[i], held);
    }
  for (guint32 n = 0; n < layout->n_nodes; n++)
    {
      QuoitNodeId node = { n };
      g_autoptr (GPtrArray) groups = quoit_fleet_node_groups (drawing->fleet, node);

      for (guint i = 0; i < groups->len; i++)
        {
          Held *held = g_hash_table_lookup (held_by, groups->pdata[i]);
          g_autofree char *share = quoit_fleet_node_share_text (drawing->fleet, node, groups->pdata[i]);

          quoit_graph_join (drawing->graph, QUOIT_EDGE_HOLDS, held->vertex, drawing->vertex_of[n], share);
          if (layout->nodes[n].slice != QUOIT_NO_INDEX)
            note_slice (held, drawing->slice_of[layout->nodes[n].slice]);
        }
    }
  for (guint i = 0; i < holders->len; i++)
    join_slices (drawing, g_hash_table_lookup (held_by, holders->pdata[i]));
}

/* --- public --- */

static QuoitGraph *
graph_of (const QuoitFleet *fleet)
{
  const QuoitLayout *layout = fleet->layout;
  g_autofree guint32 *vertex_of = g_new0 (guint32, layout->n_nodes + 1);
  g_autofree guint32 *slice_of = g_new0 (guint32, layout->n_slices + 1);
  g_autofree guint32 *host_of = NULL;
  guint32 most_hosts = 1;
  g_autoptr (GHashTable) joined = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  Drawing drawing = { fleet, quoit_graph_new (), joined, vertex_of, slice_of, NULL };

  for (guint32 c = 0; c < layout->n_classes; c++)
    most_hosts = MAX (most_hosts, layout->classes[c].facts.hosts);
  drawing.host_of = host_of = g_new0 (guint32, most_hosts);
  add_sources (&drawing, quoit_graph_add (drawing.graph, QUOIT_VERTEX_FLEET, QUOIT_NO_PARENT, 0, "fleet"));
  add_groups (&drawing);
  return drawing.graph;
}

char *
quoit_snapshot_dup_graph (const QuoitSnapshot *snapshot, QuoitGraphForm form, GError **error)
{
  g_autoptr (QuoitGraph) graph = NULL;

  g_return_val_if_fail (snapshot != NULL, NULL);

  if (form != QUOIT_GRAPH_FORM_DOT && form != QUOIT_GRAPH_FORM_JGF)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "graph form '%d': expected one that this version knows",
                            (int) form);
  graph = graph_of (snapshot->fleet);
  return form == QUOIT_GRAPH_FORM_DOT ? quoit_write_dot (graph) : quoit_write_jgf (graph);
}
