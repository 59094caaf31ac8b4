/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the sizes of a mesh's axes as MaxText does, and suggests sizes if MaxText refuses them. */
#include <string.h>

#include "models/maxtext/mesh.h"

static const struct {
  const char *name, *of;
  QuoitMaxtextRule product_rule;
} links_of[] = {
  [QUOIT_LINK_ICI] = { "ICI", "the devices of a slice", QUOIT_MAXTEXT_RULE_ICI_PRODUCT },
  [QUOIT_LINK_DCN] = { "DCN", "the slices", QUOIT_MAXTEXT_RULE_DCN_PRODUCT },
};
G_STATIC_ASSERT (G_N_ELEMENTS (links_of) == QUOIT_N_MAXTEXT_LINKS);

/* --- suggestions --- */

static void
append_size (GString *text, QuoitMaxtextLink links, const char *axis_key, int64_t size)
{
  g_autofree char *key = quoit_maxtext_size_key (links, axis_key);

  g_string_append_printf (text, "%s=%" G_GINT64_FORMAT, key, (gint64) size);
}

/* Keeps only changes of axes that the job gives, and of the axis that is filled by default. */
static unsigned
changes_asked_for (const QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links, int64_t target,
                   QuoitSizeChange *changes)
{
  unsigned n = quoit_maxtext_changes (mesh->sizes[links], mesh->n, target, changes, mesh->n), n_kept = 0;

  for (unsigned i = 0; i < n; i++)
    {
      const char *key = mesh->names[changes[i].axis]->key;

      if (quoit_maxtext_size_unless_given (links, key) == -1 || quoit_maxtext_size_is_given (look, links, key))
        changes[n_kept++] = changes[i];
    }
  return n_kept;
}

/* Returns the axis that gets the remaining factor: the axis of size -1, or else the axis whose default is -1. */
static unsigned
axis_of_rest (const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links)
{
  unsigned rest = 0;

  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[links][i] == -1)
      return i;
    else if (quoit_maxtext_size_unless_given (links, mesh->names[i]->key) == -1)
      rest = i;
  return rest;
}

/* Two axes with the key "tensor" share one setting, so their sizes cannot be changed separately. */
static gboolean
has_tensor_twice (const QuoitMaxtextMesh *mesh)
{
  unsigned n = 0;

  for (unsigned i = 0; i < mesh->n; i++)
    n += strcmp (mesh->names[i]->key, "tensor") == 0;
  return n > 1;
}

/* Returns "ici_fsdp_parallelism=2 or ici_tensor_parallelism=4". If no single change is enough, returns all changes
 * that are needed together. Free it with g_free(). */
static char *
describe_remedy (const QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links, int64_t target)
{
  const int64_t *sizes = mesh->sizes[links];
  g_autofree QuoitSizeChange *changes = g_new0 (QuoitSizeChange, mesh->n + 1);
  unsigned n = changes_asked_for (look, mesh, links, target, changes), rest = axis_of_rest (mesh, links);
  g_autofree int64_t *nearest = g_new0 (int64_t, mesh->n + 1);
  GString *text = g_string_new (NULL);

  if (has_tensor_twice (mesh))
    {
      n = 0;
      g_string_append (text, "mesh_axes without 'model', whose size is that of 'tensor'");
    }
  for (unsigned i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append (text, i + 1 < n ? ", " : " or ");
      append_size (text, links, mesh->names[changes[i].axis]->key, changes[i].size);
    }
  if (text->len > 0)
    return g_string_free (text, FALSE);

  quoit_maxtext_nearest_sizes (sizes, mesh->n, target, rest, nearest);
  for (unsigned i = 0; i < mesh->n; i++)
    if (nearest[i] != sizes[i] && !(i == rest && sizes[i] == -1))
      {
        if (text->len > 0)
          g_string_append_c (text, ' ');
        append_size (text, links, mesh->names[i]->key, nearest[i]);
      }
  return g_string_free (text, FALSE);
}

/* --- filling --- */

static gboolean
check_sizes (QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links)
{
  gboolean are_sizes = TRUE;

  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[links][i] < 1 && mesh->sizes[links][i] != -1)
      {
        g_autofree char *key = quoit_maxtext_size_key (links, mesh->names[i]->key);

        quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_AXIS_SIZE, key,
                                  quoit_maxtext_settings_find (look->settings, key),
                                  "1 or more, or -1 for what the other axes leave");
        are_sizes = FALSE;
      }
  return are_sizes;
}

/* If several axes are -1, reports a given one and suggests other sizes for the rest. At most one of them is -1 by
 * default. */
static void
refuse_two (QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links)
{
  g_autoptr (GString) remedy = g_string_new (NULL);
  g_autofree char *key = NULL, *other_key = NULL;
  const char *other = NULL;
  unsigned blamed = 0;

  while (mesh->sizes[links][blamed] != -1 || !quoit_maxtext_size_is_given (look, links, mesh->names[blamed]->key))
    blamed++;
  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[links][i] == -1 && i != blamed)
      {
        g_string_append (remedy, remedy->len > 0 ? " " : "");
        append_size (remedy, links, mesh->names[i]->key, 1);
        if (other == NULL || !quoit_maxtext_size_is_given (look, links, mesh->names[i]->key))
          other = mesh->names[i]->key;
      }
  key = quoit_maxtext_size_key (links, mesh->names[blamed]->key);
  other_key = quoit_maxtext_size_key (links, other);
  quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_UNSPECIFIED_TWICE, key, "-1",
                            "-1 for one axis of %s at most, and %s is -1%s: as %s", links_of[links].name, other_key,
                            quoit_maxtext_size_is_given (look, links, other) ? " too" : " unless it is given",
                            remedy->str);
}

static void
refuse_rest (QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links, int64_t target)
{
  g_autofree char *remedy = describe_remedy (look, mesh, links, target), *key = NULL;
  unsigned axis = 0;

  while (mesh->sizes[links][axis] != -1)
    axis++;
  key = quoit_maxtext_size_key (links, mesh->names[axis]->key);
  quoit_maxtext_report_add (look->report, QUOIT_MAXTEXT_RULE_UNSPECIFIED_VALUE, key, "-1",
                            "other axes whose product divides %" G_GINT64_FORMAT ", %s: as %s", (gint64) target,
                            links_of[links].of, remedy);
}

static char *
format_product (const int64_t *sizes, unsigned n)
{
  int64_t product = 1;

  for (unsigned i = 0; i < n; i++)
    if (__builtin_mul_overflow (product, sizes[i], &product))
      return g_strdup ("2^63 or more");
  return g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) product);
}

static void
refuse_product (QuoitMaxtextLook *look, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink links, int64_t target)
{
  g_autofree char *remedy = describe_remedy (look, mesh, links, target);
  g_autofree char *product = format_product (mesh->sizes[links], mesh->n);
  g_autofree char *keys = quoit_maxtext_size_key (links, "*");

  quoit_maxtext_report_add (look->report, links_of[links].product_rule, keys, product,
                            "a product of %" G_GINT64_FORMAT ", %s: as %s", (gint64) target, links_of[links].of,
                            remedy);
}

/* If diloco and another axis are -1 between slices, MaxText computes diloco first if it can. The other axis then
 * becomes 1. */
static void
fill_diloco (QuoitMaxtextMesh *mesh, int64_t n_slices)
{
  int64_t *sizes = mesh->sizes[QUOIT_LINK_DCN], others = 1;
  unsigned diloco = mesh->n;

  for (unsigned i = 0; i < mesh->n; i++)
    {
      if (sizes[i] == -1 && strcmp (mesh->names[i]->name, "diloco") == 0)
        diloco = i;
      else if (sizes[i] != -1 && (__builtin_mul_overflow (others, sizes[i], &others) || others > n_slices))
        return;
    }
  if (diloco < mesh->n && n_slices % others == 0)
    sizes[diloco] = n_slices / others;
}

gboolean
quoit_maxtext_mesh_fill (QuoitMaxtextLook *look, QuoitMaxtextMesh *mesh, QuoitMaxtextLink links, int64_t target)
{
  if (!check_sizes (look, mesh, links))
    return FALSE;
  if (links == QUOIT_LINK_DCN)
    fill_diloco (mesh, target);

  switch (quoit_maxtext_try_fill (mesh->sizes[links], mesh->n, target))
    {
    case QUOIT_FILL_TWO_UNSPECIFIED:
      refuse_two (look, mesh, links);
      return FALSE;
    case QUOIT_FILL_NOT_WHOLE:
      refuse_rest (look, mesh, links, target);
      return FALSE;
    case QUOIT_FILL_PRODUCT:
      refuse_product (look, mesh, links, target);
      return FALSE;
    case QUOIT_FILL_DONE:
    default:
      return TRUE;
    }
}
