/* SPDX-License-Identifier: Apache-2.0 */
/* The request of a group that exists, for the present fleet. */
#include "placement/placement.h"

static gboolean
has_slice (const QuoitLayout *layout, const char *name, GError **error)
{
  QuoitSliceId slice;

  return quoit_layout_lookup_slice (layout, name, &slice, error);
}

static gboolean
has_node (const QuoitLayout *layout, const char *name, GError **error)
{
  QuoitNodeId node;

  return quoit_layout_lookup_node (layout, name, &node, error);
}

/* Removes names of slices or nodes that no longer exist from @names. Keeps at least @least names: an empty list of
 * requested slices means any slice, so that one name must stay. */
static void
drop_missing_names (const QuoitLayout *layout, GPtrArray *names, guint least,
                    gboolean (*is_known) (const QuoitLayout *, const char *, GError **))
{
  for (guint i = names->len; i-- > 0 && names->len > least;)
    {
      g_autoptr (GError) why = NULL;

      /* Ambiguous names stay, so that the request fails later with a message. */
      if (!is_known (layout, names->pdata[i], &why) && g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
        g_ptr_array_remove_index (names, i);
    }
}

QuoitRequest *
quoit_request_of_group (const QuoitLayout *layout, const QuoitGroupData *group, GError **error)
{
  QuoitRequest *request = quoit_request_parse_canonical (group->request, error);
  QuoitNodeId node;

  if (request == NULL)
    return NULL;
  drop_missing_names (layout, request->excluded, 0, has_slice);
  drop_missing_names (layout, request->excluded_nodes, 0, has_node);
  drop_missing_names (layout, request->slices, 1, has_slice);
  if (request->soft_target != NULL && !quoit_layout_lookup_node (layout, request->soft_target, &node, NULL))
    g_clear_pointer (&request->soft_target, g_free);
  return request;
}
