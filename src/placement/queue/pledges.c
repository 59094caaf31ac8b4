/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/queue/pledges.h"

/* What one quota is to count. The pledges of a request are adjacent. */
typedef struct {
  gint64 start_ms;
  guint n_of_request; /* pledges of the same request from here on */
  QuoitQuotaChips chips;
} Pledge;

GArray *
quoit_pledges_new (void)
{
  return g_array_new (FALSE, FALSE, sizeof (Pledge));
}

void
quoit_pledges_add (GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request, const guint32 *nodes,
                   gint64 start_ms)
{
  g_autoptr (GArray) list = NULL;

  if (fleet->quotas == NULL)
    return;
  list = quoit_quota_list_chips (fleet, request, quoit_request_min_slices (request), nodes);
  for (guint i = 0; i < list->len; i++)
    {
      const Pledge pledge = { start_ms, list->len - i, g_array_index (list, QuoitQuotaChips, i) };

      g_array_append_val (pledges, pledge);
    }
}

/* Returns what the quotas count with the pledges before @end_ms. */
static QuoitQuotas *
copy_with_pledges (const GArray *pledges, const QuoitFleet *fleet, gint64 end_ms)
{
  QuoitQuotas *quotas = quoit_quotas_copy (fleet->quotas);

  for (guint p = 0; p < pledges->len; p++)
    {
      const Pledge *pledge = &g_array_index (pledges, Pledge, p);

      if (pledge->start_ms < end_ms)
        quoit_quotas_add_chips (quotas, pledge->chips.quota, pledge->chips.chips_e4);
    }
  return quotas;
}

static const Pledge *
pledge_at (const GArray *pledges, guint i)
{
  return &g_array_index (pledges, Pledge, i);
}

/* Returns whether @quotas admit the @n pledges of a request from @first on, if they do not count them yet. */
static gboolean
have_room (const GArray *pledges, guint first, guint n, const QuoitQuotas *quotas)
{
  for (guint p = first; p < first + n; p++)
    if (quoit_quotas_room_e4 (quotas, pledge_at (pledges, p)->chips.quota) < pledge_at (pledges, p)->chips.chips_e4)
      return FALSE;
  return TRUE;
}

static void
add_pledges (const GArray *pledges, guint first, guint n, gint64 sign, QuoitQuotas *quotas)
{
  for (guint p = first; p < first + n; p++)
    quoit_quotas_add_chips (quotas, pledge_at (pledges, p)->chips.quota, sign * pledge_at (pledges, p)->chips.chips_e4);
}

/* Returns whether @quotas, which count the pledges before @end_ms, admit each of these requests beside the rest. A
 * cohort counts a request twice if two of its quotas count it, but admits it once. */
static gboolean
are_kept (const GArray *pledges, gint64 end_ms, QuoitQuotas *quotas)
{
  gboolean kept = TRUE;

  for (guint p = 0, n; p < pledges->len && kept; p += n)
    {
      n = pledge_at (pledges, p)->n_of_request;
      if (pledge_at (pledges, p)->start_ms >= end_ms)
        continue;
      add_pledges (pledges, p, n, -1, quotas);
      kept = have_room (pledges, p, n, quotas);
      add_pledges (pledges, p, n, 1, quotas);
    }
  return kept;
}

gboolean
quoit_pledges_admit (const GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request, guint32 n_slices,
                     const guint32 *nodes, gint64 end_ms)
{
  g_autoptr (GArray) list = NULL;
  g_autoptr (QuoitQuotas) quotas = NULL;

  if (fleet->quotas == NULL)
    return TRUE;
  list = quoit_quota_list_chips (fleet, request, n_slices, nodes);
  if (list->len == 0)
    return TRUE;
  quotas = copy_with_pledges (pledges, fleet, end_ms);
  for (guint i = 0; i < list->len; i++)
    {
      const QuoitQuotaChips *chips = &g_array_index (list, QuoitQuotaChips, i);

      if (quoit_quotas_room_e4 (quotas, chips->quota) < chips->chips_e4)
        return FALSE;
    }
  for (guint i = 0; i < list->len; i++)
    {
      const QuoitQuotaChips *chips = &g_array_index (list, QuoitQuotaChips, i);

      quoit_quotas_add_chips (quotas, chips->quota, chips->chips_e4);
    }
  return are_kept (pledges, end_ms, quotas);
}

guint32
quoit_pledges_limit_slices (const GArray *pledges, const QuoitFleet *fleet, const QuoitRequest *request,
                            guint32 n_slices, gint64 end_ms)
{
  guint32 enough = 0, too_many = n_slices + 1;

  while (too_many - enough > 1)
    {
      guint32 middle = enough + (too_many - enough) / 2;

      if (quoit_pledges_admit (pledges, fleet, request, middle, NULL, end_ms))
        enough = middle;
      else
        too_many = middle;
    }
  return enough;
}

gboolean
quoit_pledges_admit_group (const GArray *pledges, const QuoitFleet *fleet, const QuoitGroupData *group, gint64 end_ms)
{
  g_autoptr (QuoitQuotas) quotas = NULL;

  if (pledges->len == 0)
    return TRUE;
  quotas = copy_with_pledges (pledges, fleet, end_ms);
  quoit_quotas_add_group (quotas, fleet->layout, group, 1);
  return are_kept (pledges, end_ms, quotas);
}
