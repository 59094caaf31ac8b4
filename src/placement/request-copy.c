/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/request.h"

static gpointer
copy_selector (gconstpointer selector, gpointer unused)
{
  (void) unused;
  return quoit_selector_parse_unchecked (quoit_selector_key (selector), quoit_selector_value (selector));
}

static void
add_copies (GPtrArray *copies, GPtrArray *array, GCopyFunc copy)
{
  for (guint i = 0; i < array->len; i++)
    g_ptr_array_add (copies, copy (array->pdata[i], NULL));
}

static GArray *
copy_takes (QuoitRequest *copy, const GArray *takes)
{
  GArray *copies = g_array_sized_new (FALSE, FALSE, sizeof (QuoitTake), takes->len);

  g_array_append_vals (copies, takes->data, takes->len);
  for (guint i = 0; i < copies->len; i++)
    {
      QuoitTake *take = &g_array_index (copies, QuoitTake, i);

      take->resource = g_string_chunk_insert_const (copy->texts, take->resource);
    }
  return copies;
}

static void
copy_bundles (QuoitRequest *copy, const QuoitRequest *request)
{
  const GArray *before = NULL;

  for (guint i = 0; i < request->resources->len; i++)
    g_ptr_array_add (copy->resources, g_string_chunk_insert_const (copy->texts, request->resources->pdata[i]));
  for (guint i = 0; i < request->bundles->len; i++)
    {
      const QuoitBundleSpec *from = quoit_request_bundle (request, i);
      QuoitBundleSpec spec = { NULL, NULL };

      /* Bundles that were added together share their takes, so that ten thousand bundles need one array. */
      spec.takes = from->takes == before ? g_array_ref (quoit_request_bundle (copy, i - 1)->takes)
                                         : copy_takes (copy, from->takes);
      before = from->takes;
      if (from->selectors != NULL)
        {
          spec.selectors = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_selector_free);
          add_copies (spec.selectors, from->selectors, copy_selector);
        }
      g_array_append_val (copy->bundles, spec);
    }
}

QuoitRequest *
quoit_request_dup (const QuoitRequest *request, const char *name)
{
  QuoitRequest *copy = quoit_request_alloc (), empty = *copy;

  *copy = *request;
  copy->name = g_strdup (name);
  copy->key = g_strdup (request->key);
  copy->owner = g_strdup (request->owner);
  copy->pool = g_strdup (request->pool);
  copy->zone = g_strdup (request->zone);
  if (request->labels != NULL)
    copy->labels = quoit_labels_new ((const QuoitLabel *) (const void *) request->labels->data, request->labels->len);
  copy->topology_label = g_strdup (request->topology_label);
  copy->soft_target = g_strdup (request->soft_target);
  copy->near = g_strdup (request->near);
  copy->members = NULL;
  copy->selectors = empty.selectors;
  copy->slices = empty.slices;
  copy->excluded = empty.excluded;
  copy->excluded_nodes = empty.excluded_nodes;
  copy->recent = NULL;
  copy->bundles = empty.bundles;
  copy->texts = empty.texts;
  copy->resources = empty.resources;
  add_copies (copy->selectors, request->selectors, copy_selector);
  for (guint i = 0; i < request->slices->len; i++)
    quoit_request_add_slice_name (copy, copy->slices, request->slices->pdata[i]);
  for (guint i = 0; i < request->excluded->len; i++)
    quoit_request_add_slice_name (copy, copy->excluded, request->excluded->pdata[i]);
  for (guint i = 0; i < request->excluded_nodes->len; i++)
    quoit_request_add_slice_name (copy, copy->excluded_nodes, request->excluded_nodes->pdata[i]);
  copy_bundles (copy, request);
  copy->alternatives = NULL;
  if (request->alternatives != NULL)
    {
      copy->alternatives = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_request_free);
      for (guint i = 0; i < request->alternatives->len; i++)
        g_ptr_array_add (copy->alternatives, quoit_request_dup (request->alternatives->pdata[i], name));
      quoit_request_share_parts (copy);
    }
  return copy;
}
