/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: labels of groups, and reasons of releases. */
#include "walk.h"

const char *const label_keys[N_LABELS] = { "run", "team", "zone" };

static const char *const values[] = { "1", "=;,'\"", "zażółć" };

const char *
random_reason (Walk *walk)
{
  static const char *const reasons[] = { "preempted by job-7", "done", NULL, NULL, NULL };

  return reasons[random_below (walk, G_N_ELEMENTS (reasons))];
}

/* Chooses up to 4 changes, so that a key can occur twice. An empty key is not valid. */
static guint
random_labels (Walk *walk, const char **keys, const char **new_values, gboolean *is_valid)
{
  guint n = random_below (walk, 5);

  *is_valid = TRUE;
  for (guint i = 0; i < n; i++)
    {
      guint key = random_below (walk, 40);

      keys[i] = key == 39 ? "" : label_keys[key % N_LABELS];
      new_values[i] = random_below (walk, 3) == 0 ? NULL : values[random_below (walk, G_N_ELEMENTS (values))];
      *is_valid = *is_valid && *keys[i] != '\0';
    }
  return n;
}

/* Returns whether the changes change the group. */
static gboolean
apply_labels (ModelGroup *group, const char *const *keys, const char *const *new_values, guint n)
{
  const char *before[N_LABELS];
  gboolean has_changed = FALSE;

  memcpy (before, group->labels, sizeof before);
  for (guint i = 0; i < n; i++)
    for (guint key = 0; key < N_LABELS; key++)
      if (strcmp (label_keys[key], keys[i]) == 0)
        group->labels[key] = new_values[i];
  for (guint key = 0; key < N_LABELS; key++)
    has_changed |= g_strcmp0 (before[key], group->labels[key]) != 0;
  return has_changed;
}

void
set_labels (Walk *walk, const Target *target)
{
  const char *keys[4], *new_values[4];
  gboolean is_valid;
  guint n = random_labels (walk, keys, new_values, &is_valid);
  g_autofree char *name = NULL, *ref = NULL;
  guint64 id;
  Call call = call_begin (walk, target, "set labels");
  g_autoptr (QuoitGroup) group = NULL;
  ModelGroup *known;

  ref = random_ref (walk, target->model, &name, &id);
  known = model_lookup (call.after, name, id, &call.code);
  if (target->fork != NULL)
    group = quoit_fork_set_labels (target->fork, ref, keys, new_values, n, call.now_ms, &call.error);
  else
    group = quoit_ledger_set_labels (target->ledger, ref, keys, new_values, n, call.now_ms, &call.error);
  if (known != NULL && !is_valid)
    call.code = QUOIT_ERROR_INVALID;
  else if (known != NULL && apply_labels (known, keys, new_values, n))
    model_write (call.after, call.now_ms);
  call_end (&call, group != NULL);
}

char *
model_text_difference (const ModelGroup *known, const QuoitGroup *group)
{
  uint32_t n = 0;

  for (guint key = 0; key < N_LABELS; key++)
    {
      if (g_strcmp0 (quoit_group_find_label (group, label_keys[key]), known->labels[key]) != 0)
        return g_strdup_printf ("label %s of group %s is '%s', not '%s'", label_keys[key], known->spec.name,
                                quoit_group_find_label (group, label_keys[key]), known->labels[key]);
      if (known->labels[key] != NULL && strcmp (quoit_group_get_label_key (group, n++), label_keys[key]) != 0)
        return g_strdup_printf ("the labels of group %s are not sorted", known->spec.name);
    }
  if (n != quoit_group_get_n_labels (group))
    return g_strdup_printf ("group %s has %u labels, not %u", known->spec.name, quoit_group_get_n_labels (group), n);
  if (strcmp (quoit_group_get_release_reason (group), known->reason == NULL ? "" : known->reason) != 0)
    return g_strdup_printf ("group %s was released for the reason '%s', not '%s'", known->spec.name,
                            quoit_group_get_release_reason (group), known->reason);
  return NULL;
}
