/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/group.h"

#include <string.h>

#include "base/error.h"
#include "base/name-hash.h"
#include "base/time.h"
#include "fleet/ahead.h"
#include "fleet/joined.h"
#include "fleet/quota.h"

#define OWNER_PREFIX "owner/"
#define EXTERNAL_PREFIX "external/"
#define WINDOW_PREFIX "window/"

/* Returns *@at and advances it by @bytes. */
static void *
reserve_bytes (char **at, gsize bytes)
{
  char *start = *at;

  *at += bytes;
  return start;
}

/* Returns the size of @text with its final NUL, or 0 if it is empty or NULL, as most texts of a group are. */
static inline gsize
text_size (const char *text)
{
  return text == NULL || *text == '\0' ? 0 : strlen (text) + 1;
}

static inline const char *
store_text (char **at, const char *text, gsize size)
{
  return size == 0 ? "" : memcpy (reserve_bytes (at, size), text, size);
}

static gsize
bundles_size (const QuoitBundle *bundles, guint32 n)
{
  gsize size = 0;

  for (guint32 i = 0; i < n; i++)
    {
      size += sizeof (QuoitBundle) + bundles[i].n_takes * sizeof (QuoitTake);
      for (guint16 t = 0; t < bundles[i].n_takes; t++)
        size += strlen (bundles[i].takes[t].resource) + 1;
    }
  return size;
}

static gsize
labels_size (const QuoitGroupData *data)
{
  gsize size = 0;

  for (guint16 i = 0; i < data->n_labels; i++)
    size += sizeof (QuoitLabel) + strlen (data->labels[i].key) + 1 + strlen (data->labels[i].value) + 1;
  return size;
}

/* Copies bundles and takes, but not the names of resources. The allocation has arrays with 8-byte alignment first and
 * texts last, so that no padding is needed. */
static void
copy_bundles (QuoitGroupData *group, const QuoitBundle *from, char **at)
{
  QuoitBundle *bundles = reserve_bytes (at, group->n_nodes * sizeof *bundles);

  memcpy (bundles, from, group->n_nodes * sizeof *bundles);
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      QuoitTake *takes = reserve_bytes (at, bundles[i].n_takes * sizeof *takes);

      /* An empty array may be NULL, which memcpy() does not allow. */
      if (bundles[i].n_takes > 0)
        memcpy (takes, bundles[i].takes, bundles[i].n_takes * sizeof *takes);
      bundles[i].takes = takes;
    }
  group->bundles = bundles;
}

static void
copy_resource_names (QuoitGroupData *group, char **at)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    for (guint16 t = 0; t < group->bundles[i].n_takes; t++)
      {
        QuoitTake *take = (QuoitTake *) &group->bundles[i].takes[t];

        take->resource = store_text (at, take->resource, text_size (take->resource));
      }
}

static void
copy_label_texts (QuoitGroupData *group, QuoitLabel *labels, char **at)
{
  for (guint16 i = 0; i < group->n_labels; i++)
    labels[i] = (QuoitLabel) { store_text (at, group->labels[i].key, text_size (group->labels[i].key)),
                               store_text (at, group->labels[i].value, text_size (group->labels[i].value)) };
  group->labels = labels;
}

/* The sizes of the texts that most groups do not have. */
typedef struct {
  gsize owner, key, source, foreign_id, reason;
} RareSizes;

static inline gboolean
is_empty (const char *text)
{
  return text == NULL || *text == '\0';
}

static inline gboolean
has_rare_texts (const QuoitGroupData *data)
{
  return !is_empty (data->owner) || !is_empty (data->key) || !is_empty (data->source) || !is_empty (data->foreign_id)
         || !is_empty (data->reason);
}

static gsize
measure_rare_texts (const QuoitGroupData *data, RareSizes *sizes)
{
  *sizes = (RareSizes) { text_size (data->owner), text_size (data->key), text_size (data->source),
                         text_size (data->foreign_id), text_size (data->reason) };
  return sizes->owner + sizes->key + sizes->source + sizes->foreign_id + sizes->reason;
}

static void
store_rare_texts (QuoitGroupData *group, const QuoitGroupData *data, const RareSizes *sizes, char **at)
{
  group->owner = store_text (at, data->owner, sizes->owner);
  group->key = store_text (at, data->key, sizes->key);
  group->source = store_text (at, data->source, sizes->source);
  group->foreign_id = store_text (at, data->foreign_id, sizes->foreign_id);
  group->reason = store_text (at, data->reason, sizes->reason);
  group->key_hash = sizes->key == 0 ? 0 : (guint32) quoit_hash_name (group->key, sizes->key - 1);
}

/* Returns a group like @data, with @bundles (NULL: none), and with arrays of these sizes that the caller fills.
 * @has_more: whether it may have labels or rare texts. */
static inline QuoitGroupData *
alloc (const QuoitGroupData *data, gboolean has_more, const QuoitBundle *bundles, guint32 n_slices, guint32 n_nodes)
{
  const gsize name = text_size (data->name), request = text_size (data->request);
  const gsize numbers = (n_slices + n_nodes) * sizeof (guint32);
  gsize size = sizeof *data + numbers + name + request;
  QuoitLabel *labels = NULL;
  QuoitGroupData *group;
  RareSizes rare;
  char *at;

  if (has_more)
    size += measure_rare_texts (data, &rare) + labels_size (data);
  if (bundles != NULL)
    size += bundles_size (bundles, n_nodes);
  group = g_malloc (size);
  at = (char *) (group + 1);
  memcpy (group, data, G_STRUCT_OFFSET (QuoitGroupData, refs));
  group->refs = 1; /* like g_atomic_ref_count_init(), without a call */
  group->n_slices = n_slices;
  group->n_nodes = n_nodes;
  group->bundles = NULL;
  if (has_more)
    labels = reserve_bytes (&at, data->n_labels * sizeof *labels);
  if (bundles != NULL)
    copy_bundles (group, bundles, &at);
  group->slice_end = reserve_bytes (&at, numbers);
  group->node_ids = group->slice_end + n_slices;
  group->name = store_text (&at, data->name, name);
  group->name_hash = (guint32) quoit_hash_name (group->name, name - (name > 0));
  group->request = store_text (&at, data->request, request);
  group->owner = group->key = group->source = group->foreign_id = group->reason = "";
  group->key_hash = 0;
  if (has_more)
    {
      store_rare_texts (group, data, &rare, &at);
      copy_label_texts (group, labels, &at);
    }
  else
    group->labels = NULL;
  if (bundles != NULL)
    copy_resource_names (group, &at);
  return group;
}

/* Not inlined, so that groups without labels and rare texts need no place for their sizes. */
G_GNUC_NO_INLINE static QuoitGroupData *
alloc_with_more (const QuoitGroupData *data, const QuoitBundle *bundles, guint32 n_slices, guint32 n_nodes)
{
  return alloc (data, TRUE, bundles, n_slices, n_nodes);
}

QuoitGroupData *
quoit_group_data_alloc (const QuoitGroupData *data, guint32 n_slices, guint32 n_nodes)
{
  return data->n_labels > 0 || has_rare_texts (data) ? alloc_with_more (data, NULL, n_slices, n_nodes)
                                                     : alloc (data, FALSE, NULL, n_slices, n_nodes);
}

QuoitGroupData *
quoit_group_data_new (const QuoitGroupData *data)
{
  QuoitGroupData *group = alloc_with_more (data, data->bundles, data->n_slices, data->n_nodes);

  /* A removed group has no slices and nodes, and its arrays may be NULL, which memcpy() does not allow. */
  if (data->n_slices > 0)
    memcpy ((guint32 *) group->slice_end, data->slice_end, data->n_slices * sizeof *data->slice_end);
  if (data->n_nodes > 0)
    memcpy ((guint32 *) group->node_ids, data->node_ids, data->n_nodes * sizeof *data->node_ids);
  return group;
}

QuoitGroupData *
quoit_group_data_ref (const QuoitGroupData *data)
{
  g_atomic_ref_count_inc (&((QuoitGroupData *) data)->refs);
  return (QuoitGroupData *) data;
}

void
quoit_group_data_unref (QuoitGroupData *data)
{
  /* like g_atomic_ref_count_dec(), without a call */
  if (data != NULL && g_atomic_int_dec_and_test (&data->refs))
    g_free (data);
}

guint32
quoit_group_count_hosts (const QuoitGroupData *group)
{
  guint32 n = 0;

  if (!quoit_group_has_slices (group))
    return 0;
  for (guint32 i = 0; i < group->n_nodes; i++)
    n += i == 0 || group->node_ids[i] != group->node_ids[i - 1];
  return n;
}

gint
quoit_group_by_id (gconstpointer a, gconstpointer b)
{
  const QuoitGroupData *x = *(const QuoitGroupData *const *) a, *y = *(const QuoitGroupData *const *) b;

  return (x->id > y->id) - (x->id < y->id);
}

gint64
quoit_bundle_amount (const QuoitBundle *bundle, const char *resource)
{
  gint64 e4 = 0;

  for (guint16 t = 0; t < bundle->n_takes; t++)
    if (strcmp (bundle->takes[t].resource, resource) == 0)
      e4 += bundle->takes[t].amount.e4;
  return e4;
}

gboolean
quoit_bundle_equal (const QuoitBundle *a, const QuoitBundle *b)
{
  if (a->chips != b->chips || a->chip != b->chip || a->part.e4 != b->part.e4 || a->n_takes != b->n_takes)
    return FALSE;
  for (guint16 t = 0; t < a->n_takes; t++)
    if (strcmp (a->takes[t].resource, b->takes[t].resource) != 0 || a->takes[t].amount.e4 != b->takes[t].amount.e4)
      return FALSE;
  return TRUE;
}

gboolean
quoit_group_same_nodes (const QuoitGroupData *a, const QuoitGroupData *b)
{
  if (a->n_nodes != b->n_nodes || (a->bundles == NULL) != (b->bundles == NULL)
      || memcmp (a->node_ids, b->node_ids, a->n_nodes * sizeof *a->node_ids) != 0)
    return FALSE;
  for (guint32 i = 0; a->bundles != NULL && i < a->n_nodes; i++)
    if (!quoit_bundle_equal (&a->bundles[i], &b->bundles[i]))
      return FALSE;
  return TRUE;
}

char *
quoit_bundle_text (const QuoitBundle *bundle)
{
  GString *text = g_string_new (NULL);
  const char *comma = bundle->chips != 0 && (bundle->chips & (bundle->chips - 1)) != 0 ? "chips " : "chip ";

  for (guint c = 0; c < 64; c++)
    if ((bundle->chips >> c & 1) != 0)
      {
        g_string_append_printf (text, "%s%u", comma, c);
        comma = ",";
      }
  if (bundle->part.e4 > 0)
    {
      g_autofree char *part = quoit_amount_format (bundle->part);

      g_string_append_printf (text, "%s%s of chip %u", text->len > 0 ? " and " : "", part, bundle->chip);
    }
  comma = text->len > 0 ? ": " : "";
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      g_autofree char *amount = quoit_amount_format (bundle->takes[t].amount);

      g_string_append_printf (text, "%s%s %s", comma, bundle->takes[t].resource, amount);
      comma = ", ";
    }
  return g_string_free (text, FALSE);
}

char *
quoit_owner_record_name (const char *owner)
{
  return g_strconcat (OWNER_PREFIX, owner, NULL);
}

const char *
quoit_owner_record_owner (const QuoitGroupData *record)
{
  return record->name + strlen (OWNER_PREFIX);
}

char *
quoit_external_record_name (const char *source)
{
  return g_strconcat (EXTERNAL_PREFIX, source, NULL);
}

char *
quoit_window_record_name (const char *window)
{
  return g_strconcat (WINDOW_PREFIX, window, NULL);
}

const char *
quoit_window_record_window (const QuoitGroupData *record)
{
  return record->name + strlen (WINDOW_PREFIX);
}

/* --- validation --- */

/* Each slice must have a node, each node must belong to a slice, and each node id must be set. */
static gboolean
are_slices_valid (const QuoitGroupData *data)
{
  guint32 end = 0;

  for (guint32 s = 0; s < data->n_slices; s++)
    {
      if (data->slice_end[s] <= end)
        return FALSE;
      end = data->slice_end[s];
    }
  if (end != data->n_nodes)
    return FALSE;
  for (guint32 i = 0; i < data->n_nodes; i++)
    if (data->node_ids[i] == 0)
      return FALSE;
  return TRUE;
}

/* Each slice must have all hosts of the topology that the request states. */
static gboolean
are_joined (const QuoitGroupData *data)
{
  QuoitGeneration generation;
  QuoitShape shape;

  if (data->n_slices == 0 || !are_slices_valid (data) || data->bundles != NULL
      || !quoit_group_joined_class (data, &generation, &shape))
    return FALSE;
  for (guint axis = 0; axis < 3; axis++)
    if (shape.dims[axis] % QUOIT_CUBE_SIDE != 0)
      return FALSE;
  for (guint32 s = 0; s < data->n_slices; s++)
    if (data->slice_end[s] - quoit_group_first_node (data, s)
        != quoit_shape_chips (shape) / (QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE * QUOIT_CUBE_SIDE) * QUOIT_CUBE_HOSTS)
      return FALSE;
  return TRUE;
}

/* Checks slices, nodes and bundles. Like the other expected_...() functions, returns NULL if the data is valid, or a
 * text that says what was expected. */
static const char *
expected_parts (const QuoitGroupData *data)
{
  if (data->state == QUOIT_GROUP_REMOVED)
    return data->n_slices == 0 && data->n_nodes == 0 ? NULL : "no nodes, because the group is removed";
  if (data->kind == QUOIT_RECORD_SLICES)
    return are_slices_valid (data) ? NULL : "slices of one node or more, and no other nodes";
  if (data->kind == QUOIT_RECORD_PARTS)
    return data->n_slices > 0 && are_slices_valid (data) && data->bundles != NULL ? NULL : "parts of one node or more";
  if (data->kind == QUOIT_RECORD_CUBES)
    return are_joined (data) ? NULL : "slices of whole cubes, as many as the request states";
  if (data->kind == QUOIT_RECORD_OWNER || data->kind == QUOIT_RECORD_WINDOW || data->kind == QUOIT_RECORD_QUOTA)
    return data->n_slices == 0 && data->n_nodes == 0 ? NULL
                                                     : "no nodes, because the record is an owner, a window or a quota";
  return data->n_slices == 0 && (data->n_nodes == 0 || data->bundles != NULL) ? NULL : "bundles, and no slices";
}

/* Returns whether each bundle has a node. Bundles of callers always have one, even if the node is lost. */
static gboolean
has_all_nodes (const QuoitGroupData *data)
{
  for (guint32 i = 0; i < data->n_nodes; i++)
    if (data->node_ids[i] == 0)
      return FALSE;
  return data->n_nodes > 0;
}

/* Checks the source. Only groups of bundles and external use can have one. */
static const char *
expected_source (const QuoitGroupData *data)
{
  gboolean has_one = data->source != NULL && *data->source != '\0';

  if (data->kind == QUOIT_RECORD_BUNDLES && !has_one && data->foreign_id != NULL && *data->foreign_id != '\0')
    return "a source, because the group has an id at a source";
  if (data->kind == QUOIT_RECORD_BUNDLES && !has_one)
    return data->state == QUOIT_GROUP_REMOVED || has_all_nodes (data) ? NULL
                                                                      : "bundles that all have a node, or a source";
  if (data->kind == QUOIT_RECORD_BUNDLES)
    return NULL;
  if (data->kind == QUOIT_RECORD_EXTERNAL)
    return has_one ? NULL : "a source";
  return has_one ? "no source" : NULL;
}

/* Checks the name. The source must be valid. */
static const char *
expected_name (const QuoitGroupData *data)
{
  gsize external = strlen (EXTERNAL_PREFIX);

  if (data->kind == QUOIT_RECORD_OWNER)
    return g_str_has_prefix (data->name, OWNER_PREFIX) && *quoit_owner_record_owner (data) != '\0'
               ? NULL
               : "a name of '" OWNER_PREFIX "' and the owner";
  if (data->kind == QUOIT_RECORD_EXTERNAL)
    return g_str_has_prefix (data->name, EXTERNAL_PREFIX) && strcmp (data->name + external, data->source) == 0
               ? NULL
               : "a name of '" EXTERNAL_PREFIX "' and the source";
  if (data->kind == QUOIT_RECORD_WINDOW)
    return g_str_has_prefix (data->name, WINDOW_PREFIX) && *quoit_window_record_window (data) != '\0'
               ? NULL
               : "a name of '" WINDOW_PREFIX "' and the window";
  if (data->kind == QUOIT_RECORD_QUOTA)
    return g_str_has_prefix (data->name, "quota/") && *quoit_quota_record_quota (data) != '\0'
               ? NULL
               : "a name of 'quota/' and the quota";
  return strchr (data->name, '/') == NULL ? NULL : "a name without '/'";
}

/* Checks a bundle: the part of a chip must be below 1, and each resource must occur once with an amount of 0 or more.
 * Later code relies on this to compute what is left of a node. */
static const char *
expected_bundle (const QuoitBundle *bundle)
{
  if (bundle->part.e4 < 0 || bundle->part.e4 >= QUOIT_AMOUNT_UNIT)
    return "a part of a chip below 1";
  for (guint16 t = 0; t < bundle->n_takes; t++)
    {
      if (bundle->takes[t].amount.e4 < 0)
        return "bundles that take 0 or more";
      if (t > 0 && strcmp (bundle->takes[t - 1].resource, bundle->takes[t].resource) >= 0)
        return "the resources of a bundle in order, each once";
    }
  return NULL;
}

static const char *
expected_bundles (const QuoitGroupData *data)
{
  const char *expected = NULL;

  for (guint32 i = 0; expected == NULL && data->bundles != NULL && i < data->n_nodes; i++)
    expected = expected_bundle (&data->bundles[i]);
  return expected;
}

/* Checks the beginning: reservations ahead and windows have one, and end after it. */
static const char *
expected_beginning (const QuoitGroupData *data)
{
  gboolean is_ahead = data->state == QUOIT_GROUP_AHEAD;
  QuoitWindowTarget target;

  if (is_ahead && data->kind != QUOIT_RECORD_WINDOW && !quoit_group_is_listed (data))
    return "a group or a window, because it lies ahead";
  if (is_ahead && data->source != NULL && *data->source != '\0')
    return "no source, because the group lies ahead";
  if (data->kind == QUOIT_RECORD_WINDOW && !is_ahead && data->state != QUOIT_GROUP_REMOVED)
    return "the state of a window";
  if (data->kind == QUOIT_RECORD_WINDOW && !quoit_window_target_parse (data->request, &target))
    return "the target of a window";
  if (data->kind == QUOIT_RECORD_WINDOW && data->until_ms == 0)
    return "a window that ends";
  if (is_ahead && (data->begins_ms == 0 || (data->until_ms != 0 && data->until_ms <= data->begins_ms)))
    return "a beginning, and an end after it";
  return NULL;
}

static gboolean
check_times (const QuoitGroupData *data, GError **error)
{
  const struct {
    const char *what;
    gint64 time_ms;
  } times[] = { { "since", data->created_ms },
                { "ended", data->ended_ms },
                { "begins", data->begins_ms },
                { "lease until", data->until_ms },
                { "expected end", data->expected_end_ms } };

  for (gsize i = 0; i < G_N_ELEMENTS (times); i++)
    if (!quoit_time_is_valid (times[i].time_ms))
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "group '%s@%" G_GUINT64_FORMAT "': %s '%" G_GINT64_FORMAT
                         "': expected milliseconds since 1970, before the year 2200",
                         data->name, data->id, times[i].what, times[i].time_ms);
  return TRUE;
}

/* Checks the lengths first, because later messages contain the name. */
static gboolean
check_lengths (const QuoitGroupData *data, GError **error)
{
  const struct {
    const char *what, *text;
    gsize most;
  } texts[] = {
    { "name", data->name, QUOIT_MAX_GROUP_TEXT_BYTES },
    { "owner", data->owner, QUOIT_MAX_GROUP_TEXT_BYTES },
    { "key", data->key, QUOIT_MAX_GROUP_TEXT_BYTES },
    { "request", data->request, QUOIT_LONGEST_REQUEST },
    { "source", data->source, QUOIT_MAX_GROUP_TEXT_BYTES },
    { "id at the source", data->foreign_id, QUOIT_MAX_GROUP_TEXT_BYTES },
  };

  for (gsize i = 0; i < G_N_ELEMENTS (texts); i++)
    if (texts[i].text != NULL && strlen (texts[i].text) > texts[i].most)
      return quoit_fail (error, QUOIT_ERROR_INVALID,
                         "group of id %" G_GUINT64_FORMAT ": %s of %zu bytes: expected at most %zu", data->id,
                         texts[i].what, strlen (texts[i].text), texts[i].most);
  return TRUE;
}

static const char *
expected_quota (const QuoitGroupData *data)
{
  g_autoptr (QuoitQuota) quota = NULL;

  if (data->kind != QUOIT_RECORD_QUOTA)
    return NULL;
  if (data->state != QUOIT_GROUP_RESERVED || data->until_ms != 0 || *data->key != '\0' || *data->owner != '\0')
    return "a quota that does not end";
  quota = quoit_quota_parse (data->request, "");
  return quota != NULL ? NULL : "the text of a quota";
}

/* Labels and reasons come from callers of this ledger. */
static const char *
expected_texts (const QuoitGroupData *data)
{
  gboolean has_reason = data->reason != NULL && *data->reason != '\0';

  if (data->n_labels > 0 && (!quoit_group_is_listed (data) || (data->source != NULL && *data->source != '\0')))
    return "no labels, because it is not a group of a caller";
  if (has_reason && (data->end != QUOIT_END_RELEASED || data->state != QUOIT_GROUP_REMOVED))
    return "no reason of a release, because the group was not released";
  return NULL;
}

static gboolean
check_texts (const QuoitGroupData *data, GError **error)
{
  if ((data->reason == NULL || *data->reason == '\0' || quoit_reason_check (data->reason, error))
      && quoit_labels_check (data->labels, data->n_labels, error))
    return TRUE;
  return g_prefix_error (error, "group '%s@%" G_GUINT64_FORMAT "': ", data->name, data->id), FALSE;
}

gboolean
quoit_group_data_check (const QuoitGroupData *data, GError **error)
{
  const char *expected = data->id > 0 && data->id < G_MAXINT64 ? NULL : "an id from 1 on";

  if (!check_lengths (data, error))
    return FALSE;
  if (expected == NULL)
    expected = expected_parts (data);
  if (expected == NULL)
    expected = expected_bundles (data);
  if (expected == NULL)
    expected = expected_source (data);
  if (expected == NULL)
    expected = expected_name (data);
  if (expected == NULL)
    expected = expected_texts (data);
  if (expected == NULL)
    expected = expected_beginning (data);
  if (expected == NULL)
    expected = expected_quota (data);
  if (expected != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "group '%s@%" G_GUINT64_FORMAT "': expected %s", data->name,
                       data->id, expected);
  return check_texts (data, error) && check_times (data, error);
}
