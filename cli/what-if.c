/* SPDX-License-Identifier: Apache-2.0 */
#include "what-if.h"

static void
step_free (gpointer data)
{
  WhatIfStep *step = data;

  g_free (step->answer);
  g_clear_pointer (&step->groups, g_ptr_array_unref);
  g_clear_pointer (&step->changes, g_ptr_array_unref);
  quoit_report_unref (step->report);
  quoit_snapshot_unref (step->after);
  g_free (step);
}

WhatIf *
what_if_new (QuoitSnapshot *snapshot, gint64 now_ms, GPtrArray *lines)
{
  WhatIf *what_if = g_new0 (WhatIf, 1);

  what_if->before = quoit_snapshot_ref (snapshot);
  what_if->fork = quoit_snapshot_fork (snapshot);
  what_if->begin_ms = what_if->now_ms = now_ms;
  what_if->lines = lines;
  what_if->steps = g_ptr_array_new_with_free_func (step_free);
  return what_if;
}

void
what_if_free (WhatIf *what_if)
{
  if (what_if == NULL)
    return;
  quoit_snapshot_unref (what_if->before);
  quoit_fork_free (what_if->fork);
  g_ptr_array_unref (what_if->lines);
  g_ptr_array_unref (what_if->steps);
  g_free (what_if);
}

const char *
what_if_plural (guint n)
{
  return n == 1 ? "" : "s";
}

QuoitSnapshot *
what_if_present (const WhatIf *what_if)
{
  const guint n = what_if->steps->len;

  return n == 0 ? what_if->before : ((const WhatIfStep *) what_if->steps->pdata[n - 1])->after;
}

/* Appends what happens to groups to the answer, unless the answer states it already. */
static void
complete_answer (WhatIfStep *step)
{
  g_autofree char *summary = step->has_verdict ? NULL : what_if_summarize (step->changes);
  g_autofree char *answer = step->answer;

  step->answer = answer == NULL && summary == NULL ? g_strdup ("changes nothing")
                 : answer == NULL                  ? g_steal_pointer (&summary)
                 : summary == NULL                 ? g_strdup (answer)
                                                   : g_strconcat (answer, "; ", summary, NULL);
}

bool
what_if_run (WhatIf *what_if, GError **error)
{
  for (guint i = 0; i < what_if->lines->len; i++)
    {
      WhatIfStep *step = g_new0 (WhatIfStep, 1);

      step->line = what_if->lines->pdata[i];
      step->groups = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_group_unref);
      if (!what_if_answer (what_if, step, error))
        {
          step_free (step);
          return g_prefix_error (error, "%s: ", ((const WhatIfLine *) what_if->lines->pdata[i])->place), false;
        }
      step->time_ms = what_if->now_ms;
      step->after = quoit_fork_snapshot (what_if->fork);
      step->changes = what_if_compare_groups (what_if_present (what_if), step->after, step->time_ms);
      complete_answer (step);
      g_ptr_array_add (what_if->steps, step);
    }
  return true;
}
