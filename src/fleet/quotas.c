/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/quotas.h"

#include <string.h>

#include "base/natural.h"

#define QUOTA_PREFIX "quota/"

char *
quoit_quota_record_name (const char *quota)
{
  return g_strconcat (QUOTA_PREFIX, quota, NULL);
}

const char *
quoit_quota_record_quota (const QuoitGroupData *record)
{
  return record->name + strlen (QUOTA_PREFIX);
}

/* --- text --- */

/* Names cannot contain '/'. The target is last, because keys and values of labels can. */
char *
quoit_quota_format (const QuoitQuota *quota)
{
  GString *text = g_string_new (NULL);

  g_string_append_printf (text, "nominal=%" G_GINT64_FORMAT, quota->nominal);
  if (quota->most >= 0)
    g_string_append_printf (text, "/max=%" G_GINT64_FORMAT, quota->most);
  if (quota->generation != QUOIT_GENERATION_NONE)
    g_string_append_printf (text, "/accelerator=%s", quoit_generation_name (quota->generation));
  if (quota->shape.n_dims != 0)
    {
      g_string_append (text, "/topology=");
      quoit_shape_append (text, quota->shape);
    }
  if (quota->cohort != NULL)
    g_string_append_printf (text, "/cohort=%s", quota->cohort);
  if (quota->label == NULL)
    g_string_append_printf (text, "/owner=%s", quota->value);
  else
    g_string_append_printf (text, "/label=%s=%s", quota->label, quota->value);
  return g_string_free (text, FALSE);
}

/* A quota and its texts, in one allocation with reference count. */
typedef struct {
  QuoitQuota quota;
  char *topology, *cohort, *label, *value, *name;
} Box;

static void
box_clear (gpointer data)
{
  Box *box = data;

  g_free (box->topology);
  g_free (box->cohort);
  g_free (box->label);
  g_free (box->value);
  g_free (box->name);
}

static void
box_release (Box *box)
{
  g_atomic_rc_box_release_full (box, box_clear);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Box, box_release)

/* If *@at begins with "@key=", returns the text up to the next '/' or, for the last part, up to the end, and moves *@at
 * behind it. Otherwise returns NULL. The caller owns the text. */
static char *
read_part (const char **at, const char *key, gboolean is_last)
{
  gsize length = strlen (key);
  const char *value, *end;

  if (strncmp (*at, key, length) != 0 || (*at)[length] != '=')
    return NULL;
  value = *at + length + 1;
  end = is_last ? value + strlen (value) : strchr (value, '/');
  if (end == NULL)
    return NULL;
  *at = *end == '/' ? end + 1 : end;
  return g_strndup (value, (gsize) (end - value));
}

static gboolean
read_chips (const char *text, gint64 *chips)
{
  return text != NULL && g_ascii_string_to_signed (text, 10, 0, QUOIT_MAX_QUOTA_CHIPS, chips, NULL);
}

static gboolean
read_numbers (const char **at, QuoitQuota *quota)
{
  g_autofree char *nominal = read_part (at, "nominal", FALSE), *most = read_part (at, "max", FALSE);

  quota->most = -1;
  return read_chips (nominal, &quota->nominal) && (most == NULL || read_chips (most, &quota->most))
         && (quota->most < 0 || quota->most >= quota->nominal);
}

static gboolean
read_class (const char **at, Box *box)
{
  g_autofree char *accelerator = read_part (at, "accelerator", FALSE);

  box->topology = read_part (at, "topology", FALSE);
  return (accelerator == NULL || quoit_generation_parse (accelerator, &box->quota.generation, NULL))
         && (box->topology == NULL || quoit_shape_parse (box->topology, &box->quota.shape, NULL));
}

static gboolean
read_target (const char **at, Box *box)
{
  char *equals;

  box->value = read_part (at, "owner", TRUE);
  if (box->value != NULL)
    return *box->value != '\0';
  box->label = read_part (at, "label", TRUE);
  equals = box->label == NULL ? NULL : strchr (box->label, '=');
  if (equals == NULL)
    return FALSE;
  box->value = g_strdup (equals + 1);
  *equals = '\0';
  return *box->label != '\0' && *box->value != '\0';
}

/* Returns NULL for text that quoit_quota_format() does not make. @name: of the quota. */
static Box *
parse (const char *request, const char *name)
{
  g_autoptr (Box) box = g_atomic_rc_box_alloc0 (sizeof *box);
  g_autofree char *canonical = NULL;
  const char *at = request;

  if (!read_numbers (&at, &box->quota) || !read_class (&at, box))
    return NULL;
  box->cohort = read_part (&at, "cohort", FALSE);
  if (!read_target (&at, box))
    return NULL;
  box->name = g_strdup (name);
  box->quota.name = box->name;
  box->quota.cohort = box->cohort;
  box->quota.label = box->label;
  box->quota.value = box->value;
  canonical = quoit_quota_format (&box->quota);
  return strcmp (canonical, request) == 0 ? g_steal_pointer (&box) : NULL;
}

gboolean
quoit_quota_is_valid (const char *request)
{
  g_autoptr (Box) box = parse (request, "");

  return box != NULL;
}

/* --- counting --- */

gboolean
quoit_quota_applies (const QuoitQuota *quota, const char *owner, const QuoitLabel *labels, guint n_labels)
{
  const char *value;

  if (quota->label == NULL)
    return strcmp (quota->value, owner) == 0;
  value = quoit_labels_find (labels, n_labels, quota->label);
  return value != NULL && strcmp (value, quota->value) == 0;
}

gboolean
quoit_quota_has_node (const QuoitQuota *quota, const QuoitLayout *layout, QuoitNodeId node)
{
  const QuoitNodeKind *kind = quoit_layout_node_kind (layout, node);
  guint32 slice = layout->nodes[node.index].slice;
  const QuoitClass *class = slice == QUOIT_NO_INDEX ? NULL
                                                    : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });

  return class != NULL ? quoit_quota_has_class (quota, class->facts.generation, class->facts.shape)
                       : quoit_quota_has_class (quota, kind->generation, kind->shape);
}

/* Counts whole slices, without visiting their nodes. A slice without a class counts like the one before it, or like the
 * first one that has a class: all of them were of the class that the group requested. */
static gint64
count_slices (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  const QuoitClass *class = NULL;
  guint32 n_unknown = 0;
  gint64 chips = 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_layout_slice_of_id (layout, group->node_ids[s == 0 ? 0 : group->slice_end[s - 1]]);
      const QuoitClass *own
          = slice == QUOIT_NO_INDEX ? NULL : quoit_layout_slice_class (layout, (QuoitSliceId) { slice });

      class = own != NULL ? own : class;
      n_unknown++;
      if (class == NULL)
        continue;
      if (quoit_quota_has_class (quota, class->facts.generation, class->facts.shape))
        chips += (gint64) n_unknown * quoit_shape_chips (class->facts.shape);
      n_unknown = 0;
    }
  return chips * QUOIT_AMOUNT_UNIT;
}

static gint64
count_bundles (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  gint64 chips_e4 = 0;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      const QuoitBundle *bundle = &group->bundles[i];
      guint32 node = bundle->chips == 0 && bundle->part.e4 == 0 ? QUOIT_NO_INDEX
                                                                : quoit_layout_find_id (layout, group->node_ids[i]);

      if (node != QUOIT_NO_INDEX && quoit_quota_has_node (quota, layout, (QuoitNodeId) { node }))
        chips_e4 += (gint64) __builtin_popcountll (bundle->chips) * QUOIT_AMOUNT_UNIT + bundle->part.e4;
    }
  return chips_e4;
}

gint64
quoit_quota_count (const QuoitQuota *quota, const QuoitLayout *layout, const QuoitGroupData *group)
{
  if (group->state == QUOIT_GROUP_REMOVED || !quoit_group_is_listed (group) || *group->source != '\0'
      || !quoit_quota_applies (quota, group->owner, group->labels, group->n_labels))
    return 0;
  return group->kind == QUOIT_RECORD_SLICES ? count_slices (quota, layout, group)
         : group->bundles == NULL           ? 0
                                            : count_bundles (quota, layout, group);
}

/* --- the table --- */

struct _QuoitQuotas {
  gatomicrefcount refs;
  GArray *rows; /* of QuoitQuotaRow */
};

static void
row_clear (gpointer data)
{
  box_release ((Box *) ((QuoitQuotaRow *) data)->quota);
}

static QuoitQuotas *
table_new (guint n)
{
  QuoitQuotas *table = g_new0 (QuoitQuotas, 1);

  g_atomic_ref_count_init (&table->refs);
  table->rows = g_array_sized_new (FALSE, FALSE, sizeof (QuoitQuotaRow), n);
  g_array_set_clear_func (table->rows, row_clear);
  return table;
}

QuoitQuotas *
quoit_quotas_ref (QuoitQuotas *quotas)
{
  g_atomic_ref_count_inc (&quotas->refs);
  return quotas;
}

void
quoit_quotas_unref (QuoitQuotas *quotas)
{
  if (!g_atomic_ref_count_dec (&quotas->refs))
    return;
  g_array_unref (quotas->rows);
  g_free (quotas);
}

/* Returns the rows of the fleet for a change. Forks share the table, so a shared one is copied first. */
static GArray *
own_rows (QuoitFleet *fleet)
{
  QuoitQuotas *copy;

  if (fleet->quotas != NULL && g_atomic_ref_count_compare (&fleet->quotas->refs, 1))
    return fleet->quotas->rows;
  copy = table_new (fleet->quotas == NULL ? 1 : fleet->quotas->rows->len + 1);
  if (fleet->quotas != NULL)
    {
      g_array_append_vals (copy->rows, fleet->quotas->rows->data, fleet->quotas->rows->len);
      for (guint i = 0; i < copy->rows->len; i++)
        g_atomic_rc_box_acquire ((Box *) g_array_index (copy->rows, QuoitQuotaRow, i).quota);
      quoit_quotas_unref (fleet->quotas);
    }
  fleet->quotas = copy;
  return copy->rows;
}

guint
quoit_fleet_n_quotas (const QuoitFleet *fleet)
{
  return fleet->quotas == NULL ? 0 : fleet->quotas->rows->len;
}

const QuoitQuotaRow *
quoit_fleet_quota_at (const QuoitFleet *fleet, guint i)
{
  return &g_array_index (fleet->quotas->rows, QuoitQuotaRow, i);
}

void
quoit_fleet_drop_quotas (QuoitFleet *fleet)
{
  g_clear_pointer (&fleet->quotas, quoit_quotas_unref);
}

void
quoit_fleet_share_quotas (QuoitFleet *fleet, const QuoitFleet *from)
{
  QuoitQuotas *quotas = from->quotas == NULL ? NULL : quoit_quotas_ref (from->quotas);

  quoit_fleet_drop_quotas (fleet);
  fleet->quotas = quotas;
}

static gint64
count_all (const QuoitFleet *fleet, const QuoitQuota *quota)
{
  gint64 used_e4 = 0;

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL)
        used_e4 += quoit_quota_count (quota, fleet->layout, group);
    }
  return used_e4;
}

void
quoit_fleet_quotas_recount (QuoitFleet *fleet)
{
  GArray *rows = fleet->quotas == NULL ? NULL : own_rows (fleet);

  for (guint i = 0; rows != NULL && i < rows->len; i++)
    {
      QuoitQuotaRow *row = &g_array_index (rows, QuoitQuotaRow, i);

      row->used_e4 = count_all (fleet, row->quota);
    }
}

static void
remove_row (QuoitFleet *fleet, guint32 slot)
{
  GArray *rows = own_rows (fleet);

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, QuoitQuotaRow, i).slot == slot)
      {
        g_array_remove_index (rows, i);
        break;
      }
  if (rows->len == 0)
    quoit_fleet_drop_quotas (fleet);
}

/* A record that is not valid was refused before; see quoit_group_data_check(). */
static void
add_row (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *record)
{
  Box *box = parse (record->request, quoit_quota_record_quota (record));
  GArray *rows = box == NULL ? NULL : own_rows (fleet);
  QuoitQuotaRow row = { .slot = slot, .quota = (QuoitQuota *) box };
  guint at = 0;

  if (box == NULL)
    return;
  row.topology = box->topology;
  row.used_e4 = count_all (fleet, row.quota);
  while (at < rows->len
         && quoit_natural_compare (g_array_index (rows, QuoitQuotaRow, at).quota->name, row.quota->name) < 0)
    at++;
  g_array_insert_val (rows, at, row);
}

static void
count_change (QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after)
{
  for (guint i = 0; i < quoit_fleet_n_quotas (fleet); i++)
    {
      const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;
      gint64 change_e4 = (after == NULL ? 0 : quoit_quota_count (quota, fleet->layout, after))
                         - (before == NULL ? 0 : quoit_quota_count (quota, fleet->layout, before));

      if (change_e4 != 0)
        g_array_index (own_rows (fleet), QuoitQuotaRow, i).used_e4 += change_e4;
    }
}

void
quoit_fleet_quotas_change (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *before, const QuoitGroupData *after)
{
  if ((before != NULL ? before : after)->kind != QUOIT_RECORD_QUOTA)
    {
      count_change (fleet, before, after);
      return;
    }
  if (before != NULL && before->state != QUOIT_GROUP_REMOVED)
    remove_row (fleet, slot);
  if (after != NULL && after->state != QUOIT_GROUP_REMOVED)
    add_row (fleet, slot, after);
}

/* --- limits --- */

gboolean
quoit_quota_shares (const QuoitQuota *a, const QuoitQuota *b)
{
  return a == b
         || (a->cohort != NULL && b->cohort != NULL && a->generation == b->generation
             && quoit_shape_equal (a->shape, b->shape) && strcmp (a->cohort, b->cohort) == 0);
}

QuoitCohortSums
quoit_fleet_quota_cohort (const QuoitFleet *fleet, guint i)
{
  const QuoitQuota *quota = quoit_fleet_quota_at (fleet, i)->quota;
  QuoitCohortSums sums = { 0, 0 };

  for (guint other = 0; other < quoit_fleet_n_quotas (fleet); other++)
    {
      const QuoitQuotaRow *row = quoit_fleet_quota_at (fleet, other);

      if (!quoit_quota_shares (quota, row->quota))
        continue;
      sums.nominal_e4 += row->quota->nominal * QUOIT_AMOUNT_UNIT;
      sums.used_e4 += row->used_e4;
    }
  return sums;
}

gint64
quoit_quota_room (const QuoitQuota *quota, gint64 used_e4, QuoitCohortSums cohort)
{
  gint64 own_e4 = quota->nominal * QUOIT_AMOUNT_UNIT - used_e4, shared_e4 = cohort.nominal_e4 - cohort.used_e4;

  if (quota->cohort == NULL)
    return own_e4;
  if (quota->most >= 0)
    shared_e4 = MIN (shared_e4, quota->most * QUOIT_AMOUNT_UNIT - used_e4);
  return MAX (own_e4, shared_e4);
}

gint64
quoit_fleet_quota_room (const QuoitFleet *fleet, guint i)
{
  const QuoitQuotaRow *row = quoit_fleet_quota_at (fleet, i);

  return quoit_quota_room (row->quota, row->used_e4, quoit_fleet_quota_cohort (fleet, i));
}

gint64
quoit_fleet_quota_limit (const QuoitFleet *fleet, guint i)
{
  QuoitCohortSums cohort = quoit_fleet_quota_cohort (fleet, i);

  cohort.used_e4 = 0;
  return quoit_quota_room (quoit_fleet_quota_at (fleet, i)->quota, 0, cohort);
}
