/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"

#include <string.h>

#include "fleet-view.h"
#include "text.h"
#include "words.h"

static const Column group_columns[] = {
  { "group", "GROUP", CELL_TEXT },
  { "name", NULL, CELL_TEXT },
  { "id", NULL, CELL_NUMBER },
  { "state", "STATE", CELL_TEXT },
  { "ray_state", NULL, CELL_TEXT },
  { NULL, "RAY", RANKED (2, CELL_TEXT) },
  { "owner", "OWNER", RANKED (2, CELL_TEXT) },
  { "n_slices", "SLICES", RANKED (1, CELL_NUMBER) },
  { "n_workers", "WORKERS", RANKED (4, CELL_NUMBER) },
  { "request", "REQUEST", CELL_TEXT },
  { "alternative", NULL, CELL_NUMBER },
  { "key", "KEY", RANKED (7, CELL_TEXT) },
  { "since", "SINCE", RANKED (5, CELL_TEXT) },
  { "begins", "BEGINS", RANKED (2, CELL_TEXT) },
  { "until", "UNTIL", RANKED (3, CELL_TEXT) },
  { "ended", "ENDED", RANKED (6, CELL_TEXT) },
  { "expired", NULL, CELL_FLAG },
  { "source", "SOURCE", RANKED (6, CELL_TEXT) },
  { "n_bundles", NULL, CELL_NUMBER },
  { "expected_end", NULL, CELL_TEXT },
  { "priority", NULL, CELL_NUMBER },
  { NULL, NULL, CELL_TEXT },
  { "labels", NULL, CELL_MAP },
  { NULL, "LABELS", RANKED (4, CELL_TEXT) },
  { "release_reason", "REASON", RANKED (4, CELL_TEXT) },
};

static const Column fact_columns[] = {
  { "group", "group", CELL_TEXT },
  { "name", NULL, CELL_TEXT },
  { "id", NULL, CELL_NUMBER },
  { "state", "state", CELL_TEXT },
  { "ray_state", NULL, CELL_TEXT },
  { NULL, "in Ray", CELL_TEXT },
  { "owner", "owner", CELL_TEXT },
  { "n_slices", "slices", CELL_NUMBER },
  { "n_workers", "workers", CELL_NUMBER },
  { "request", "request", CELL_TEXT },
  { "alternative", NULL, CELL_NUMBER },
  { "key", "key", CELL_TEXT },
  { "since", "since", CELL_TEXT },
  { "begins", "begins", CELL_TEXT },
  { "until", "until", CELL_TEXT },
  { "ended", "ended", CELL_TEXT },
  { "expired", NULL, CELL_FLAG },
  { "source", "made by source", CELL_TEXT },
  { "n_bundles", NULL, CELL_NUMBER },
  { "expected_end", "expected end", CELL_TEXT },
  { "priority", NULL, CELL_NUMBER },
  { NULL, "priority", CELL_TEXT },
  { "labels", NULL, CELL_MAP },
  { NULL, "labels", CELL_TEXT },
  { "release_reason", "reason", CELL_TEXT },
};
G_STATIC_ASSERT (G_N_ELEMENTS (fact_columns) == G_N_ELEMENTS (group_columns));

guint64
group_count_workers (const QuoitGroup *group)
{
  guint64 n = 0;

  for (uint32_t slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    n += quoit_group_get_n_workers (group, slice);
  return n;
}

/* The library returns "" for text that was not given. */
static void
add_optional_text (Table *table, const char *text)
{
  table_add_text (table, text[0] == '\0' ? NULL : text);
}

/* People read a priority only if it was set. */
static char *
format_priority (const QuoitGroup *group)
{
  int32_t priority = quoit_group_get_priority (group);

  return priority == 0 ? NULL : g_strdup_printf ("%d", (int) priority);
}

static GPtrArray *
list_labels (const QuoitGroup *group)
{
  GPtrArray *pairs = g_ptr_array_new_with_free_func (g_free);

  for (uint32_t i = 0; i < quoit_group_get_n_labels (group); i++)
    {
      g_ptr_array_add (pairs, g_strdup (quoit_group_get_label_key (group, i)));
      g_ptr_array_add (pairs, g_strdup (quoit_group_get_label_value (group, i)));
    }
  return pairs;
}

/* Returns "team=nlp, run=7", or NULL without labels. */
static char *
format_labels (const QuoitGroup *group)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_group_get_n_labels (group); i++)
    g_string_append_printf (text, "%s%s=%s", i == 0 ? "" : ", ", quoit_group_get_label_key (group, i),
                            quoit_group_get_label_value (group, i));
  return g_string_free (text, text->len == 0);
}

void
groups_add (Table *groups, const QuoitGroup *group)
{
  table_add_text (groups, quoit_group_get_handle (group));
  table_add_text (groups, quoit_group_get_name (group));
  table_add_number (groups, (gint64) quoit_group_get_id (group));
  table_add_text (groups, group_state_word (quoit_group_get_state (group)));
  table_add_text (groups, ray_group_state_word (quoit_group_get_state (group)));
  table_add_text (
      groups, quoit_group_get_source (group)[0] == '\0' ? NULL : ray_group_state_word (quoit_group_get_state (group)));
  add_optional_text (groups, quoit_group_get_owner (group));
  table_add_number (groups, quoit_group_get_n_slices (group));
  table_add_number (groups, (gint64) group_count_workers (group));
  table_add_text (groups, quoit_group_get_request (group));
  table_add_number (groups, quoit_group_get_alternative (group));
  add_optional_text (groups, quoit_group_get_key (group));
  table_take_text (groups, text_format_time (quoit_group_get_created_ms (group)));
  table_take_text (groups, text_format_time (quoit_group_get_begins_ms (group)));
  table_take_text (groups, text_format_time (quoit_group_get_until_ms (group)));
  table_take_text (groups, text_format_time (quoit_group_get_ended_ms (group)));
  table_add_flag (groups, quoit_group_has_expired (group));
  add_optional_text (groups, quoit_group_get_source (group));
  table_add_number (groups, quoit_group_get_n_bundles (group));
  table_take_text (groups, text_format_time (quoit_group_get_expected_end_ms (group)));
  table_add_number (groups, quoit_group_get_priority (group));
  table_take_text (groups, format_priority (group));
  table_take_list (groups, list_labels (group));
  table_take_text (groups, format_labels (group));
  add_optional_text (groups, quoit_group_get_release_reason (group));
}

Table *
groups_table (void)
{
  return table_new (group_columns, G_N_ELEMENTS (group_columns));
}

Table *
group_facts (const QuoitGroup *group)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  groups_add (facts, group);
  return facts;
}

static const Column worker_columns[] = {
  { "slice_id", "SLICE ID", CELL_NUMBER },
  { "slice", NULL, CELL_TEXT },
  { NULL, "SLICE", RANKED (3, CELL_TEXT) },
  { "worker_id", "WORKER", CELL_NUMBER },
  { "node", NULL, CELL_TEXT },
  { NULL, "NODE", CELL_TEXT },
  { "full_name", NULL, CELL_TEXT },
  { "address", "ADDRESS", RANKED (2, CELL_TEXT) },
  { "slice_state", "SLICE IS", CELL_TEXT },
  { "part", NULL, CELL_TEXT },
  { "cube", NULL, CELL_TEXT },
};

/* The node of a removed group may not exist any more. The group still has its names. */
static void
add_node (Table *workers, const QuoitSnapshot *snapshot, const QuoitGroup *group, uint32_t slice, uint32_t worker)
{
  int64_t node = quoit_snapshot_find_node (snapshot, quoit_group_get_worker_node_id (group, slice, worker));
  const char *name = quoit_group_get_worker_name (group, slice, worker);

  table_add_text (workers, name);
  table_take_text (workers, node < 0 ? g_strdup (name) : node_display_name (snapshot, (uint32_t) node));
  table_take_text (workers, quoit_group_dup_worker_full_name (group, slice, worker));
}

/* Whether the slice of the node has three dimensions. */
static bool
has_depth (const QuoitSnapshot *snapshot, uint32_t node_id)
{
  int64_t node = quoit_snapshot_find_node (snapshot, node_id), slice, class;
  g_autofree char *topology = NULL;

  slice = node < 0 ? -1 : quoit_snapshot_get_node_slice (snapshot, (uint32_t) node);
  class = slice < 0 ? -1 : quoit_snapshot_get_slice_class (snapshot, (uint32_t) slice);
  topology = class < 0 ? NULL : quoit_snapshot_dup_class_topology (snapshot, (uint32_t) class);
  return topology != NULL && strchr (topology, 'x') != strrchr (topology, 'x');
}

/* Returns where a part is in its slice, "4x8 at 0,4"; NULL for a whole slice. g_free() it. */
static char *
describe_part (const QuoitSnapshot *snapshot, const QuoitGroup *group, uint32_t slice)
{
  uint32_t origin[3], shape[3];

  if (!quoit_group_find_part (group, slice, origin, shape))
    return NULL;
  if (!has_depth (snapshot, quoit_group_get_worker_node_id (group, slice, 0)))
    return g_strdup_printf ("%ux%u at %u,%u", shape[0], shape[1], origin[0], origin[1]);
  return g_strdup_printf ("%ux%ux%u at %u,%u,%u", shape[0], shape[1], shape[2], origin[0], origin[1], origin[2]);
}

/* Returns the shape of a slice that is joined from cubes, "4x8x8"; NULL for another slice. g_free() it. */
static char *
describe_joined (const QuoitGroup *group, uint32_t slice)
{
  uint32_t shape[3];

  return quoit_group_find_joined (group, slice, shape) ? g_strdup_printf ("%ux%ux%u", shape[0], shape[1], shape[2])
                                                       : NULL;
}

char *
group_slice_problem (const QuoitGroup *group, uint32_t slice)
{
  const QuoitGroupSliceState state = quoit_group_get_slice_state (group, slice);
  g_autofree char *name = quoit_group_dup_slice_name (group, slice);

  if (state == QUOIT_GROUP_SLICE_WHOLE)
    return NULL;
  return g_strdup_printf ("slice id %u, %s, is %s: repair %s, or resize it", slice, name,
                          state == QUOIT_GROUP_SLICE_LOST ? "lost: a host of it is dead"
                                                          : "leaving: a host of it is draining",
                          quoit_group_get_handle (group));
}

/* A group of bundles has no slices. A reservation ahead gets other slices with the next change, if there are some. */
static char *
find_problem (const QuoitGroup *group)
{
  g_autoptr (GString) text = g_string_new (NULL);
  guint n = 0;

  if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
    return NULL;
  for (uint32_t i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *problem = group_slice_problem (group, i);

      n += problem != NULL;
      if (n == 1 && problem != NULL)
        g_string_append (text, problem);
    }
  if (n > 1)
    g_string_append_printf (text, "; %u more %s lost or leaving", n - 1, n == 2 ? "slice is" : "slices are");
  if (n == 0 && quoit_group_get_state (group) == QUOIT_GROUP_RESCHEDULING)
    g_string_append_printf (text, "bundles of it are on dead or draining nodes: see 'quoit explain %s'",
                            quoit_group_get_handle (group));
  if (quoit_group_get_state (group) == QUOIT_GROUP_PENDING)
    g_string_append_printf (text, "its source has not placed it: see 'quoit explain %s'",
                            quoit_group_get_handle (group));
  return text->len == 0 ? NULL : g_strconcat (quoit_group_get_handle (group), ": ", text->str, NULL);
}

char *
group_problem (const QuoitSnapshot *snapshot, const char *handle)
{
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, handle, NULL);

  return group == NULL ? NULL : find_problem (group);
}

void
groups_take_problems (Document *document, const QuoitSnapshot *snapshot, const GPtrArray *handles)
{
  for (guint i = 0; i < handles->len; i++)
    {
      char *problem = group_problem (snapshot, handles->pdata[i]);

      if (problem != NULL)
        document_take_sentence (document, problem);
    }
}

Table *
group_workers (const QuoitSnapshot *snapshot, const QuoitGroup *group)
{
  Table *workers = table_new (worker_columns, G_N_ELEMENTS (worker_columns));

  for (uint32_t slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, slice);
      g_autofree char *part = describe_part (snapshot, group, slice);
      g_autofree char *joined = describe_joined (group, slice);

      for (uint32_t worker = 0; worker < quoit_group_get_n_workers (group, slice); worker++)
        {
          g_autofree char *cube = joined == NULL ? NULL : quoit_group_dup_worker_slice (group, slice, worker);

          table_add_number (workers, slice);
          table_add_text (workers, name);
          if (part == NULL && joined == NULL)
            table_add_text (workers, name);
          else
            table_take_text (workers, part != NULL ? g_strdup_printf ("%s: %s", name, part)
                                                   : g_strdup_printf ("%s: %s", joined, cube));
          table_add_number (workers, worker);
          add_node (workers, snapshot, group, slice, worker);
          table_add_text (workers, quoit_group_get_worker_address (group, slice, worker));
          table_add_text (workers, slice_state_word (quoit_group_get_slice_state (group, slice)));
          table_add_text (workers, part);
          table_add_text (workers, cube);
        }
    }
  return workers;
}

static const Column bundle_columns[] = {
  { "bundle", "BUNDLE", CELL_NUMBER },
  { "node", "NODE", CELL_TEXT },
  { "chips", NULL, CELL_LIST },
  { "has", "HAS", CELL_TEXT },
};

static GPtrArray *
bundle_chips (const QuoitGroup *group, uint32_t bundle)
{
  GPtrArray *chips = g_ptr_array_new_with_free_func (g_free);
  guint64 mask = quoit_group_get_bundle_chips (group, bundle);

  for (guint chip = 0; chip < 64; chip++)
    if ((mask >> chip & 1) != 0)
      g_ptr_array_add (chips, g_strdup_printf ("%u", chip));
  return chips;
}

/* "chips 0,1: CPU 1, TPU 2" */
static char *
format_contents (const QuoitGroup *group, uint32_t bundle, const GPtrArray *chips)
{
  GString *text = g_string_new (chips->len == 0 ? NULL : chips->len == 1 ? "chip " : "chips ");

  for (guint i = 0; i < chips->len; i++)
    g_string_append_printf (text, "%s%s", i == 0 ? "" : ",", (const char *) chips->pdata[i]);
  for (uint32_t i = 0; i < quoit_group_get_bundle_n_resources (group, bundle); i++)
    {
      g_autofree char *amount = quoit_amount_format (quoit_group_get_bundle_amount (group, bundle, i));

      g_string_append_printf (text, "%s%s %s",
                              i > 0            ? ", "
                              : chips->len > 0 ? ": "
                                               : "",
                              quoit_group_get_bundle_resource_name (group, bundle, i), amount);
    }
  return g_string_free (text, FALSE);
}

Table *
group_bundles (const QuoitGroup *group)
{
  Table *bundles = table_new (bundle_columns, G_N_ELEMENTS (bundle_columns));

  for (uint32_t i = 0; i < quoit_group_get_n_bundles (group); i++)
    {
      GPtrArray *chips = bundle_chips (group, i);
      const char *node = quoit_group_get_bundle_node (group, i);

      table_add_number (bundles, i);
      table_add_text (bundles, node);
      table_take_list (bundles, chips);
      table_take_text (bundles, node == NULL ? NULL : format_contents (group, i, chips));
    }
  return bundles;
}

void
describe_group (Document *document, const QuoitSnapshot *snapshot, const QuoitGroup *group)
{
  char *problem;

  document_take_object (document, "group", NULL, group_facts (group));
  document_take_table (document, "workers", "workers", group_workers (snapshot, group));
  if (quoit_group_get_n_bundles (group) > 0)
    document_take_csv_table (document, "bundles", "bundles", group_bundles (group));
  problem = find_problem (group);
  if (problem != NULL)
    document_take_sentence (document, problem);
}

bool
group_check_has_begun (const QuoitGroup *group, const char *what, GError **error)
{
  g_autofree char *begins = NULL;

  if (quoit_group_get_state (group) != QUOIT_GROUP_AHEAD)
    return true;
  begins = text_format_time (quoit_group_get_begins_ms (group));
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT,
               "group '%s' begins at %s: its slices can change until then, so it has no %s yet",
               quoit_group_get_handle (group), begins, what);
  return false;
}
