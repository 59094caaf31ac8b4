/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger's answers as lines of text: "5s hold train 2 10s key=k -> train@1 HELD a-0,a-1 until=15s". A line has a
 * time after T0, a verb with its arguments, and the start of the result: the code of a refusal with its message, or
 * the text below. After each line every invariant is checked; a refusal must change nothing.
 *
 *   reserve NAME N[..M] [key= owner= lease= pool= slice= but= tpu= shape=]   hold NAME N LEASE [...]   the group
 *           node=EXCLUDED keep=DOMAIN spread=DOMAIN/SKEW/DOMAINS near=REF
 *           NAME 4x{TPU=4;LABEL=VALUE}+1x{CPU=1} [strategy= policy=ray label=KEY[*VALUES] soft= ...]   bundles
 *   confirm REF [LEASE]   renew REF LEASE   show NAME                          the group
 *   try NAME N[..M] [...]   rehearse resize REF N[..M]   rehearse repair REF   the same on a fork of the current state
 *   resize REF N[..M]   repair REF   drop REF SLICE                            before "=>" after; "nothing"; "=> gone"
 *   release REF   forget REF   forget-key KEY   state NODE STATE               "ok"
 *   renew-groups REF,... LEASE                                               "ok"
 *   owner-set NAME [LEASE]   owner-renew NAME LEASE   owner-end NAME           "ok"; the number of ended groups
 *   import TEXT   sync TEXT                                                    the changes
 *   fits N [...]                                                               the verdict and the number of slices
 *   free                                                                       the free slices
 *   compact                                                                    "ok"
 *   journal                                                                    the entries since the last "journal" */
#pragma once

#include <quoit/models.h>
#include <quoit/quoit.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "suite.h"
#include "../shortcuts.h"
#include "../follower.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

typedef struct _Script Script;
/* @words: verb and arguments; @rest: the unparsed arguments. FALSE: refused. */
typedef gboolean (*ScriptStep) (Script *script, GString *text, char **words, const char *rest, gint64 now_ms,
                                GError **error);
struct _Script {
  QuoitLedger *ledger;
  char *dir, *path; /* NULL: in memory */
  guint64 seen;     /* the last entry that "journal" has printed */
  ScriptStep step;
};

/* --- texts to values --- */

/* "5", "-5s", "300y": milliseconds. */
static inline gint64
script_ms (const char *text)
{
  static const struct {
    const char *unit;
    gint64 ms;
  } units[] = { { "", 1 },
                { "ms", 1 },
                { "s", 1000 },
                { "m", 60000 },
                { "h", 3600000 },
                { "d", 86400000 },
                { "y", G_GINT64_CONSTANT (31557600000) } };
  char *end;
  gint64 n = g_ascii_strtoll (text, &end, 10);

  for (gsize i = 0; i < G_N_ELEMENTS (units); i++)
    if (strcmp (end, units[i].unit) == 0)
      return n * units[i].ms;
  g_error ("no time: %s", text);
}

static inline gboolean
script_set_strategy (QuoitRequest *request, const char *name, GError **error)
{
  static const char *const names[] = { [QUOIT_STRATEGY_PACK] = "PACK",
                                       [QUOIT_STRATEGY_SPREAD] = "SPREAD",
                                       [QUOIT_STRATEGY_STRICT_PACK] = "STRICT_PACK",
                                       [QUOIT_STRATEGY_STRICT_SPREAD] = "STRICT_SPREAD" };

  for (gsize i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0)
      return quoit_request_set_strategy (request, (QuoitStrategy) i, error);
  g_error ("no strategy: %s", name);
}

/* "KEY" or "KEY*VALUES" */
static inline gboolean
script_set_label (QuoitRequest *request, const char *text, GError **error)
{
  const char *times = strchr (text, '*');
  g_autofree char *key = times == NULL ? g_strdup (text) : g_strndup (text, (gsize) (times - text));

  return quoit_request_set_topology_label (request, key, times == NULL ? 1 : g_ascii_strtoll (times + 1, NULL, 10),
                                           error);
}

/* "4x{TPU=4;LABEL=VALUE}", and more after '+'. */
static inline gboolean
script_add_bundles (QuoitRequest *request, const char *text, GError **error)
{
  g_auto (GStrv) runs = g_strsplit (text, "+", -1);
  gint64 first = 0;

  for (char **run = runs; *run != NULL; run++)
    {
      gint64 n = g_ascii_strtoll (*run, NULL, 10);
      g_autofree char *inside = g_strndup (strchr (*run, '{') + 1, strlen (strchr (*run, '{')) - 2);
      g_auto (GStrv) parts = g_strsplit (inside, ";", -1);

      if (!quoit_request_add_bundles (request, parts[0], n, error))
        return FALSE;
      for (char **part = parts + 1; *part != NULL; part++)
        for (guint32 b = first; b < first + n; b++)
          {
            g_autofree char *key = g_strndup (*part, strcspn (*part, "="));

            if (!quoit_request_select_bundle (request, b, key, strchr (*part, '=') + 1, error))
              return FALSE;
          }
      first += n;
    }
  return TRUE;
}

static inline QuoitDomain
script_domain (const char *name)
{
  return g_str_has_prefix (name, "pool") ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_ZONE;
}

/* "pool/1/2": the domain, the maximum skew, and the least number of domains. */
static inline gboolean
script_spread (QuoitRequest *request, const char *text, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (text, "/", -1);

  return quoit_request_spread_over (request, script_domain (parts[0]), g_ascii_strtoll (parts[1], NULL, 10),
                                    g_ascii_strtoll (parts[2], NULL, 10), error);
}

static inline gboolean
script_fill (QuoitRequest *request, char **words, GError **error)
{
  for (; *words != NULL; words++)
    {
      const char *value = strchr (*words, '=');
      gsize length = value == NULL ? strlen (*words) : (gsize) (value++ - *words);
      gboolean ok = TRUE;

      if (value == NULL)
        g_error ("no option: %s", *words);
      if (strncmp (*words, "key", length) == 0)
        ok = quoit_request_set_key (request, value, error);
      else if (strncmp (*words, "owner", length) == 0)
        ok = quoit_request_set_owner (request, value, error);
      else if (strncmp (*words, "pool", length) == 0)
        quoit_request_set_pool (request, value);
      else if (strncmp (*words, "zone", length) == 0)
        quoit_request_set_zone (request, value);
      else if (strncmp (*words, "slice", length) == 0)
        quoit_request_add_slice (request, value);
      else if (strncmp (*words, "but", length) == 0)
        quoit_request_exclude_slice (request, value);
      else if (strncmp (*words, "node", length) == 0)
        quoit_request_exclude_node (request, value);
      else if (strncmp (*words, "keep", length) == 0)
        ok = quoit_request_keep_to (request, script_domain (value), error);
      else if (strncmp (*words, "spread", length) == 0)
        ok = script_spread (request, value, error);
      else if (strncmp (*words, "near", length) == 0)
        ok = quoit_request_set_near (request, value, error);
      else if (strncmp (*words, "lease", length) == 0)
        ok = quoit_request_set_lease_ms (request, script_ms (value), error);
      else if (strncmp (*words, "tpu", length) == 0)
        ok = quoit_request_set_tpu_per_bundle (request, value, error);
      else if (strncmp (*words, "shape", length) == 0)
        ok = quoit_request_set_topology (request, value, error);
      else if (strncmp (*words, "gen", length) == 0)
        ok = quoit_request_set_accelerator (request, value, error);
      else if (strncmp (*words, "strategy", length) == 0)
        ok = script_set_strategy (request, value, error);
      else if (strncmp (*words, "policy", length) == 0)
        ok = quoit_request_set_policy (request, *value == 'r' ? QUOIT_POLICY_RAY : QUOIT_POLICY_BEST, error);
      else if (strncmp (*words, "label", length) == 0)
        ok = script_set_label (request, value, error);
      else if (strncmp (*words, "soft", length) == 0)
        quoit_request_set_soft_target (request, value);
      else if (strncmp (*words, "select", length) == 0)
        ok = quoit_request_add_selector (request, "ray.io/tpu-worker-id", value, error);
      else
        g_error ("no option: %s", *words);
      if (!ok)
        return FALSE;
    }
  return TRUE;
}

/* A request for v6e 4x4 slices, unless the words specify others. NULL if refused. */
static inline QuoitRequest *
script_request (const char *name, const char *n, char **words, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, error);
  const char *dots = strstr (n, "..");
  gboolean ok;

  if (request == NULL)
    return NULL;
  if (strchr (n, '{') != NULL)
    return script_add_bundles (request, n, error) && script_fill (request, words, error) ? g_steal_pointer (&request)
                                                                                         : NULL;
  ok = dots == NULL ? quoit_request_set_slices (request, g_ascii_strtoll (n, NULL, 10), error)
                    : quoit_request_set_slice_range (request, g_ascii_strtoll (n, NULL, 10),
                                                     g_ascii_strtoll (dots + 2, NULL, 10), error);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL));
  return ok && script_fill (request, words, error) ? g_steal_pointer (&request) : NULL;
}

/* --- values to texts --- */

static inline void
script_put_ms (GString *text, gint64 ms)
{
  if (ms % 1000 == 0)
    g_string_append_printf (text, "%" G_GINT64_FORMAT "s", ms / 1000);
  else
    g_string_append_printf (text, "%" G_GINT64_FORMAT, ms);
}

static const char *const script_marks[]
    = { [QUOIT_GROUP_SLICE_WHOLE] = "", [QUOIT_GROUP_SLICE_LEAVING] = "*", [QUOIT_GROUP_SLICE_LOST] = "!" };

/* " a-0-0", with the chips for TPU: "+a-0-0/01". */
static inline void
script_put_bundle (GString *text, const QuoitGroup *group, guint32 bundle)
{
  guint64 chips = quoit_group_get_bundle_chips (group, bundle);
  const char *node = quoit_group_get_bundle_node (group, bundle);

  g_string_append_printf (text, "%s%s%s", bundle == 0 ? " " : "+", node == NULL ? "none" : node, chips == 0 ? "" : "/");
  for (guint c = 0; c < 64; c++)
    if ((chips >> c & 1) != 0)
      g_string_append_printf (text, "%u", c);
  g_string_append (text, script_marks[quoit_group_get_bundle_state (group, bundle)]);
}

/* "train@1 RESERVED a-0,a-1* until=5s": '*' marks a slice that is leaving, '!' a lost one. For bundles, the node of
 * each: "b@2 RESERVED a-0-0/01+a-0-1". */
static inline void
script_put_group (GString *text, const QuoitGroup *group)
{
  static const char *const states[] = { [QUOIT_GROUP_HELD] = "HELD",
                                        [QUOIT_GROUP_RESERVED] = "RESERVED",
                                        [QUOIT_GROUP_RESCHEDULING] = "RESCHEDULING",
                                        [QUOIT_GROUP_REMOVED] = "REMOVED",
                                        [QUOIT_GROUP_PENDING] = "PENDING" };
  g_string_append_printf (text, "%s@%" G_GUINT64_FORMAT " %s", quoit_group_get_name (group), quoit_group_get_id (group),
                          states[quoit_group_get_state (group)]);
  for (guint32 s = 0; s < quoit_group_get_n_slices (group); s++)
    {
      g_autofree char *slice = quoit_group_dup_slice_name (group, s);

      g_string_append_printf (text, "%s%s%s", s == 0 ? " " : ",", slice,
                              script_marks[quoit_group_get_slice_state (group, s)]);
    }
  for (guint32 b = 0; quoit_group_get_n_slices (group) == 0 && b < quoit_group_get_n_bundles (group); b++)
    script_put_bundle (text, group, b);
  if (quoit_group_has_expired (group))
    g_string_append (text, " expired");
  if (quoit_group_get_until_ms (group) != 0 && quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
    {
      g_string_append (text, " until=");
      script_put_ms (text, quoit_group_get_until_ms (group) - T0);
    }
}

/* Takes @group. */
static inline gboolean
script_put_group_result (GString *text, QuoitGroup *group)
{
  if (group != NULL)
    script_put_group (text, group);
  quoit_group_unref (group);
  return group != NULL;
}

/* Takes @change. */
static inline gboolean
script_put_change (GString *text, QuoitGroupChange *change)
{
  if (change == NULL)
    return FALSE;
  if (quoit_group_change_get_before (change) == quoit_group_change_get_after (change))
    g_string_append (text, "nothing");
  else
    {
      script_put_group (text, quoit_group_change_get_before (change));
      g_string_append (text, " => ");
      if (quoit_group_change_get_after (change) == NULL)
        g_string_append (text, "gone");
      else
        script_put_group (text, quoit_group_change_get_after (change));
    }
  quoit_group_change_free (change);
  return TRUE;
}

/* Also compares the explanation of the group, unless time has passed since the last change. */
static inline QuoitGroupChange *
script_repair (QuoitLedger *ledger, const char *group, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (GError) failure = NULL;
  QuoitGroupChange *change = quoit_ledger_repair (ledger, group, now_ms, NULL, &failure);

  if (quoit_snapshot_get_clock_ms (snapshot) == now_ms)
    ck_assert_msg (explains_repair (snapshot, group, change, failure), "%s: %s", group,
                   failure == NULL ? "repaired" : failure->message);
  if (change == NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  return change;
}

/* "lost a-0-1 (train@1); group train@1 slice 0, a-0, is lost". Takes @import. */
static inline gboolean
script_put_import (GString *text, QuoitImport *import)
{
  static const char *const kinds[]
      = { [QUOIT_CHANGE_ADDED] = "added", [QUOIT_CHANGE_REMOVED] = "removed",   [QUOIT_CHANGE_CHANGED] = "changed",
          [QUOIT_CHANGE_STATE] = "state", [QUOIT_CHANGE_POOL] = "pool",         [QUOIT_CHANGE_LOST] = "lost",
          [QUOIT_CHANGE_GROUP] = "group", [QUOIT_CHANGE_EXTERNAL] = "external", [QUOIT_CHANGE_GROUP_SLICE] = "group" };

  if (import == NULL)
    return FALSE;
  if (quoit_import_is_new (import))
    g_string_append (text, "new");
  else if (quoit_import_get_n_changes (import) == 0)
    g_string_append (text, "nothing");
  for (uint32_t i = 0; i < quoit_import_get_n_changes (import); i++)
    {
      const char *detail = quoit_import_get_change_detail (import, i);
      const char *group = quoit_import_get_change_group (import, i);

      g_string_append_printf (text, "%s%s %s", i == 0 ? "" : "; ", kinds[quoit_import_get_change_kind (import, i)],
                              quoit_import_get_change_name (import, i));
      if (detail != NULL && *detail != '\0')
        g_string_append_printf (text, " %s", detail);
      if (group != NULL && *group != '\0')
        g_string_append_printf (text, " (%s)", group);
    }
  quoit_import_free (import);
  return TRUE;
}

/* "expire: train@1 gone, x@2 gone; reserve: b@3 added". */
static inline gboolean
script_put_journal (Script *script, GString *text, GError **error)
{
  static const char *const effects[] = {
    [QUOIT_EFFECT_IMPORT] = "imported",           [QUOIT_EFFECT_GROUP_ADDED] = "added",
    [QUOIT_EFFECT_GROUP_REMOVED] = "gone",        [QUOIT_EFFECT_NODE_STATE] = "turned",
    [QUOIT_EFFECT_GROUP_CHANGED] = "other",       [QUOIT_EFFECT_GROUP_LEASE] = "lease",
    [QUOIT_EFFECT_GROUP_FORGOTTEN] = "forgotten",
  };
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (script->ledger, script->seen, error);

  if (journal == NULL)
    return FALSE;
  for (uint32_t e = 0; e < quoit_journal_get_n_entries (journal); e++)
    {
      g_string_append_printf (text, "%s%s:", e == 0 ? "" : "; ", quoit_journal_get_verb (journal, e));
      for (uint32_t f = 0; f < quoit_journal_get_n_effects (journal, e); f++)
        {
          gboolean is_of_node = quoit_journal_get_effect_type (journal, e, f) == QUOIT_EFFECT_NODE_STATE;
          const char *const names[] = { quoit_journal_get_effect_source (journal, e, f),
                                        is_of_node ? quoit_journal_get_node_name (journal, e, f, 0) : NULL,
                                        quoit_journal_get_effect_group_name (journal, e, f) };

          g_string_append (text, f == 0 ? "" : ",");
          for (guint n = 0; n < G_N_ELEMENTS (names); n++)
            if (names[n] != NULL)
              g_string_append_printf (text, " %s", names[n]);
          if (quoit_journal_get_effect_group_id (journal, e, f) != 0)
            g_string_append_printf (text, "@%" G_GUINT64_FORMAT, quoit_journal_get_effect_group_id (journal, e, f));
          g_string_append_printf (text, " %s", effects[quoit_journal_get_effect_type (journal, e, f)]);
        }
      script->seen = quoit_journal_get_seq (journal, e);
    }
  if (text->len == 0)
    g_string_append (text, "nothing");
  return TRUE;
}

static inline QuoitSnapshot *
script_as_of (const Script *script, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (script->ledger);

  return quoit_snapshot_as_of (snapshot, now_ms, error);
}

static inline gboolean
script_put_free (const Script *script, GString *text, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = script_as_of (script, now_ms, error);

  if (snapshot == NULL)
    return FALSE;
  for (uint32_t s = 0; s < quoit_snapshot_get_n_slices (snapshot); s++)
    if ((quoit_snapshot_get_slice_flags (snapshot, s) & QUOIT_SLICE_FREE) != 0)
      g_string_append_printf (text, "%s%s", text->len == 0 ? "" : ",", quoit_snapshot_get_slice_name (snapshot, s));
  if (text->len == 0)
    g_string_append (text, "none");
  return TRUE;
}

static inline gboolean
script_put_fits (const Script *script, GString *text, char **words, gint64 now_ms, GError **error)
{
  static const char *const verdicts[]
      = { [QUOIT_VERDICT_FITS] = "fits", [QUOIT_VERDICT_NOT_NOW] = "not-now", [QUOIT_VERDICT_NEVER] = "never" };
  g_autoptr (QuoitSnapshot) snapshot = script_as_of (script, now_ms, error);
  g_autoptr (QuoitRequest) request = snapshot == NULL ? NULL : script_request ("fits", words[0], words + 1, error);
  g_autoptr (QuoitReport) report = request == NULL ? NULL : quoit_snapshot_explain (snapshot, request, error);

  if (report == NULL)
    return FALSE;
  g_string_append_printf (text, "%s %u", verdicts[quoit_report_get_verdict (report)],
                          quoit_report_get_n_free_now (report));
  return TRUE;
}

/* --- verbs --- */

/* Resizes the group to "N", or to between "N..M" slices, on the fork, or else on the ledger. */
static inline QuoitGroupChange *
script_resize (const Script *script, QuoitFork *fork, const char *group, const char *slices, gint64 now_ms,
               GError **error)
{
  const char *dots = strstr (slices, "..");
  gint64 least = g_ascii_strtoll (slices, NULL, 10), most = dots == NULL ? 0 : g_ascii_strtoll (dots + 2, NULL, 10);

  if (dots == NULL)
    return fork != NULL ? quoit_fork_resize (fork, group, least, now_ms, NULL, error)
                        : quoit_ledger_resize (script->ledger, group, least, now_ms, NULL, error);
  return fork != NULL ? quoit_fork_resize_between (fork, group, least, most, now_ms, NULL, error)
                      : quoit_ledger_resize_between (script->ledger, group, least, most, now_ms, NULL, error);
}

static inline gboolean
script_try (const Script *script, GString *text, char **words, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (script->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

  if (strcmp (words[0], "rehearse") == 0)
    return script_put_change (text, strcmp (words[1], "resize") == 0
                                        ? script_resize (script, fork, words[2], words[3], now_ms, error)
                                        : quoit_fork_repair (fork, words[2], now_ms, NULL, error));
  {
    g_autoptr (QuoitRequest) request = script_request (words[1], words[2], words + 3, error);

    return request != NULL && script_put_group_result (text, quoit_fork_reserve (fork, request, now_ms, NULL, error));
  }
}

static inline gboolean
script_place (const Script *script, GString *text, char **words, gint64 now_ms, GError **error)
{
  gboolean holds = strcmp (words[0], "hold") == 0;
  g_autoptr (QuoitRequest) request = script_request (words[1], words[2], words + 3 + holds, error);

  if (request == NULL)
    return FALSE;
  return script_put_group_result (
      text, holds ? quoit_ledger_hold (script->ledger, request, script_ms (words[3]), now_ms, NULL, error)
                  : quoit_ledger_reserve (script->ledger, request, now_ms, NULL, error));
}

static inline gboolean
script_show (const Script *script, GString *text, const char *name, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = script_as_of (script, now_ms, error);

  return snapshot != NULL && script_put_group_result (text, quoit_snapshot_lookup_group (snapshot, name, error));
}

static inline gboolean
script_import (const Script *script, GString *text, gboolean is_sync, const char *fleet, gint64 now_ms, GError **error)
{
  QuoitInput *input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, fleet, strlen (fleet));
  gboolean ok = script_put_import (text, is_sync ? quoit_ledger_sync (script->ledger, input, now_ms, error)
                                                 : quoit_ledger_import (script->ledger, input, now_ms, error));

  quoit_input_free (input);
  return ok;
}

static inline gboolean
script_set_state (const Script *script, char **words, gint64 now_ms, GError **error)
{
  static const struct {
    const char *word;
    QuoitNodeState state;
  } states[] = { { "alive", QUOIT_NODE_ALIVE }, { "draining", QUOIT_NODE_DRAINING }, { "dead", QUOIT_NODE_DEAD } };

  for (gsize i = 0; i < G_N_ELEMENTS (states); i++)
    if (strcmp (words[2], states[i].word) == 0)
      return quoit_ledger_set_node_state (script->ledger, words[1], states[i].state, now_ms, error);
  g_error ("no state: %s", words[2]);
}

/* Compacts as much of the journal as possible. */
static inline gboolean
script_compact (const Script *script, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (script->ledger);

  return quoit_ledger_compact_journal (script->ledger, quoit_snapshot_get_seq (snapshot) + 1, now_ms, NULL, error)
         && quoit_ledger_verify (script->ledger, error);
}

static inline gboolean
script_end_owner (const Script *script, GString *text, const char *owner, gint64 now_ms, GError **error)
{
  uint32_t n = 0;

  if (!quoit_ledger_end_owner (script->ledger, owner, now_ms, &n, error))
    return FALSE;
  g_string_append_printf (text, "%u", n);
  return TRUE;
}

/* @names: separated by commas. */
static inline gboolean
script_renew_groups (const Script *script, const char *names, const char *lease, gint64 now_ms, GError **error)
{
  g_auto (GStrv) groups = g_strsplit (names, ",", -1);

  return quoit_ledger_renew_groups (script->ledger, (const char *const *) groups, g_strv_length (groups),
                                    script_ms (lease), now_ms, error);
}

static inline gboolean
script_do (Script *script, GString *text, char **words, const char *rest, gint64 now_ms, GError **error)
{
  QuoitLedger *ledger = script->ledger;
  const char *verb = words[0], *one = words[1], *two = words[1] == NULL ? NULL : words[2];

  if (strcmp (verb, "try") == 0 || strcmp (verb, "rehearse") == 0)
    return script_try (script, text, words, now_ms, error);
  if (strcmp (verb, "reserve") == 0 || strcmp (verb, "hold") == 0)
    return script_place (script, text, words, now_ms, error);
  if (strcmp (verb, "confirm") == 0)
    return script_put_group_result (
        text, quoit_ledger_confirm (ledger, one, two == NULL ? 0 : script_ms (two), now_ms, error));
  if (strcmp (verb, "renew") == 0)
    return script_put_group_result (text, quoit_ledger_renew (ledger, one, script_ms (two), now_ms, error));
  if (strcmp (verb, "resize") == 0)
    return script_put_change (text, script_resize (script, NULL, one, two, now_ms, error));
  if (strcmp (verb, "repair") == 0)
    return script_put_change (text, script_repair (ledger, one, now_ms, error));
  if (strcmp (verb, "drop") == 0)
    return script_put_change (text, quoit_ledger_release_slice (ledger, one, two, now_ms, error));
  if (strcmp (verb, "import") == 0 || strcmp (verb, "sync") == 0)
    return script_import (script, text, *verb == 's', rest, now_ms, error);
  if (strcmp (verb, "fits") == 0)
    return script_put_fits (script, text, words + 1, now_ms, error);
  if (strcmp (verb, "free") == 0)
    return script_put_free (script, text, now_ms, error);
  if (strcmp (verb, "show") == 0)
    return script_show (script, text, one, now_ms, error);
  if (strcmp (verb, "journal") == 0)
    return script_put_journal (script, text, error);
  if (strcmp (verb, "owner-end") == 0)
    return script_end_owner (script, text, one, now_ms, error);

  g_string_append (text, "ok");
  if (strcmp (verb, "renew-groups") == 0)
    return script_renew_groups (script, one, two, now_ms, error);
  if (strcmp (verb, "release") == 0)
    return quoit_ledger_release (ledger, one, now_ms, error);
  if (strcmp (verb, "forget") == 0)
    return quoit_ledger_forget (ledger, one, now_ms, error);
  if (strcmp (verb, "compact") == 0)
    return script_compact (script, now_ms, error);
  if (strcmp (verb, "forget-key") == 0)
    return quoit_ledger_forget_key (ledger, one, now_ms, error);
  if (strcmp (verb, "forget-before") == 0)
    {
      uint32_t n_groups = 0;
      gboolean done = quoit_ledger_forget_before (ledger, T0 + script_ms (one), now_ms, &n_groups, error);

      g_string_append_printf (text, " %u", n_groups);
      return done;
    }
  if (strcmp (verb, "owner-set") == 0)
    return quoit_ledger_set_owner (ledger, one, two == NULL ? 0 : script_ms (two), now_ms, error);
  if (strcmp (verb, "owner-renew") == 0)
    return quoit_ledger_renew_owner (ledger, one, script_ms (two), now_ms, error);
  if (strcmp (verb, "state") == 0)
    return script_set_state (script, words, now_ms, error);
  g_error ("no verb: %s", verb);
}

/* --- running --- */

static inline char *
script_json (const Script *script)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (script->ledger);

  return quoit_snapshot_dup_json (snapshot);
}

static inline void
script_step (Script *script, const char *what, const char *line)
{
  const char *arrow = strstr (line, " -> ");
  g_autofree char *command = arrow == NULL ? g_strdup (line) : g_strndup (line, (gsize) (arrow - line));
  g_auto (GStrv) words = g_strsplit (g_strstrip (command), " ", -1);
  const char *rest = words[1] == NULL || words[2] == NULL ? "" : command + strlen (words[0]) + strlen (words[1]) + 2;
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autofree char *before = script_json (script), *after = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;

  if (!script->step (script, text, words + 1, rest, T0 + script_ms (words[0]), &error))
    {
      ck_assert_msg (error != NULL, "%s: %s: refused without an error", what, line);
      g_string_printf (text, "%s %s", quoit_error_code_name ((QuoitErrorCode) error->code), error->message);
      after = script_json (script);
      ck_assert_msg (strcmp (before, after) == 0, "%s: %s: was refused, but the state has changed", what, line);
    }
  else
    ck_assert_msg (error == NULL, "%s: %s: succeeded with an error: %s", what, line,
                   error == NULL ? "" : error->message);
  ck_assert_msg (arrow == NULL ? script != NULL && error == NULL : g_str_has_prefix (text->str, arrow + 4),
                 "%s%s:\n  %s\nanswers\n  %s", what, script->path == NULL ? " in memory" : " in a file", line,
                 text->str);
  g_clear_error (&error);
  snapshot = quoit_ledger_snapshot (script->ledger);
  ck_assert_msg (quoit_snapshot_check (snapshot, &error), "%s: %s: %s", what, line,
                 error == NULL ? "" : error->message);
}

static inline void
script_reopen (Script *script)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *before = NULL, *after = NULL;

  if (script->path == NULL)
    return;
  before = script_json (script);
  quoit_ledger_unref (script->ledger);
  script->ledger = quoit_ledger_open (script->path, 0, &error);
  ck_assert_ok (error);
  after = script_json (script);
  ck_assert_msg (strcmp (before, after) == 0, "what is read again is not what was written");
}

static inline Script
script_begin (gboolean in_a_file)
{
  Script script = { .step = script_do };
  g_autoptr (GError) error = NULL;

  if (in_a_file)
    {
      script.dir = g_dir_make_tmp ("quoit-XXXXXX", NULL);
      ck_assert_ptr_nonnull (script.dir);
      script.path = g_build_filename (script.dir, "ledger.db", NULL);
    }
  script.ledger = in_a_file ? quoit_ledger_create (script.path, 0, &error) : quoit_ledger_open_memory ();
  ck_assert_ok (error);
  return script;
}

static inline void
script_end (Script *script)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_ledger_verify (script->ledger, &error), "%s", error == NULL ? "" : error->message);
  follower_replay (script->ledger);
  quoit_ledger_unref (script->ledger);
  if (script->path != NULL)
    {
      g_unlink (script->path);
      g_rmdir (script->dir);
    }
  g_free (script->path);
  g_free (script->dir);
}

/* Runs @lines in memory or in a file, which is reopened before each line. @step: script_do(), or a function that
 * calls it for unknown verbs. */
static inline void
script_run (const char *what, const char *const *lines, gboolean in_a_file, ScriptStep step)
{
  Script script = script_begin (in_a_file);

  script.step = step;
  for (; *lines != NULL; lines++)
    {
      script_reopen (&script);
      script_step (&script, what, *lines);
    }
  script_end (&script);
}

enum { SCRIPT_LINES = 40 };

typedef struct {
  const char *what;
  const char *lines[SCRIPT_LINES];
} ScriptFact;
