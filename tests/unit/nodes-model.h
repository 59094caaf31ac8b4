/* SPDX-License-Identifier: Apache-2.0 */
/* Random nodes of a small Ray cluster, written both as the JSON of `ray list nodes` and as added nodes. */
#pragma once

#include "store-fixture.h"
#include "formats/added-nodes.h"

enum { MODEL_SLICES = 6, MODEL_HOSTS = 4, MODEL_OTHERS = 5, MODEL_PLACES = MODEL_SLICES * MODEL_HOSTS + MODEL_OTHERS };

/* A node in one place: a host of a slice, or one of the other nodes. */
typedef struct {
  gboolean is_there;
  guint number; /* of the machine; another number is another id */
  guint pool, cpu, zone;
  gboolean has_address, is_renamed, is_bare; /* bare: without resources, as Ray lists dead nodes */
  QuoitNodeState state;
} ModelNode;

typedef struct {
  GRand *rand;
  guint n_machines;
  gboolean has_labels; /* FALSE: as in Ray before its TPU labels */
  ModelNode nodes[MODEL_PLACES];
} Model;

static inline guint
model_below (Model *model, guint n)
{
  return (guint) g_rand_int_range (model->rand, 0, (gint) n);
}

static inline gboolean
model_is_host (guint place)
{
  return place < MODEL_SLICES * MODEL_HOSTS;
}

static inline void
model_replace (Model *model, guint place)
{
  ModelNode *node = &model->nodes[place];

  *node = (ModelNode) { .is_there = TRUE, .number = ++model->n_machines, .pool = place / (MODEL_HOSTS * 3), .cpu = 8 };
  node->has_address = model_below (model, 4) > 0;
}

/* Changes one fact of a node, or adds, removes or replaces it. */
static inline void
model_change (Model *model, guint place)
{
  ModelNode *node = &model->nodes[place];

  if (!node->is_there)
    return model_replace (model, place);
  switch (model_below (model, 10))
    {
    case 0:
    case 1:
      node->is_there = FALSE;
      break;
    case 2:
      model_replace (model, place);
      break;
    case 3:
      node->has_address = !node->has_address;
      break;
    case 4:
      node->is_renamed = !node->is_renamed;
      break;
    case 5:
      node->zone = model_below (model, 3);
      break;
    case 6:
      node->cpu = model_below (model, 3) * 4;
      break;
    case 7:
      if (!model_is_host (place))
        node->pool = model_below (model, 4);
      break;
    default:
      node->state = (QuoitNodeState) model_below (model, 3);
      node->is_bare = model->has_labels && node->state == QUOIT_NODE_DEAD && model_below (model, 2) == 0;
    }
}

static inline Model
model_new (guint32 seed)
{
  Model model = { .rand = g_rand_new_with_seed (seed), .has_labels = TRUE };

  for (guint place = 0; place < MODEL_PLACES; place++)
    if (model_below (&model, 5) > 0)
      model_replace (&model, place);
  return model;
}

static inline void
model_clear (Model *model)
{
  g_rand_free (model->rand);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Model, model_clear)

/* --- the facts of a node. They refer to their own texts. --- */

typedef struct {
  char id[64], name[32], address[32], slice[16], worker[8], pool[16], zone[16];
  const char *labels[16][2];
  guint n_labels, n_resources;
  struct {
    const char *name;
    guint units;
  } resources[8];
} ModelFacts;

static inline void
model_add_label (ModelFacts *facts, const char *key, const char *value)
{
  facts->labels[facts->n_labels][0] = key;
  facts->labels[facts->n_labels++][1] = value;
}

static inline void
model_add_resource (ModelFacts *facts, const char *name, guint units)
{
  facts->resources[facts->n_resources].name = name;
  facts->resources[facts->n_resources++].units = units;
}

static inline void
model_set_slice (const Model *model, guint place, ModelFacts *facts)
{
  guint worker = place % MODEL_HOSTS;
  const ModelNode *node = &model->nodes[place];

  g_snprintf (facts->slice, sizeof facts->slice, "slice-%u", place / MODEL_HOSTS);
  g_snprintf (facts->worker, sizeof facts->worker, "%u", worker);
  if (model->has_labels)
    {
      model_add_label (facts, "ray.io/tpu-slice-name", facts->slice);
      model_add_label (facts, "ray.io/tpu-worker-id", facts->worker);
      model_add_label (facts, "ray.io/tpu-topology", "4x4");
      model_add_label (facts, "ray.io/tpu-pod-type", "v6e-16");
      model_add_label (facts, "ray.io/accelerator-type", "TPU-V6E");
    }
  if (node->is_bare)
    return;
  model_add_resource (facts, "TPU", 4);
  model_add_resource (facts, facts->slice, 1);
  if (worker == 0)
    model_add_resource (facts, "TPU-v6e-16-head", 1);
}

static inline void
model_facts (const Model *model, guint place, ModelFacts *facts)
{
  const ModelNode *node = &model->nodes[place];

  *facts = (ModelFacts) { .n_labels = 0 };
  g_snprintf (facts->id, sizeof facts->id, "%056x", node->number);
  g_snprintf (facts->name, sizeof facts->name, node->is_renamed ? "renamed-%u" : "host-%u", place);
  if (node->has_address)
    g_snprintf (facts->address, sizeof facts->address, "10.0.%u.%u", node->number >> 8 & 255, node->number & 255);
  g_snprintf (facts->pool, sizeof facts->pool, "pool-%u", node->pool);
  g_snprintf (facts->zone, sizeof facts->zone, "zone-%u", node->zone);
  model_add_label (facts, "ray.io/node-group", facts->pool);
  if (node->zone > 0)
    model_add_label (facts, "ray.io/availability-zone", facts->zone);
  if (!node->is_bare && node->cpu > 0)
    model_add_resource (facts, "CPU", node->cpu);
  if (model_is_host (place))
    model_set_slice (model, place, facts);
}

/* --- both forms --- */

static const char *const model_states[] = { "ALIVE", "DRAINING", "DEAD" };

static inline void
model_append_json (GString *text, const ModelFacts *facts, QuoitNodeState state)
{
  g_string_append_printf (text,
                          "%s{\"node_id\": \"%s\", \"node_name\": \"%s\", \"node_ip\": \"%s\", \"state\": \"%s\", "
                          "\"resources_total\": {",
                          text->len == 0 ? "[" : ",\n", facts->id, facts->name, facts->address, model_states[state]);
  for (guint i = 0; i < facts->n_resources; i++)
    g_string_append_printf (text, "%s\"%s\": %u.0", i == 0 ? "" : ", ", facts->resources[i].name,
                            facts->resources[i].units);
  g_string_append (text, "}, \"labels\": {");
  for (guint i = 0; i < facts->n_labels; i++)
    g_string_append_printf (text, "%s\"%s\": \"%s\"", i == 0 ? "" : ", ", facts->labels[i][0], facts->labels[i][1]);
  g_string_append (text, "}}");
}

static inline void
model_add (QuoitAddedNodes *added, const ModelFacts *facts, QuoitNodeState state)
{
  ck_assert (quoit_added_nodes_add (added, facts->id, facts->name, facts->address, state, NULL));
  for (guint i = 0; i < facts->n_labels; i++)
    ck_assert (quoit_added_nodes_set_label (added, facts->labels[i][0], facts->labels[i][1], NULL));
  for (guint i = 0; i < facts->n_resources; i++)
    ck_assert (quoit_added_nodes_set_resource (added, facts->resources[i].name,
                                               quoit_amount_from_int (facts->resources[i].units), NULL));
}

static inline QuoitClaims *
model_read_json (const Model *model, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  QuoitRayFiles files = { .flags = QUOIT_RAY_COMPLETE };

  for (guint place = 0; place < MODEL_PLACES; place++)
    if (model->nodes[place].is_there)
      {
        ModelFacts facts;

        model_facts (model, place, &facts);
        model_append_json (text, &facts, model->nodes[place].state);
      }
  g_string_append (text, text->len == 0 ? "[]" : "]");
  files.nodes = text->str;
  files.n_nodes = text->len;
  return quoit_read_ray_files (&files, error);
}

static inline QuoitClaims *
model_read_added (const Model *model, GError **error)
{
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();

  for (guint place = 0; place < MODEL_PLACES; place++)
    if (model->nodes[place].is_there)
      {
        ModelFacts facts;

        model_facts (model, place, &facts);
        model_add (added, &facts, model->nodes[place].state);
      }
  return quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, error);
}
