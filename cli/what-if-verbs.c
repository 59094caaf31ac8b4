/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs of lines. Those that the command has too take the same words. */
#include <string.h>

#include "elastic.h"
#include "group-names.h"
#include "reservation.h"
#include "text.h"
#include "verbs.h"
#include "what-if.h"
#include "window.h"

/* --- what an earlier line has removed --- */

static bool
is_live_group (const QuoitSnapshot *snapshot, char *const *words)
{
  g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, words[0], NULL);

  return group != NULL;
}

bool
what_if_blame_line (const WhatIf *what_if, bool (*is_known) (const QuoitSnapshot *snapshot, char *const *words),
                    char *const *words, const char *what, const char *expected, GError *why, GError **error)
{
  if (!is_known (what_if_present (what_if), words))
    for (guint i = what_if->steps->len; i-- > 0;)
      {
        const WhatIfStep *step = what_if->steps->pdata[i];
        const QuoitSnapshot *before = i == 0 ? what_if->before : ((WhatIfStep *) what_if->steps->pdata[i - 1])->after;

        if (!is_known (before, words) || is_known (step->after, words))
          continue;
        g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT, "'%s': %s has %s it: expected %s",
                     words[words[1] == NULL ? 0 : 1], step->line->place, what, expected);
        g_error_free (why);
        return false;
      }
  g_propagate_error (error, why);
  return false;
}

/* Finds the line that requested a group of that name and was refused. */
static const WhatIfStep *
find_refused (const WhatIf *what_if, const char *group)
{
  for (guint i = what_if->steps->len; i-- > 0;)
    {
      const WhatIfStep *step = what_if->steps->pdata[i];
      char *const *words = step->line->words;

      if (step->has_verdict && step->verdict != QUOIT_VERDICT_FITS
          && (g_str_equal (words[0], "reserve") || g_str_equal (words[0], "hold"))
          && g_strv_contains ((const char *const *) words, group))
        return step;
    }
  return NULL;
}

static bool
blame_group (const WhatIf *what_if, const char *group, GError *why, GError **error)
{
  char *words[] = { (char *) group, NULL };
  const WhatIfStep *refused
      = g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND) ? find_refused (what_if, group) : NULL;

  if (refused == NULL || is_live_group (what_if_present (what_if), words))
    return what_if_blame_line (what_if, is_live_group, words, "ended", "a live group", why, error);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT, "'%s': %s was refused: expected a live group", group,
               refused->line->place);
  g_error_free (why);
  return false;
}

bool
what_if_check_words (const WhatIfStep *step, guint min, guint max, const char *expected, GError **error)
{
  const guint n = g_strv_length (step->line->words) - 1;

  if (n >= min && n <= max)
    return true;
  if (n > max)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "unexpected word '%s': expected %s %s",
                 step->line->words[max + 1], step->line->words[0], expected);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "'%s': expected %s %s", step->line->words[0],
                 step->line->words[0], expected);
  return false;
}

/* --- groups --- */

static void
line_session_clear (Session *session)
{
  g_strfreev (session->words);
  g_free (session->db);
  g_free (session->wait);
  g_free (session->now);
  g_free (session->at);
  g_free (session->output);
}

/* The words of a line as the command line of a verb. */
typedef Session LineSession;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LineSession, line_session_clear)

static LineSession
new_line_session (const WhatIfStep *step, const Verb *verb)
{
  return (LineSession) { .verb = verb, .words = g_strdupv (step->line->words) };
}

/* Like session_parse_line(), for a line whose arguments are names of groups. */
static bool
parse_group_line (const WhatIf *what_if, Session *session, const GOptionEntry *options, GError **error)
{
  return session_parse_line (session, options, error)
         && group_names_complete (what_if_present (what_if), session->words, error);
}

static bool
release (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_auto (LineSession) session = new_line_session (step, &verb_release);
  g_autoptr (QuoitGroupChange) change = NULL;
  g_autofree char *slice = NULL;
  const GOptionEntry entries[] = {
    { "slice", 0, 0, G_OPTION_ARG_FILENAME, &slice, "release only this slice of the group", "NAME" },
    G_OPTION_ENTRY_NULL,
  };
  GError *why = NULL;

  if (!parse_group_line (what_if, &session, entries, error))
    return false;
  if (slice == NULL)
    return quoit_fork_release (what_if->fork, session.words[0], what_if->now_ms, &why)
           || blame_group (what_if, session.words[0], why, error);
  change = quoit_fork_release_slice (what_if->fork, session.words[0], slice, what_if->now_ms, &why);
  return change != NULL || blame_group (what_if, session.words[0], why, error);
}

/* The lease of a group, or that of its owner, ends without a renewal. */
static bool
expire (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_autoptr (QuoitGroup) group = NULL;
  g_autofree char *name = NULL;
  GError *why = NULL;

  if (!what_if_check_words (step, 1, 1, "NAME[@ID]", error))
    return false;
  name = group_name_complete (what_if_present (what_if), step->line->words[1], error);
  if (name == NULL)
    return false;
  group = quoit_snapshot_lookup_group (what_if_present (what_if), name, &why);
  if (group == NULL)
    return blame_group (what_if, name, why, error);
  if (quoit_group_get_until_ms (group) == 0)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_CONFLICT,
                   "group '%s' has no lease that could end: expected a group with a lease, or release", name);
      return false;
    }
  return quoit_fork_release (what_if->fork, name, what_if->now_ms, error);
}

static bool
change_lease (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  const bool is_renewal = g_str_equal (step->line->words[0], "renew");
  g_auto (LineSession) session = new_line_session (step, is_renewal ? &verb_renew : &verb_confirm);
  g_autoptr (QuoitGroup) group = NULL;
  g_autofree char *lease = NULL, *until = NULL;
  const GOptionEntry entries[] = {
    { "lease", 0, 0, G_OPTION_ARG_FILENAME, &lease, "the new lease, for example 10s", "TIME" },
    G_OPTION_ENTRY_NULL,
  };
  gint64 lease_ms = 0;
  GError *why = NULL;

  if (!parse_group_line (what_if, &session, entries, error)
      || (lease != NULL && !text_parse_duration (lease, "--lease", &lease_ms, error)))
    return false;
  if (is_renewal && lease == NULL)
    return text_refuse_usage (error, "--lease TIME is missing: for example --lease 10s");
  group = is_renewal ? quoit_fork_renew (what_if->fork, session.words[0], lease_ms, what_if->now_ms, &why)
                     : quoit_fork_confirm (what_if->fork, session.words[0], lease_ms, what_if->now_ms, &why);
  if (group == NULL)
    return blame_group (what_if, session.words[0], why, error);
  until = text_format_time (quoit_group_get_until_ms (group));
  step->answer = until == NULL ? g_strdup_printf ("%s has no lease", quoit_group_get_handle (group))
                               : g_strdup_printf ("%s has a lease until %s", quoit_group_get_handle (group), until);
  return true;
}

/* --- requests --- */

/* If @why is the refusal of a request, makes it the answer, and takes both. Otherwise frees the report. */
static bool
take_refusal (WhatIfStep *step, GError *why, QuoitReport *report)
{
  if (!g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NOT_NOW)
      && !g_error_matches (why, QUOIT_ERROR, QUOIT_ERROR_NEVER))
    return quoit_report_unref (report), false;
  step->has_verdict = true;
  step->verdict = why->code == QUOIT_ERROR_NOT_NOW ? QUOIT_VERDICT_NOT_NOW : QUOIT_VERDICT_NEVER;
  step->answer = g_strdup (why->message);
  step->report = report;
  g_error_free (why);
  return true;
}

static void
append_slices (GString *text, const QuoitGroup *group)
{
  for (uint32_t slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    {
      g_autofree char *name = quoit_group_dup_slice_name (group, slice);

      g_string_append_printf (text, "%s%s", slice == 0 ? " on " : ", ", name);
    }
  if (quoit_group_get_n_slices (group) == 0)
    g_string_append_printf (text, " with %u bundle%s", quoit_group_get_n_bundles (group),
                            what_if_plural (quoit_group_get_n_bundles (group)));
}

/* Takes the group. */
static void
answer_group (WhatIfStep *step, QuoitGroup *group, const char *verb)
{
  g_autofree char *from = text_format_time (quoit_group_get_begins_ms (group));
  GString *text = g_string_new (step->answer);

  g_string_append_printf (text, "%s%s %s", text->len == 0 ? "" : "; ", quoit_group_get_handle (group), verb);
  if (quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)
    g_string_append_printf (text, " from %s", from);
  else
    append_slices (text, group);
  g_free (step->answer);
  step->answer = g_string_free (text, FALSE);
  step->has_verdict = true;
  step->verdict = QUOIT_VERDICT_FITS;
  g_ptr_array_add (step->groups, group);
}

static bool
reserve (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  const bool is_hold = g_str_equal (step->line->words[0], "hold");
  g_auto (LineSession) session = new_line_session (step, is_hold ? &verb_hold : &verb_reserve);
  g_auto (Reservation) reservation = { .kind = is_hold ? RESERVATION_HOLD : RESERVATION_RESERVE };
  g_autoptr (GPtrArray) others = g_ptr_array_new ();
  QuoitReport *report = NULL;
  GError *why = NULL;
  QuoitGroup *group;

  if (!reservation_parse (&reservation, &session, session_parse_line, error))
    return false;
  if (reservation.options.dry_run)
    return text_refuse_usage (error, "--dry-run: what-if changes nothing anyway: expected the line without it");
  if (reservation.options.wait_for != NULL)
    return text_refuse_usage (error, "--wait-for: nothing changes in a what-if: expected 'until TIME' before the line");
  reservation.now_ms = what_if->now_ms;
  if (!request_parts_complete_near (&reservation.parts, &reservation.options, &session, what_if_present (what_if),
                                    error)
      || !reservation_build (&reservation, session.words[0], error))
    return false;
  group = reservation_make (&reservation, (ReservationTarget) { .fork = what_if->fork }, others, &report, &why);
  if (group == NULL)
    {
      if (take_refusal (step, why, report))
        return true;
      g_propagate_error (error, why);
      return false;
    }
  answer_group (step, group, is_hold ? "is held" : "is reserved");
  for (guint i = 0; i < others->len; i++)
    answer_group (step, others->pdata[i], "is reserved");
  return true;
}

static bool
resize (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_auto (LineSession) session = new_line_session (step, &verb_resize);
  g_autoptr (QuoitGroupChange) change = NULL;
  g_autofree char *slices = NULL;
  const GOptionEntry entries[] = {
    { "slices", 0, 0, G_OPTION_ARG_FILENAME, &slices, "the new number of slices; 1..2: as many as possible", "N" },
    G_OPTION_ENTRY_NULL,
  };
  QuoitReport *report = NULL;
  SliceNumbers numbers;
  GError *why = NULL;

  if (!parse_group_line (what_if, &session, entries, error))
    return false;
  if (slices == NULL)
    return text_refuse_usage (error, "expected also --slices N");
  if (!slice_numbers_parse (slices, &numbers, error))
    return false;
  change = numbers.is_range
               ? quoit_fork_resize_between (what_if->fork, session.words[0], numbers.least, numbers.most,
                                            what_if->now_ms, &report, &why)
               : quoit_fork_resize (what_if->fork, session.words[0], numbers.most, what_if->now_ms, &report, &why);
  if (change != NULL)
    return answer_group (step, quoit_group_ref (quoit_group_change_get_after (change)), "is resized"), true;
  return take_refusal (step, why, report) || blame_group (what_if, session.words[0], why, error);
}

static bool
repair (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_auto (LineSession) session = new_line_session (step, &verb_repair);
  g_autoptr (QuoitGroupChange) change = NULL;
  QuoitReport *report = NULL;
  GError *why = NULL;

  if (!parse_group_line (what_if, &session, NULL, error))
    return false;
  change = quoit_fork_repair (what_if->fork, session.words[0], what_if->now_ms, &report, &why);
  if (change != NULL)
    return answer_group (step, quoit_group_ref (quoit_group_change_get_after (change)), "is repaired"), true;
  return take_refusal (step, why, report) || blame_group (what_if, session.words[0], why, error);
}

/* --- time --- */

static bool
window (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  static const Verb verb = { "window", "NAME", NULL, NULL, 1, 1, NULL };
  g_auto (LineSession) session = new_line_session (step, &verb);
  g_auto (WindowOptions) options = { 0 };
  g_autofree GOptionEntry *entries = window_entries (&options);
  g_autofree char *from = NULL, *until = NULL;
  Window parsed;

  if (!session_parse_line (&session, entries, error) || !window_check (&options, error)
      || !window_parse (&options, session.words[0], &parsed, error)
      || !quoit_fork_add_window (what_if->fork, parsed.name, parsed.scope, parsed.target, parsed.from_ms,
                                 parsed.until_ms, what_if->now_ms, error))
    return false;
  from = text_format_time (parsed.from_ms);
  until = text_format_time (parsed.until_ms);
  step->answer = g_strdup_printf ("closes '%s' from %s until %s", parsed.target, from, until);
  return true;
}

/* Time passes. The fork begins anew from the state at that time, which it will have when the next change is made. */
static bool
wait_until (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL, later = NULL;
  g_autofree char *now = text_format_time (what_if->now_ms);
  const char *text = step->line->words[1];
  gint64 until_ms;

  if (!what_if_check_words (step, 1, 1, "TIME", error) || !text_parse_time (text, "until", &until_ms, error))
    return false;
  if (until_ms <= what_if->now_ms)
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "until '%s': expected a time after %s, where the lines are",
                   text, now);
      return false;
    }
  snapshot = quoit_fork_snapshot (what_if->fork);
  later = quoit_snapshot_as_of (snapshot, until_ms, error);
  if (later == NULL)
    return false;
  quoit_fork_free (what_if->fork);
  what_if->fork = quoit_snapshot_fork (later);
  what_if->now_ms = until_ms;
  step->answer = text_format_time (until_ms);
  return true;
}

/* --- the verbs --- */

static const struct {
  const char *word;
  bool (*answer) (WhatIf *what_if, WhatIfStep *step, GError **error);
} verbs[] = {
  { "drain", what_if_set_states },
  { "undrain", what_if_set_states },
  { "kill", what_if_set_states },
  { "revive", what_if_set_states },
  { "add", what_if_add_source },
  { "remove", what_if_remove_nodes },
  { "release", release },
  { "expire", expire },
  { "renew", change_lease },
  { "confirm", change_lease },
  { "resize", resize },
  { "repair", repair },
  { "reserve", reserve },
  { "hold", reserve },
  { "window", window },
  { "until", wait_until },
};

bool
what_if_answer (WhatIf *what_if, WhatIfStep *step, GError **error)
{
  const char *word = step->line->words[0];

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (g_str_equal (verbs[i].word, word))
      return verbs[i].answer (what_if, step, error);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "'%s': expected drain, undrain, kill, revive, add, remove, release, expire, renew, confirm, resize, "
               "repair, reserve, hold, window or until",
               word);
  return false;
}
