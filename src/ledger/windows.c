/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: windows of the calendar. */
#include <string.h>

#include "base/time.h"
#include "ledger/ahead.h"

static gboolean
check_times (const QuoitWindowChange *window, gint64 time_ms, GError **error)
{
  if (!quoit_time_is_valid (window->from_ms) || window->from_ms <= 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "from '%" G_GINT64_FORMAT "': expected milliseconds since 1970, before the year 2200",
                       window->from_ms);
  if (!quoit_time_is_valid (window->until_ms) || window->until_ms <= window->from_ms)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "until '%" G_GINT64_FORMAT
                       "': expected milliseconds since 1970, after the beginning (%" G_GINT64_FORMAT
                       ") and before the year 2200",
                       window->until_ms, window->from_ms);
  return window->until_ms > time_ms
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "until '%" G_GINT64_FORMAT "': expected a window that ends after now (%" G_GINT64_FORMAT ")",
                        window->until_ms, time_ms);
}

/* Handles a window whose name exists: a repeated call changes nothing. */
static gboolean
check_same (const QuoitGroupData *existing, const QuoitGroupData *window, GError **error)
{
  return (strcmp (existing->request, window->request) == 0 && existing->begins_ms == window->begins_ms
          && existing->until_ms == window->until_ms)
         || quoit_fail (error, QUOIT_ERROR_CONFLICT,
                        "there is another window '%s' already, for %s: remove it, or use another name",
                        quoit_window_record_window (existing), existing->request);
}

static gboolean
check_window (const QuoitFleet *fleet, const QuoitWindowChange *window, gint64 time_ms, GError **error)
{
  g_autofree char *quoted = NULL;

  if (!quoit_name_check ("window", window->name, error) || !check_times (window, time_ms, error))
    return FALSE;
  if (*window->target.target != '\0' && strlen (window->target.target) <= QUOIT_MAX_GROUP_TEXT_BYTES)
    return quoit_window_check_target (window->target, fleet->layout, error);
  quoted = quoit_quote (window->target.target);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "target %s of a window: expected a name of 1 to %d bytes", quoted,
                     QUOIT_MAX_GROUP_TEXT_BYTES);
}

/* Gives other slices to the reservations ahead that need the window's nodes. */
static gboolean
make_room (const QuoitFleet *fleet, const QuoitGroupData *window, const char *name, GPtrArray **moved, GError **error)
{
  return quoit_step_find_moves_for_window (fleet, window, moved)
         || quoit_fail (error, QUOIT_ERROR_CONFLICT,
                        "window '%s': reservations ahead need nodes of %s in that time: release one of them, or choose "
                        "another time",
                        name, window->request);
}

gboolean
quoit_step_add_window (const QuoitFleet *fleet, const QuoitWindowChange *change, gint64 now_ms, QuoitEntry **entry,
                       GError **error)
{
  g_autofree char *record = NULL, *request = NULL;
  g_autoptr (QuoitGroupData) window = NULL;
  g_autoptr (GPtrArray) moved = NULL;
  const QuoitGroupData *existing;
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error) || !check_window (fleet, change, time_ms, error))
    return FALSE;
  record = quoit_window_record_name (change->name);
  request = quoit_window_target_format (change->target);
  window = quoit_group_data_new (&(const QuoitGroupData) { .id = fleet->next_group_id,
                                                           .created_ms = time_ms,
                                                           .begins_ms = change->from_ms,
                                                           .until_ms = change->until_ms,
                                                           .state = QUOIT_GROUP_AHEAD,
                                                           .kind = QUOIT_RECORD_WINDOW,
                                                           .name = record,
                                                           .owner = "",
                                                           .key = "",
                                                           .request = request });
  existing = quoit_fleet_find_group (fleet, record);
  if (existing != NULL)
    return check_same (existing, window, error);
  if (!quoit_step_check_n_ahead (fleet, error))
    return FALSE;
  if (!make_room (fleet, window, change->name, &moved, error))
    return FALSE;
  *entry = quoit_entry_new (fleet, QUOIT_VERB_WINDOW_ADD, time_ms);
  quoit_entry_add_moves (*entry, moved);
  quoit_entry_add (*entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = g_steal_pointer (&window) });
  return TRUE;
}

gboolean
quoit_step_remove_window (const QuoitFleet *fleet, const char *name, gint64 now_ms, QuoitEntry **entry, GError **error)
{
  g_autofree char *record = quoit_window_record_name (name), *quoted = quoit_quote (name);
  const QuoitGroupData *window = quoit_fleet_find_group (fleet, record);
  gint64 time_ms = 0;

  if (!quoit_step_clock (fleet, now_ms, &time_ms, error))
    return FALSE;
  if (window == NULL)
    return quoit_fail (error, QUOIT_ERROR_NOT_FOUND, "no window %s", quoted);
  *entry = quoit_entry_new (fleet, QUOIT_VERB_WINDOW_REMOVE, time_ms);
  quoit_entry_add (*entry, quoit_effect_removal (window, QUOIT_END_RELEASED));
  return TRUE;
}
