/* SPDX-License-Identifier: Apache-2.0 */
#include "reservation.h"

#include "text.h"

void
reservation_clear (Reservation *reservation)
{
  request_options_clear (&reservation->options);
  request_parts_clear (&reservation->parts);
  quoit_request_free (reservation->request);
  g_clear_pointer (&reservation->members, g_ptr_array_unref);
}

bool
reservation_parse (Reservation *reservation, Session *session,
                   bool (*parse) (Session *session, const GOptionEntry *options, GError **error), GError **error)
{
  bool is_hold = reservation->kind == RESERVATION_HOLD;
  g_autofree GOptionEntry *entries = is_hold ? request_entries_for_hold (&reservation->options)
                                             : request_entries_for_reserve (&reservation->options);

  reservation->parts.accepts_members = !is_hold;
  reservation->parts.accepts_dry_run = true;
  return request_parts_take (&reservation->parts, session, error) && parse (session, entries, error)
         && request_parts_parse (&reservation->parts, session, &reservation->options, error);
}

/* --- times --- */

static bool
refuse_time (GError **error, const char *option, const char *text, const char *expected)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "%s '%s': %s", option, text, expected);
  return false;
}

/* Parses --from and --until. The library refuses a time that is not after now. */
static bool
parse_period (Reservation *reservation, GError **error)
{
  const RequestOptions *options = &reservation->options;

  if (options->from == NULL)
    return options->until == NULL || text_refuse_usage (error, "--until requires --from TIME");
  if (options->lease != NULL)
    return text_refuse_usage (error, "--lease cannot be combined with --from: --until TIME ends the group");
  if (!text_parse_time (options->from, "--from", &reservation->from_ms, error)
      || (options->until != NULL && !text_parse_time (options->until, "--until", &reservation->until_ms, error)))
    return false;
  /* 0 is no time for the library. */
  if (reservation->from_ms == 0)
    return refuse_time (error, "--from", options->from, "expected a time after now");
  return options->until == NULL || reservation->until_ms > reservation->from_ms
         || refuse_time (error, "--until", options->until, "expected a time after that of --from");
}

static bool
parse_times (Reservation *reservation, GError **error)
{
  if (!parse_period (reservation, error))
    return false;
  if (reservation->options.lease != NULL)
    return text_parse_duration (reservation->options.lease, "--lease", &reservation->lease_ms, error);
  return reservation->kind == RESERVATION_RESERVE
         || text_refuse_usage (error, "--lease TIME is missing: for example --lease 10s");
}

/* --- requests --- */

static bool
check_members (const Reservation *reservation, GError **error)
{
  return reservation->members->len == 0 || reservation->from_ms == 0
         || text_refuse_usage (error, "--with cannot be combined with --from: reserve each group ahead by itself");
}

bool
reservation_build (Reservation *reservation, const char *name, GError **error)
{
  if (!parse_times (reservation, error))
    return false;
  reservation->request = request_build (&reservation->options, name, error);
  if (reservation->request == NULL
      || (reservation->lease_ms != 0 && reservation->kind == RESERVATION_RESERVE
          && !quoit_request_set_lease_ms (reservation->request, reservation->lease_ms, error))
      || !request_parts_add_alternatives (&reservation->parts, name, reservation->request, error))
    return false;
  reservation->members = request_parts_build_members (&reservation->parts, &reservation->options, error);
  return reservation->members != NULL && check_members (reservation, error);
}

/* --- decisions --- */

/* Returns the requests of all groups; g_free() the array. */
static const QuoitRequest **
list_requests (const Reservation *reservation)
{
  const QuoitRequest **requests = g_new (const QuoitRequest *, reservation->members->len + 1);

  requests[0] = reservation->request;
  for (guint i = 0; i < reservation->members->len; i++)
    requests[i + 1] = reservation->members->pdata[i];
  return requests;
}

/* Appends all groups but the first one, which it returns. */
static QuoitGroup *
split_groups (QuoitGroup **groups, guint n, GPtrArray *others)
{
  for (guint i = 1; i < n; i++)
    g_ptr_array_add (others, groups[i]);
  return groups[0];
}

QuoitGroup *
reservation_make (const Reservation *reservation, ReservationTarget target, GPtrArray *others, QuoitReport **report,
                  GError **error)
{
  const QuoitRequest *request = reservation->request;
  const gint64 from = reservation->from_ms, until = reservation->until_ms, now = reservation->now_ms;
  const guint n = reservation->members->len + 1;
  g_autofree const QuoitRequest **requests = list_requests (reservation);
  g_autofree QuoitGroup **groups = g_new0 (QuoitGroup *, n);
  QuoitLedger *ledger = target.ledger;
  QuoitFork *fork = target.fork;

  if (n > 1)
    return (fork != NULL ? quoit_fork_reserve_all (fork, requests, n, now, groups, report, error)
                         : quoit_ledger_reserve_all (ledger, requests, n, now, groups, report, error))
               ? split_groups (groups, n, others)
               : NULL;
  if (reservation->kind == RESERVATION_HOLD)
    return fork != NULL ? quoit_fork_hold (fork, request, reservation->lease_ms, now, report, error)
                        : quoit_ledger_hold (ledger, request, reservation->lease_ms, now, report, error);
  if (from != 0)
    return fork != NULL ? quoit_fork_reserve_at (fork, request, from, until, now, report, error)
                        : quoit_ledger_reserve_at (ledger, request, from, until, now, report, error);
  return fork != NULL ? quoit_fork_reserve (fork, request, now, report, error)
                      : quoit_ledger_reserve (ledger, request, now, report, error);
}
