/* SPDX-License-Identifier: Apache-2.0 */
/* Suite "packing": optima that CP-SAT and HiGHS have proven. The recorded witness is another packing of the same value,
   so the row is answered with it only if it is a packing. What the solvers have proven must be what quoit's certificate
   proves. */
#include "runner.h"

#include <string.h>

#include "geometry/packing.h"

enum { MAX_DEMANDS = 8, STEPS = 400000000 };

typedef struct {
  QuoitGrid grid;
  QuoitHostSet free;
  QuoitOffsets offsets;
  guint n_dims;
  QuoitShape host_block;
  gboolean is_turned; /* shapes may be turned */
  gboolean is_whole;  /* all parts are needed */
  guint n_demands;
  QuoitTurn turns[MAX_DEMANDS][QUOIT_MAX_TURNS];
  QuoitPackingDemand demands[MAX_DEMANDS];
  guint32 n_hosts[MAX_DEMANDS]; /* of one part */
} Problem;

static QuoitShape
read_shape (JsonArray *sides)
{
  QuoitShape shape = { { 1, 1, 1 }, (guint16) json_array_get_length (sides) };

  for (guint axis = 0; axis < shape.n_dims; axis++)
    shape.dims[axis] = (guint16) json_array_get_int_element (sides, axis);
  return shape;
}

static guint32
read_host (const QuoitGrid *grid, JsonArray *at)
{
  guint32 position[QUOIT_N_AXES] = { 0 };

  for (guint axis = 0; axis < json_array_get_length (at); axis++)
    position[axis] = (guint32) json_array_get_int_element (at, axis);
  return (position[2] * grid->n[1] + position[1]) * grid->n[0] + position[0];
}

static void
add_demand (Problem *problem, JsonArray *sides, gint64 most, gboolean counts_hosts)
{
  const guint d = problem->n_demands++;
  const QuoitShape shape = read_shape (sides);
  guint n_turns = quoit_shape_list_turns (shape, problem->host_block, problem->turns[d]);

  problem->n_hosts[d] = quoit_shape_chips (shape) / quoit_shape_chips (problem->host_block);
  problem->demands[d] = (QuoitPackingDemand) { problem->turns[d], problem->is_turned ? n_turns : MIN (n_turns, 1),
                                               counts_hosts ? problem->n_hosts[d] : 1, (guint32) most };
}

static gboolean
read_problem (JsonNode *in, Problem *problem, GError **error)
{
  static const char *const members[]
      = { "family", "chip_dims", "host_block", "cells", "wrap", "dead", "orientations", "offsets", "query", NULL };
  JsonObject *object = vector_object (in, members, error), *query;
  JsonArray *wrap, *dead;
  unsigned wraps = 0;

  if (object == NULL)
    return FALSE;
  *problem = (Problem) { .n_dims = json_array_get_length (json_object_get_array_member (object, "cells")) };
  wrap = json_object_get_array_member (object, "wrap");
  for (guint axis = 0; axis < json_array_get_length (wrap); axis++)
    wraps |= (unsigned) json_array_get_boolean_element (wrap, axis) << axis;
  if (!quoit_grid_init (&problem->grid, read_shape (json_object_get_array_member (object, "cells")), wraps))
    return vector_skip (error, "a grid that is larger than any slice");
  quoit_host_set_fill (&problem->grid, &problem->free);
  dead = json_object_get_array_member (object, "dead");
  for (guint i = 0; i < json_array_get_length (dead); i++)
    quoit_host_set_remove_box (&problem->grid, &problem->free, (QuoitShape) { { 1, 1, 1 }, 3 },
                               read_host (&problem->grid, json_array_get_array_element (dead, i)));
  problem->host_block = read_shape (json_object_get_array_member (object, "host_block"));
  problem->is_turned = strcmp (json_object_get_string_member (object, "orientations"), "all") == 0;
  problem->offsets = strcmp (json_object_get_string_member (object, "offsets"), "any") == 0 ? QUOIT_OFFSETS_ANY
                                                                                            : QUOIT_OFFSETS_ALIGNED;
  query = json_object_get_object_member (object, "query");
  problem->is_whole = strcmp (json_object_get_string_member (query, "kind"), "feasible") == 0;
  if (json_object_has_member (query, "shape"))
    add_demand (problem, json_object_get_array_member (query, "shape"), 0, FALSE);
  for (guint i = 0; json_object_has_member (query, "shapes")
                    && i < json_array_get_length (json_object_get_array_member (query, "shapes"));
       i++)
    add_demand (problem, json_array_get_array_element (json_object_get_array_member (query, "shapes"), i), 0, TRUE);
  for (guint i = 0; json_object_has_member (query, "demand")
                    && i < json_array_get_length (json_object_get_array_member (query, "demand"));
       i++)
    {
      JsonObject *demand = json_array_get_object_element (json_object_get_array_member (query, "demand"), i);

      add_demand (problem, json_object_get_array_member (demand, "shape"), json_object_get_int_member (demand, "count"),
                  TRUE);
    }
  return TRUE;
}

/* Returns the value of the recorded packing; 0 if it is none. */
static guint64
witness_value (const Problem *problem, JsonArray *witness)
{
  QuoitHostSet left = problem->free;
  guint64 value = 0;

  for (guint i = 0; i < json_array_get_length (witness); i++)
    {
      JsonObject *part = json_array_get_object_element (witness, i);
      const QuoitShape box = read_shape (json_object_get_array_member (part, "box"));
      const guint32 origin = read_host (&problem->grid, json_object_get_array_member (part, "origin"));
      QuoitHostSet places;

      if (!quoit_places_find (&problem->grid, &left, box, &places)
          || !quoit_host_set_has (&problem->grid, &places, origin))
        return 0;
      quoit_host_set_remove_box (&problem->grid, &left, box, origin);
      value += problem->demands[json_object_get_int_member (part, "shape")].value;
    }
  return value;
}

static guint32
count_places (const Problem *problem)
{
  guint32 n = 0;

  for (guint d = 0; d < problem->n_demands; d++)
    for (guint turn = 0; turn < problem->demands[d].n_turns; turn++)
      {
        const QuoitShape hosts = problem->demands[d].turns[turn].hosts;
        QuoitHostSet places;

        if (!quoit_places_find (&problem->grid, &problem->free, hosts, &places))
          continue;
        for (guint32 host = 0; host < quoit_grid_n_hosts (&problem->grid); host++)
          {
            const guint32 row = host / problem->grid.n[0];

            n += quoit_host_set_has (&problem->grid, &places, host)
                 && (problem->offsets == QUOIT_OFFSETS_ANY
                     || (host % problem->grid.n[0] % hosts.dims[0] == 0 && row % problem->grid.n[1] % hosts.dims[1] == 0
                         && row / problem->grid.n[1] % hosts.dims[2] == 0));
          }
      }
  return n;
}

/* Returns the greatest value of all demands together; 0 if one of them is not limited. */
static guint64
whole_value (const Problem *problem)
{
  guint64 value = 0;

  for (guint d = 0; d < problem->n_demands; d++)
    {
      if (problem->demands[d].most == 0)
        return 0;
      value += (guint64) problem->demands[d].value * problem->demands[d].most;
    }
  return value;
}

/* What the result proves, in the words of the solvers; "unknown" if it proves nothing. */
static const char *
proven_status (const Problem *problem, const QuoitPackingResult *result)
{
  const guint64 whole = whole_value (problem);

  if (!quoit_packing_check (&problem->grid, &problem->free, problem->demands, problem->n_demands, problem->offsets,
                            result))
    return "unknown";
  if (problem->is_whole && result->most < whole)
    return "infeasible";
  return result->least == result->most ? "optimal" : "unknown";
}

/* Returns what each of the recorded solvers would print if it had proven what quoit has: "CP-SAT OPTIMAL". */
static JsonArray *
proofs (JsonArray *recorded, const char *status)
{
  JsonArray *proofs = json_array_new ();

  for (guint i = 0; i < json_array_get_length (recorded); i++)
    {
      g_auto (GStrv) words = g_strsplit (json_array_get_string_element (recorded, i), " ", 2);
      g_autofree char *own
          = words[1] != NULL && g_ascii_isupper (*words[1]) ? g_ascii_strup (status, -1) : g_strdup (status);
      g_autofree char *text = g_strconcat (words[0], " ", own, NULL);

      json_array_add_string_element (proofs, text);
    }
  return proofs;
}

static JsonNode *
answer (JsonNode *in, GError **error)
{
  JsonNode *recorded = vector_recorded (in);
  JsonObject *out = json_node_get_object (recorded), *object;
  QuoitPackingResult result;
  JsonNode *node;
  JsonArray *witness;
  Problem problem;
  const char *status;
  guint64 whole, shown;

  if (!read_problem (in, &problem, error))
    return NULL;
  whole = whole_value (&problem);
  quoit_packing_solve (&problem.grid, &problem.free, problem.demands, problem.n_demands, problem.offsets, STEPS,
                       &result);
  status = proven_status (&problem, &result);
  object = json_object_new ();
  json_object_set_boolean_member (object, "proven", strcmp (status, "unknown") != 0);
  json_object_set_int_member (object, "optimum", (gint64) result.least);
  json_object_set_int_member (object, "placements", count_places (&problem));
  json_object_set_int_member (object, "volume_bound",
                              quoit_host_set_count (&problem.grid, &problem.free) / problem.n_hosts[0]);
  witness = json_object_get_array_member (out, "witness");
  shown = witness_value (&problem, witness);
  if (whole == 0 ? shown == result.least : (shown == whole) == (result.least == whole))
    json_object_set_array_member (object, "witness", json_array_ref (witness));
  if (json_object_has_member (out, "proof"))
    json_object_set_array_member (object, "proof", proofs (json_object_get_array_member (out, "proof"), status));
  vector_keep_recorded (in, object);
  node = json_node_init_object (json_node_alloc (), object);
  json_object_unref (object);
  quoit_packing_result_clear (&result);
  return node;
}

static const VectorOp ops[] = { { "max_count", answer, VECTOR_ANY_ORDER },
                                { "max_cells", answer, VECTOR_ANY_ORDER },
                                { "feasible", answer, VECTOR_ANY_ORDER },
                                { NULL, NULL, VECTOR_ANY_ORDER } };
static const VectorOp *const tables[] = { ops, NULL };
const VectorSuite vector_suite_packing = { "packing", tables };
