/* SPDX-License-Identifier: Apache-2.0 */
#include "group-selection.h"

#include <string.h>

#include "text.h"
#include "words.h"

void
selection_options_clear (SelectionOptions *options)
{
  g_strfreev (options->labels);
  g_free (options->owner);
  g_free (options->state);
  g_free (options->priority);
  g_free (options->expect_after);
  g_free (options->expect_before);
  g_free (options->reason);
}

GOptionEntry *
selection_entries (SelectionOptions *o)
{
  const GOptionEntry entries[] = {
    { "label", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->labels,
      "only groups with this label; repeat the option to require several", "KEY[=VALUE]" },
    { "owner", 0, 0, G_OPTION_ARG_FILENAME, &o->owner, "only groups of this owner", "NAME" },
    { "state", 0, 0, G_OPTION_ARG_FILENAME, &o->state,
      "only groups in this state: ahead, held, reserved, rescheduling, removed or pending", "STATE" },
    { "priority", 0, 0, G_OPTION_ARG_FILENAME, &o->priority,
      "only groups of this priority, or of a range: 1..5, 1.. or ..5", "RANGE" },
    { "expect-after", 0, 0, G_OPTION_ARG_FILENAME, &o->expect_after,
      "only groups that are expected to end at this time or later", "TIME" },
    { "expect-before", 0, 0, G_OPTION_ARG_FILENAME, &o->expect_before,
      "only groups that are expected to end before this time", "TIME" },
    { "reason", 0, 0, G_OPTION_ARG_FILENAME, &o->reason,
      "only groups that were released for a reason that contains this text", "TEXT" },
    G_OPTION_ENTRY_NULL,
  };

  return g_memdup2 (entries, sizeof entries);
}

/* Parses "5", "1..5", "1.." or "..5". */
static bool
parse_priorities (const char *text, GroupSelection *selection, GError **error)
{
  static const NumberRule rule
      = { "--priority", "a number of 32 bits, or a range such as 1..5, 1.. or ..5", G_MININT32, G_MAXINT32 };
  const char *dots = strstr (text, "..");
  g_autofree char *first = dots == NULL ? g_strdup (text) : g_strndup (text, (gsize) (dots - text));
  const char *last = dots == NULL ? text : dots + 2;
  const bool has_end = *first != '\0' || *last != '\0';

  if ((*first != '\0' || !has_end) && !text_parse_number (first, &rule, &selection->priority_least, error))
    return false;
  if (*last != '\0' && !text_parse_number (last, &rule, &selection->priority_most, error))
    return false;
  if (selection->priority_least <= selection->priority_most)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "--priority '%s': expected the smaller number first", text);
  return false;
}

static bool
check_labels (char *const *labels, GError **error)
{
  for (guint i = 0; labels != NULL && labels[i] != NULL; i++)
    if (labels[i][0] == '\0' || labels[i][0] == '=')
      {
        g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--label '%s': expected KEY or KEY=VALUE", labels[i]);
        return false;
      }
  return true;
}

bool
selection_parse (const SelectionOptions *options, GroupSelection *selection, GError **error)
{
  *selection = (GroupSelection) { .options = options,
                                  .priority_least = G_MININT32,
                                  .priority_most = G_MAXINT32,
                                  .end_after_ms = G_MININT64,
                                  .end_before_ms = G_MAXINT64 };
  return check_labels (options->labels, error)
         && (options->state == NULL || group_state_parse (options->state, &selection->state, error))
         && (options->priority == NULL || parse_priorities (options->priority, selection, error))
         && (options->expect_after == NULL
             || text_parse_time (options->expect_after, "--expect-after", &selection->end_after_ms, error))
         && (options->expect_before == NULL
             || text_parse_time (options->expect_before, "--expect-before", &selection->end_before_ms, error));
}

/* @label: "KEY" or "KEY=VALUE". */
static bool
has_label (const QuoitGroup *group, const char *label)
{
  const char *equals = strchr (label, '='), *value;
  g_autofree char *key = equals == NULL ? g_strdup (label) : g_strndup (label, (gsize) (equals - label));

  value = quoit_group_find_label (group, key);
  return value != NULL && (equals == NULL || g_str_equal (value, equals + 1));
}

/* A group without an expected end is not expected to end at any time. */
static bool
has_expected_end (const GroupSelection *selection, const QuoitGroup *group)
{
  const int64_t end_ms = quoit_group_get_expected_end_ms (group);

  if (selection->options->expect_after == NULL && selection->options->expect_before == NULL)
    return true;
  return end_ms != 0 && end_ms >= selection->end_after_ms && end_ms < selection->end_before_ms;
}

bool
selection_has (const GroupSelection *selection, const QuoitGroup *group)
{
  const SelectionOptions *options = selection->options;
  const int32_t priority = quoit_group_get_priority (group);

  for (guint i = 0; options->labels != NULL && options->labels[i] != NULL; i++)
    if (!has_label (group, options->labels[i]))
      return false;
  return (options->owner == NULL || g_str_equal (quoit_group_get_owner (group), options->owner))
         && (options->state == NULL || quoit_group_get_state (group) == selection->state)
         && priority >= selection->priority_least && priority <= selection->priority_most
         && has_expected_end (selection, group)
         && (options->reason == NULL || strstr (quoit_group_get_release_reason (group), options->reason) != NULL);
}
