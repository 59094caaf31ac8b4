/* SPDX-License-Identifier: Apache-2.0 */
/* Finds nodes that a decision cannot distinguish: any decision for one of them is also possible for the other. */
#include "placement/ray/private.h"

#include <string.h>

#include "base/strings.h"

typedef struct {
  const QuoitBundles *bundles;
  const QuoitView *view;
} Scene;

typedef struct {
  const Scene *scene;
  guint32 node;
} Member;

static const gint64 *
row_of (const Member *member)
{
  return member->scene->view->available + (gsize) member->node * member->scene->bundles->n_resources;
}

static gboolean
passes (const Member *member, guint32 filter)
{
  const QuoitView *view = member->scene->view;

  return quoit_ray_bit (view->passes + (gsize) filter * quoit_view_words (view), member->node);
}

static guint32
n_filters (const Scene *scene)
{
  return scene->bundles->filter == NULL ? 0 : scene->bundles->n_filters;
}

static guint
member_hash (gconstpointer key)
{
  const Member *member = key;
  guint64 hash
      = quoit_hash_bytes ((const char *) row_of (member), member->scene->bundles->n_resources * sizeof (gint64));

  for (guint32 f = 0; f < n_filters (member->scene); f++)
    hash = (hash << 7 | hash >> 57) * 31 + passes (member, f);
  return (guint) (hash ^ hash >> 32);
}

static gboolean
member_equal (gconstpointer a, gconstpointer b)
{
  const Member *x = a, *y = b;
  gsize size = x->scene->bundles->n_resources * sizeof (gint64);

  if (size > 0 && memcmp (row_of (x), row_of (y), size) != 0)
    return FALSE;
  for (guint32 f = 0; f < n_filters (x->scene); f++)
    if (passes (x, f) != passes (y, f))
      return FALSE;
  return TRUE;
}

guint32 *
quoit_ray_alike (const QuoitBundles *bundles, const QuoitView *view)
{
  Scene scene = { bundles, view };
  g_autofree Member *members = g_new (Member, view->n_nodes);
  g_autoptr (GHashTable) known = g_hash_table_new (member_hash, member_equal);
  guint32 *alike = g_new (guint32, view->n_nodes);

  for (guint32 n = 0; n < view->n_nodes; n++)
    {
      const Member *first;

      members[n] = (Member) { &scene, n };
      first = g_hash_table_lookup (known, &members[n]);
      if (first == NULL)
        g_hash_table_add (known, &members[n]);
      alike[n] = first == NULL ? n : first->node;
    }
  return alike;
}
