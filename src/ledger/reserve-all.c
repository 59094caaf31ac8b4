/* SPDX-License-Identifier: Apache-2.0 */
/* Step: reserve several groups, all or none. Each is decided on a scratch fork that has the groups before it, so that
 * they cannot get the same nodes. */
#include "ledger/ledger.h"

#include <string.h>

enum { MAX_REQUESTS = 64 };

static gboolean
check_requests (const QuoitRequestList *list, GError **error)
{
  if (list->n == 0 || list->n > MAX_REQUESTS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "'%u' requests: expected 1 to %d", list->n, MAX_REQUESTS);
  for (guint i = 1; i < list->n; i++)
    for (guint other = 0; other < i; other++)
      if (strcmp (list->requests[i]->name, list->requests[other]->name) == 0)
        {
          g_autofree char *quoted = quoit_quote (list->requests[i]->name);

          return quoit_fail (error, QUOIT_ERROR_INVALID,
                             "requests %u and %u are for one group %s: expected different names", other, i, quoted);
        }
  return TRUE;
}

/* --- the order --- */

/* The order in which the requests are placed. */
typedef struct {
  guint n, requests[MAX_REQUESTS];
  guint64 needs[MAX_REQUESTS]; /* by request: the other requests for groups that it is to be near to, as bits */
} Order;

G_STATIC_ASSERT (MAX_REQUESTS <= 64);

/* Returns whether an alternative of @request is to be near to the group @name. */
static gboolean
is_near (const QuoitRequest *request, const char *name)
{
  for (guint i = 0; i < quoit_request_n_alternatives (request); i++)
    if (g_strcmp0 (quoit_request_alternative (request, i)->near, name) == 0)
      return TRUE;
  return FALSE;
}

/* Moves each request behind those for groups that it is to be near to. The others stay in their order, and so do
 * requests that are to be near to each other. */
static void
put_near_groups_first (Order *order)
{
  guint64 left = 0;

  for (guint i = 0; i < order->n; i++)
    left |= (guint64) 1 << i;
  for (guint position = 0; position < order->n; position++)
    {
      guint next = position, request;

      while (next < order->n && (order->needs[order->requests[next]] & left) != 0)
        next++;
      next = next == order->n ? position : next;
      request = order->requests[next];
      memmove (order->requests + position + 1, order->requests + position, (next - position) * sizeof request);
      order->requests[position] = request;
      left &= ~((guint64) 1 << request);
    }
}

static void
order_init (Order *order, const QuoitRequestList *list)
{
  *order = (Order) { .n = list->n };
  for (guint i = 0; i < list->n; i++)
    {
      order->requests[i] = i;
      for (guint other = 0; other < list->n; other++)
        if (other != i && is_near (list->requests[i], list->requests[other]->name))
          order->needs[i] |= (guint64) 1 << other;
    }
  put_near_groups_first (order);
}

/* Moves the request at @position to the front, behind those that it is to be near to. */
static void
move_to_front (Order *order, guint position)
{
  guint moved = order->requests[position];

  memmove (order->requests + 1, order->requests, position * sizeof moved);
  order->requests[0] = moved;
  put_near_groups_first (order);
}

/* Returns whether a request that comes after @position is for a group to which the one at @position is to be near. That
 * is only so if the latter waits for the former too. */
static gboolean
is_in_circle (const Order *order, guint position)
{
  for (guint later = position + 1; later < order->n; later++)
    if ((order->needs[order->requests[position]] >> order->requests[later] & 1) != 0)
      return TRUE;
  return FALSE;
}

/* --- placing --- */

/* The groups so far, in one order of the requests. */
typedef struct {
  QuoitFleet *scratch; /* with these groups; NULL: there are none yet */
  QuoitEntry *entry;   /* with all their effects */
  GPtrArray *groups;   /* of QuoitGroupData, by request */
} Attempt;

static void
attempt_clear (Attempt *attempt)
{
  g_clear_pointer (&attempt->scratch, quoit_fleet_unref);
  g_clear_pointer (&attempt->entry, quoit_entry_unref);
  g_clear_pointer (&attempt->groups, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Attempt, attempt_clear)

/* Moves the effects of @from to the entry of the attempt. */
static void
take_effects (Attempt *attempt, QuoitEntry *from)
{
  for (guint i = 0; i < from->n_effects; i++)
    quoit_entry_add (attempt->entry, from->effects[i]);
  from->n_effects = 0;
}

/* Reserves request @i. On FALSE, sets @refusal or @error. */
static gboolean
reserve_next (const QuoitFleet *fleet, const QuoitRequestList *list, guint i, gint64 now_ms, Attempt *attempt,
              QuoitRefusal *refusal, GError **error)
{
  const QuoitFleet *used = attempt->scratch != NULL ? attempt->scratch : fleet;
  g_autoptr (QuoitEntry) entry = NULL;
  g_auto (QuoitOutcome) outcome = { 0 };

  if (!quoit_step_reserve (used, list->requests[i], now_ms, &entry, &outcome, error))
    {
      *refusal = outcome.refusal;
      outcome.refusal = (QuoitRefusal) { 0 };
      return FALSE;
    }
  attempt->groups->pdata[i] = quoit_group_data_ref (outcome.after);
  /* A repeated request has its group already. */
  if (entry == NULL)
    return TRUE;
  if (attempt->scratch == NULL)
    attempt->scratch = quoit_fleet_fork (fleet);
  if (!quoit_entry_apply (entry, &attempt->scratch, error))
    return FALSE;
  take_effects (attempt, entry);
  return TRUE;
}

/* Reserves the requests in @order. Returns the position of the first one that fails, or their number. */
static guint
reserve_in_order (const QuoitFleet *fleet, const QuoitRequestList *list, const Order *order, gint64 now_ms,
                  Attempt *attempt, QuoitRefusal *refusal, GError **error)
{
  for (guint position = 0; position < list->n; position++)
    if (!reserve_next (fleet, list, order->requests[position], now_ms, attempt, refusal, error))
      return position;
  return list->n;
}

/* Completes the refusal of request @i after @position others. */
static void
describe_refusal (const Attempt *attempt, const QuoitRequest *request, guint position, QuoitRefusal *refusal)
{
  refusal->member = g_strdup (request->name);
  if (position == 0)
    return;
  /* The other groups are in the fleet of the refusal, but they do not exist. */
  refusal->has_no_options = TRUE;
  if (refusal->fleet == NULL && attempt->scratch != NULL)
    refusal->fleet = quoit_fleet_ref (attempt->scratch);
}

/* Fails because @request cannot be placed. Takes @why. @is_circle: it is to be near to a group that is to be near to
 * it.
 */
static gboolean
fail_for (const QuoitRequest *request, GError *why, gboolean is_circle, GError **error)
{
  if (is_circle && request->alternatives == NULL && g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND))
    {
      g_error_free (why);
      return quoit_fail (error, QUOIT_ERROR_NOT_FOUND,
                         "group '%s': near group '%s': these requests are to be near to each other, so that neither "
                         "group can be the first: expected one of them without a near group",
                         request->name, request->near);
    }
  g_propagate_prefixed_error (error, why, "group '%s': ", request->name);
  return FALSE;
}

gboolean
quoit_step_reserve_all (const QuoitFleet *fleet, const QuoitRequestList *list, gint64 now_ms, QuoitEntry **entry,
                        QuoitOutcome *outcome, GError **error)
{
  Order order;
  guint position;
  gboolean was_moved[MAX_REQUESTS] = { FALSE };
  gint64 time_ms;

  if (!check_requests (list, error) || !quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  order_init (&order, list);
  for (;;)
    {
      g_auto (Attempt) attempt = { NULL, quoit_entry_new (fleet, QUOIT_VERB_RESERVE, time_ms),
                                   g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_data_unref) };
      g_auto (QuoitRefusal) refusal = { 0 };
      g_autoptr (GError) why = NULL;

      g_ptr_array_set_size (attempt.groups, (gint) list->n);
      position = reserve_in_order (fleet, list, &order, now_ms, &attempt, &refusal, &why);
      if (position == list->n)
        {
          outcome->groups = g_steal_pointer (&attempt.groups);
          if (attempt.entry->n_effects > 0)
            *entry = g_steal_pointer (&attempt.entry);
          return TRUE;
        }
      if (why == NULL && position > 0 && !was_moved[order.requests[position]])
        {
          /* Others have what this request needs, and may accept something else. */
          was_moved[order.requests[position]] = TRUE;
          move_to_front (&order, position);
          continue;
        }
      if (why == NULL)
        {
          describe_refusal (&attempt, list->requests[order.requests[position]], position, &refusal);
          outcome->refusal = refusal;
          refusal = (QuoitRefusal) { 0 };
          return FALSE;
        }
      return fail_for (list->requests[order.requests[position]], g_steal_pointer (&why),
                       is_in_circle (&order, position), error);
    }
}
