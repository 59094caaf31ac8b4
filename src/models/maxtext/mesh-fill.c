/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the sizes of a mesh's axes as MaxText does, and suggests sizes if MaxText refuses them. */
#include <string.h>

#include "models/maxtext/mesh.h"

static const struct {
  const char *name, *counted;
  QuoitMaxtextRule product_rule;
} link_types[] = {
  [QUOIT_LINK_ICI] = { "ICI", "the devices of a slice", QUOIT_MAXTEXT_RULE_ICI_PRODUCT },
  [QUOIT_LINK_DCN] = { "DCN", "the slices", QUOIT_MAXTEXT_RULE_DCN_PRODUCT },
};
G_STATIC_ASSERT (G_N_ELEMENTS (link_types) == QUOIT_N_MAXTEXT_LINKS);

/* --- suggestions --- */

static void
append_size (GString *text, QuoitMaxtextLink link, const char *axis_key, int64_t size)
{
  g_autofree char *key = quoit_maxtext_size_key (link, axis_key);

  g_string_append_printf (text, "%s=%" G_GINT64_FORMAT, key, (gint64) size);
}

/* Lists changes of one axis that make the fill possible. Omits axes that the settings do not give, except the axis that
 * is filled by default. */
static unsigned
list_changes (const QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link, int64_t target,
              QuoitSizeChange *changes)
{
  unsigned n = quoit_maxtext_find_size_changes (mesh->sizes[link], mesh->n, target, changes, mesh->n), n_kept = 0;

  for (unsigned i = 0; i < n; i++)
    {
      const char *key = mesh->names[changes[i].axis]->key;

      if (quoit_maxtext_default_size (link, key) == -1 || quoit_maxtext_size_is_given (check, link, key))
        changes[n_kept++] = changes[i];
    }
  return n_kept;
}

/* Returns the axis that gets the remaining factor: the axis of size -1, or else the axis whose default is -1. */
static unsigned
find_remainder_axis (const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link)
{
  unsigned remainder_axis = 0;

  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[link][i] == -1)
      return i;
    else if (quoit_maxtext_default_size (link, mesh->names[i]->key) == -1)
      remainder_axis = i;
  return remainder_axis;
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

/* Returns the alternatives, such as "ici_fsdp_parallelism=2 or ici_tensor_parallelism=4". If no single change is
 * enough, returns the changes that are needed together. Free the text with g_free(). */
static char *
describe_remedy (const QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link, int64_t target)
{
  const int64_t *sizes = mesh->sizes[link];
  g_autofree QuoitSizeChange *changes = g_new0 (QuoitSizeChange, mesh->n + 1);
  unsigned n = list_changes (check, mesh, link, target, changes), remainder_axis = find_remainder_axis (mesh, link);
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
      append_size (text, link, mesh->names[changes[i].axis]->key, changes[i].size);
    }
  if (text->len > 0)
    return g_string_free (text, FALSE);

  quoit_maxtext_nearest_sizes (sizes, mesh->n, target, remainder_axis, nearest);
  for (unsigned i = 0; i < mesh->n; i++)
    if (nearest[i] != sizes[i] && !(i == remainder_axis && sizes[i] == -1))
      {
        if (text->len > 0)
          g_string_append_c (text, ' ');
        append_size (text, link, mesh->names[i]->key, nearest[i]);
      }
  return g_string_free (text, FALSE);
}

/* --- filling --- */

static gboolean
check_sizes (QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link)
{
  gboolean are_valid = TRUE;

  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[link][i] < 1 && mesh->sizes[link][i] != -1)
      {
        g_autofree char *key = quoit_maxtext_size_key (link, mesh->names[i]->key);

        quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_AXIS_SIZE, key,
                                  quoit_maxtext_settings_find (check->settings, key),
                                  "1 or more, or -1 for the size that the other axes leave");
        are_valid = FALSE;
      }
  return are_valid;
}

/* If several axes are -1, at most one of them is -1 by default. Reports one that the settings give, and suggests a size
 * of 1 for the others. */
static void
report_two_unspecified (QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link)
{
  g_autoptr (GString) remedy = g_string_new (NULL);
  g_autofree char *key = NULL, *other_key = NULL;
  const char *other = NULL;
  unsigned reported = 0;

  while (mesh->sizes[link][reported] != -1 || !quoit_maxtext_size_is_given (check, link, mesh->names[reported]->key))
    reported++;
  for (unsigned i = 0; i < mesh->n; i++)
    if (mesh->sizes[link][i] == -1 && i != reported)
      {
        g_string_append (remedy, remedy->len > 0 ? " " : "");
        append_size (remedy, link, mesh->names[i]->key, 1);
        if (other == NULL || !quoit_maxtext_size_is_given (check, link, mesh->names[i]->key))
          other = mesh->names[i]->key;
      }
  key = quoit_maxtext_size_key (link, mesh->names[reported]->key);
  other_key = quoit_maxtext_size_key (link, other);
  quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_UNSPECIFIED_TWICE, key, "-1",
                            "-1 for at most one %s axis, but %s is -1 %s: for example %s", link_types[link].name,
                            other_key, quoit_maxtext_size_is_given (check, link, other) ? "too" : "by default",
                            remedy->str);
}

static void
report_not_whole (QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link, int64_t target)
{
  g_autofree char *remedy = describe_remedy (check, mesh, link, target), *key = NULL;
  unsigned axis = 0;

  while (mesh->sizes[link][axis] != -1)
    axis++;
  key = quoit_maxtext_size_key (link, mesh->names[axis]->key);
  quoit_maxtext_report_add (check->report, QUOIT_MAXTEXT_RULE_UNSPECIFIED_VALUE, key, "-1",
                            "other axes whose product divides %" G_GINT64_FORMAT ", %s: for example %s",
                            (gint64) target, link_types[link].counted, remedy);
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
report_product (QuoitMaxtextCheck *check, const QuoitMaxtextMesh *mesh, QuoitMaxtextLink link, int64_t target)
{
  g_autofree char *remedy = describe_remedy (check, mesh, link, target);
  g_autofree char *product = format_product (mesh->sizes[link], mesh->n);
  g_autofree char *keys = quoit_maxtext_size_key (link, "*");

  quoit_maxtext_report_add (check->report, link_types[link].product_rule, keys, product,
                            "a product of %" G_GINT64_FORMAT ", %s: for example %s", (gint64) target,
                            link_types[link].counted, remedy);
}

/* If diloco and another DCN axis are -1, MaxText first computes diloco if it can. The other axis then becomes 1. */
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
quoit_maxtext_mesh_fill (QuoitMaxtextCheck *check, QuoitMaxtextMesh *mesh, QuoitMaxtextLink link, int64_t target)
{
  if (!check_sizes (check, mesh, link))
    return FALSE;
  if (link == QUOIT_LINK_DCN)
    fill_diloco (mesh, target);

  switch (quoit_maxtext_try_fill (mesh->sizes[link], mesh->n, target))
    {
    case QUOIT_FILL_TWO_UNSPECIFIED:
      report_two_unspecified (check, mesh, link);
      return FALSE;
    case QUOIT_FILL_NOT_WHOLE:
      report_not_whole (check, mesh, link, target);
      return FALSE;
    case QUOIT_FILL_PRODUCT:
      report_product (check, mesh, link, target);
      return FALSE;
    case QUOIT_FILL_DONE:
    default:
      return TRUE;
    }
}
