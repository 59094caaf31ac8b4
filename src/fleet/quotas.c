/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/quotas.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/natural.h"

/* --- the list of quotas --- */

/* What only a change of the quotas changes. Tables share it. */
typedef struct _QuoitQuotaList {
  gatomicrefcount refs;
  guint n, n_cohorts;
  gboolean owns_quotas; /* FALSE: another list has the references */
  QuoitQuotaRow *rows;
  gint64 *nominal_e4; /* by cohort */
  guint32 *by_target; /* hash table with open addressing: index of a row + 1; 0: empty */
  guint32 mask;       /* of by_target: number of elements - 1 */
} List;

static guint32
hash_target (const char *label, const char *value)
{
  return label == NULL ? quoit_hash_text (value)
                       : quoit_hash_text (label) * G_GUINT64_CONSTANT (0x9e3779b1) ^ quoit_hash_text (value);
}

static guint
hash_cohort (gconstpointer data)
{
  return ((const QuoitQuotaRow *) data)->cohort_hash;
}

static gboolean
is_same_cohort (gconstpointer a, gconstpointer b)
{
  const QuoitQuota *one = ((const QuoitQuotaRow *) a)->quota, *other = ((const QuoitQuotaRow *) b)->quota;

  return quoit_quota_same_class (one, other) && g_strcmp0 (one->cohort, other->cohort) == 0;
}

/* Numbers the cohorts, and sums their nominal chips. */
static void
list_add_cohorts (List *list)
{
  g_autoptr (GHashTable) firsts = g_hash_table_new (hash_cohort, is_same_cohort);

  for (guint i = 0; i < list->n; i++)
    {
      QuoitQuotaRow *row = &list->rows[i];
      const QuoitQuotaRow *other = row->cohort_hash == 0 ? NULL : g_hash_table_lookup (firsts, row);

      row->cohort = other != NULL ? other->cohort : list->n_cohorts++;
      if (row->cohort_hash != 0 && other == NULL)
        g_hash_table_add (firsts, row);
      list->nominal_e4[row->cohort] += row->quota->nominal * QUOIT_AMOUNT_UNIT;
    }
}

static void
list_add_targets (List *list)
{
  for (guint i = 0; i < list->n; i++)
    {
      guint32 at = list->rows[i].target_hash & list->mask;

      while (list->by_target[at] != 0)
        at = (at + 1) & list->mask;
      list->by_target[at] = i + 1;
    }
}

/* Returns a row, which takes the quota and is in no list yet. */
static QuoitQuotaRow
row_new (guint32 slot, QuoitQuota *quota)
{
  QuoitQuotaRow row = { .slot = slot, .target_hash = hash_target (quota->label, quota->value), .quota = quota };

  if (quota->cohort != NULL)
    row.cohort_hash = (quoit_hash_text (quota->cohort) ^ (guint32) quota->generation) | 1;
  return row;
}

/* @rows: of QuoitQuotaRow, in natural order of their names. Takes the quotas. */
static List *
list_new (const GArray *rows)
{
  List *list = g_new0 (List, 1);

  g_atomic_ref_count_init (&list->refs);
  list->n = rows->len;
  list->owns_quotas = TRUE;
  list->rows = g_memdup2 (rows->data, rows->len * sizeof (QuoitQuotaRow));
  list->nominal_e4 = g_new0 (gint64, rows->len);
  for (list->mask = 1; list->mask < 2 * rows->len; list->mask *= 2)
    ;
  list->by_target = g_new0 (guint32, list->mask);
  list->mask--;
  list_add_cohorts (list);
  list_add_targets (list);
  return list;
}

static List *
list_ref (List *list)
{
  g_atomic_ref_count_inc (&list->refs);
  return list;
}

static void
list_unref (List *list)
{
  if (!g_atomic_ref_count_dec (&list->refs))
    return;
  for (guint i = 0; list->owns_quotas && i < list->n; i++)
    quoit_quota_unref (list->rows[i].quota);
  g_free (list->rows);
  g_free (list->nominal_e4);
  g_free (list->by_target);
  g_free (list);
}

/* --- the table --- */

struct _QuoitQuotas {
  gatomicrefcount refs;
  List *list;
  gint64 used_e4[]; /* by quota, and then by cohort */
};

static gsize
n_counters (const List *list)
{
  return (gsize) list->n + list->n_cohorts;
}

/* Takes @list. All quotas count nothing. */
static QuoitQuotas *
table_new (List *list)
{
  QuoitQuotas *quotas = g_malloc0 (sizeof *quotas + n_counters (list) * sizeof (gint64));

  g_atomic_ref_count_init (&quotas->refs);
  quotas->list = list;
  return quotas;
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
  list_unref (quotas->list);
  g_free (quotas);
}

QuoitQuotas *
quoit_quotas_copy (const QuoitQuotas *quotas)
{
  QuoitQuotas *copy = quotas == NULL ? NULL : table_new (list_ref (quotas->list));

  if (copy != NULL)
    memcpy (copy->used_e4, quotas->used_e4, n_counters (quotas->list) * sizeof (gint64));
  return copy;
}

/* Returns the rows as an array of QuoitQuotaRow for list_new(), which has references to the quotas. Takes those of the
 * table if nothing shares them: the table must then only be read for its chips. */
static GArray *
take_rows (QuoitQuotas *quotas)
{
  List *list = quotas == NULL ? NULL : quotas->list;
  guint n = list == NULL ? 0 : list->n;
  GArray *rows = g_array_sized_new (FALSE, FALSE, sizeof (QuoitQuotaRow), n + 1);

  if (n == 0)
    return rows;
  g_array_append_vals (rows, list->rows, n);
  if (g_atomic_ref_count_compare (&quotas->refs, 1) && g_atomic_ref_count_compare (&list->refs, 1))
    list->owns_quotas = FALSE;
  else
    for (guint i = 0; i < n; i++)
      quoit_quota_ref (list->rows[i].quota);
  return rows;
}

guint
quoit_quotas_n (const QuoitQuotas *quotas)
{
  return quotas == NULL ? 0 : quotas->list->n;
}

const QuoitQuotaRow *
quoit_quotas_row (const QuoitQuotas *quotas, guint i)
{
  return &quotas->list->rows[i];
}

const QuoitQuota *
quoit_quotas_at (const QuoitQuotas *quotas, guint i)
{
  return quotas->list->rows[i].quota;
}

guint
quoit_quotas_n_cohorts (const QuoitQuotas *quotas)
{
  return quotas == NULL ? 0 : quotas->list->n_cohorts;
}

static QuoitQuotaMatches
match_target (const List *list, const char *label, const char *value)
{
  guint32 hash = hash_target (label, value);

  return (QuoitQuotaMatches) { .list = list, .label = label, .value = value, .hash = hash, .at = hash };
}

QuoitQuotaMatches
quoit_quotas_match (const QuoitQuotas *quotas, const char *owner, const QuoitLabel *labels, guint n_labels)
{
  QuoitQuotaMatches matches = { 0 };

  if (quotas == NULL)
    return matches;
  matches = match_target (quotas->list, NULL, owner);
  matches.labels = labels;
  matches.n_labels = n_labels;
  return matches;
}

/* Finds the next quota for the present target. */
static gboolean
next_of_target (QuoitQuotaMatches *matches, guint *i)
{
  const List *list = matches->list;
  guint32 entry;

  while ((entry = list->by_target[matches->at & list->mask]) != 0)
    {
      const QuoitQuotaRow *row = &list->rows[entry - 1];

      matches->at++;
      if (row->target_hash != matches->hash || strcmp (row->quota->value, matches->value) != 0
          || g_strcmp0 (row->quota->label, matches->label) != 0)
        continue;
      *i = entry - 1;
      return TRUE;
    }
  return FALSE;
}

gboolean
quoit_quota_matches_next (QuoitQuotaMatches *matches, guint *i)
{
  if (matches->list == NULL)
    return FALSE;
  while (!next_of_target (matches, i))
    {
      const QuoitLabel *label;

      if (matches->n_done == matches->n_labels)
        return matches->list = NULL, FALSE;
      label = &matches->labels[matches->n_done++];
      matches->label = label->key;
      matches->value = label->value;
      matches->hash = matches->at = hash_target (label->key, label->value);
    }
  return TRUE;
}

/* --- chips --- */

gint64
quoit_quotas_used_e4 (const QuoitQuotas *quotas, guint i)
{
  return quotas->used_e4[i];
}

gint64
quoit_quotas_cohort_nominal_e4 (const QuoitQuotas *quotas, guint i)
{
  return quotas->list->nominal_e4[quotas->list->rows[i].cohort];
}

gint64
quoit_quotas_cohort_used_e4 (const QuoitQuotas *quotas, guint i)
{
  return quotas->used_e4[quotas->list->n + quotas->list->rows[i].cohort];
}

static gint64
room (const QuoitQuotas *quotas, guint i, gint64 used_e4, gint64 cohort_used_e4)
{
  const QuoitQuota *quota = quoit_quotas_at (quotas, i);
  gint64 own_e4 = quota->nominal * QUOIT_AMOUNT_UNIT - used_e4;
  gint64 shared_e4 = quoit_quotas_cohort_nominal_e4 (quotas, i) - cohort_used_e4;

  if (quota->cohort == NULL)
    return own_e4;
  if (quota->most >= 0)
    shared_e4 = MIN (shared_e4, quota->most * QUOIT_AMOUNT_UNIT - used_e4);
  return MAX (own_e4, shared_e4);
}

gint64
quoit_quotas_room_without_e4 (const QuoitQuotas *quotas, guint i, gint64 used_e4, gint64 cohort_used_e4)
{
  return room (quotas, i, quoit_quotas_used_e4 (quotas, i) - used_e4,
               quoit_quotas_cohort_used_e4 (quotas, i) - cohort_used_e4);
}

gint64
quoit_quotas_room_e4 (const QuoitQuotas *quotas, guint i)
{
  return quoit_quotas_room_without_e4 (quotas, i, 0, 0);
}

gint64
quoit_quotas_limit_e4 (const QuoitQuotas *quotas, guint i)
{
  return room (quotas, i, 0, 0);
}

void
quoit_quotas_add_chips (QuoitQuotas *quotas, guint i, gint64 chips_e4)
{
  quotas->used_e4[i] += chips_e4;
  quotas->used_e4[quotas->list->n + quotas->list->rows[i].cohort] += chips_e4;
}

void
quoit_quotas_add_group (QuoitQuotas *quotas, const QuoitLayout *layout, const QuoitGroupData *group, gint times)
{
  QuoitQuotaMatches matches;
  guint i;

  if (!quoit_group_is_callers (group))
    return;
  matches = quoit_quotas_match (quotas, group->owner, group->labels, group->n_labels);
  while (quoit_quota_matches_next (&matches, &i))
    quoit_quotas_add_chips (quotas, i, times * quoit_quota_count (quoit_quotas_at (quotas, i), layout, group));
}

/* --- the quotas of a fleet --- */

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

/* Returns the table of the fleet for a change. Forks share tables, so a shared one is copied first. */
static QuoitQuotas *
own_quotas (QuoitFleet *fleet)
{
  QuoitQuotas *shared = fleet->quotas;

  if (g_atomic_ref_count_compare (&shared->refs, 1))
    return shared;
  fleet->quotas = quoit_quotas_copy (shared);
  quoit_quotas_unref (shared);
  return fleet->quotas;
}

static void
count_groups (QuoitFleet *fleet, QuoitQuotas *quotas)
{
  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL)
        quoit_quotas_add_group (quotas, fleet->layout, group, 1);
    }
}

void
quoit_fleet_quotas_recount (QuoitFleet *fleet)
{
  QuoitQuotas *quotas;

  if (fleet->quotas == NULL)
    return;
  quotas = own_quotas (fleet);
  memset (quotas->used_e4, 0, n_counters (quotas->list) * sizeof (gint64));
  count_groups (fleet, quotas);
}

/* @record is valid; see quoit_group_data_check(). */
static QuoitQuota *
parse_record (const QuoitGroupData *record)
{
  return quoit_quota_parse (record->request, quoit_quota_record_quota (record));
}

/* Fails if another quota than that of its name has the scope of @quota. */
static gboolean
check_scope (const QuoitQuotas *quotas, const QuoitQuota *quota, GError **error)
{
  QuoitQuotaMatches matches = { 0 };
  guint i;

  if (quotas != NULL)
    matches = match_target (quotas->list, quota->label, quota->value);
  while (quoit_quota_matches_next (&matches, &i))
    {
      const QuoitQuota *other = quoit_quotas_at (quotas, i);

      if (strcmp (other->name, quota->name) != 0 && quoit_quota_same_class (other, quota))
        return quoit_fail (error, QUOIT_ERROR_CONFLICT,
                           "quota '%s' is for the same groups and the same class already: change it, or remove it",
                           other->name);
    }
  return TRUE;
}

gboolean
quoit_fleet_check_quota (const QuoitFleet *fleet, const QuoitQuota *quota, GError **error)
{
  g_autofree char *record = quoit_quota_record_name (quota->name);

  if (quoit_quotas_n (fleet->quotas) >= QUOIT_MAX_QUOTAS && quoit_fleet_find_group (fleet, record) == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "quota '%s': expected at most %d quotas", quota->name,
                       QUOIT_MAX_QUOTAS);
  return check_scope (fleet->quotas, quota, error);
}

gboolean
quoit_fleet_check_quota_record (const QuoitFleet *fleet, const QuoitGroupData *record, GError **error)
{
  g_autoptr (QuoitQuota) quota = record->kind == QUOIT_RECORD_QUOTA ? parse_record (record) : NULL;

  return quota == NULL || quoit_fleet_check_quota (fleet, quota, error);
}

static void
remove_row (QuoitFleet *fleet, guint32 slot)
{
  g_autoptr (QuoitQuotas) before = g_steal_pointer (&fleet->quotas);
  g_autoptr (GArray) rows = take_rows (before);
  guint at = 0;

  while (quoit_quotas_row (before, at)->slot != slot)
    at++;
  quoit_quota_unref (g_array_index (rows, QuoitQuotaRow, at).quota);
  g_array_remove_index (rows, at);
  if (rows->len == 0)
    return;
  fleet->quotas = table_new (list_new (rows));
  for (guint i = 0; i < rows->len; i++)
    quoit_quotas_add_chips (fleet->quotas, i, quoit_quotas_used_e4 (before, i < at ? i : i + 1));
}

static gint64
count_groups_of_quota (const QuoitFleet *fleet, const QuoitQuota *quota)
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

/* Returns the number of rows with names before @name. */
static guint
find_position (const GArray *rows, const char *name)
{
  guint first = 0, end = rows->len;

  while (first < end)
    {
      guint middle = first + (end - first) / 2;

      if (quoit_natural_compare (g_array_index (rows, QuoitQuotaRow, middle).quota->name, name) < 0)
        first = middle + 1;
      else
        end = middle;
    }
  return first;
}

static void
add_row (QuoitFleet *fleet, guint32 slot, const QuoitGroupData *record)
{
  g_autoptr (QuoitQuotas) before = g_steal_pointer (&fleet->quotas);
  g_autoptr (GArray) rows = take_rows (before);
  const QuoitQuotaRow row = row_new (slot, parse_record (record));
  const guint at = find_position (rows, row.quota->name);

  g_array_insert_val (rows, at, row);
  fleet->quotas = table_new (list_new (rows));
  for (guint i = 0; i < rows->len; i++)
    quoit_quotas_add_chips (fleet->quotas, i,
                            i == at ? count_groups_of_quota (fleet, row.quota)
                                    : quoit_quotas_used_e4 (before, i < at ? i : i - 1));
}

static void
count_change (QuoitFleet *fleet, const QuoitGroupData *before, const QuoitGroupData *after)
{
  QuoitQuotaMatches matches;
  guint i;

  if (before != NULL && quoit_group_is_callers (before))
    for (matches = quoit_quotas_match (fleet->quotas, before->owner, before->labels, before->n_labels);
         quoit_quota_matches_next (&matches, &i);)
      {
        const QuoitQuota *quota = quoit_quotas_at (fleet->quotas, i);
        gint64 change_e4 = (after == NULL ? 0 : quoit_quota_count (quota, fleet->layout, after))
                           - quoit_quota_count (quota, fleet->layout, before);

        if (change_e4 != 0)
          quoit_quotas_add_chips (own_quotas (fleet), i, change_e4);
      }
  if (after == NULL || !quoit_group_is_callers (after))
    return;
  for (matches = quoit_quotas_match (fleet->quotas, after->owner, after->labels, after->n_labels);
       quoit_quota_matches_next (&matches, &i);)
    {
      const QuoitQuota *quota = quoit_quotas_at (fleet->quotas, i);

      if (before == NULL || !quoit_quota_applies (quota, before->owner, before->labels, before->n_labels))
        quoit_quotas_add_chips (own_quotas (fleet), i, quoit_quota_count (quota, fleet->layout, after));
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
  if (before != NULL)
    remove_row (fleet, slot);
  if (after != NULL)
    add_row (fleet, slot, after);
}

static int
compare_names (const void *a, const void *b)
{
  return quoit_natural_compare (((const QuoitQuotaRow *) a)->quota->name, ((const QuoitQuotaRow *) b)->quota->name);
}

gboolean
quoit_fleet_quotas_rebuild (QuoitFleet *fleet, GError **error)
{
  g_autoptr (GArray) rows = take_rows (NULL);

  for (guint32 slot = 0; slot < fleet->n_slots; slot++)
    {
      const QuoitGroupData *record = quoit_fleet_group_at (fleet, slot);
      QuoitQuotaRow row;

      if (record == NULL || record->kind != QUOIT_RECORD_QUOTA)
        continue;
      row = row_new (slot, parse_record (record));
      g_array_append_val (rows, row);
    }
  quoit_fleet_drop_quotas (fleet);
  if (rows->len == 0)
    return TRUE;
  g_array_sort (rows, compare_names);
  fleet->quotas = table_new (list_new (rows));
  count_groups (fleet, fleet->quotas);
  if (rows->len > QUOIT_MAX_QUOTAS)
    return quoit_fail (error, QUOIT_ERROR_CONFLICT, "%u quotas: expected at most %d", rows->len, QUOIT_MAX_QUOTAS);
  for (guint i = 0; i < rows->len; i++)
    if (!check_scope (fleet->quotas, quoit_quotas_at (fleet->quotas, i), error))
      return FALSE;
  return TRUE;
}
