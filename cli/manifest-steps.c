/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what KubeRay's operator does after steps that happen to the pods of a manifest: for each pass, a row for each
 * replica that it creates or deletes. */
#include "manifest-env.h"

#include <string.h>

enum { MAX_PASSES = 1000 }; /* after each step */

static const char expected_step[]
    = "fail=REPLICA.HOST, end=..., restart=..., lose=..., delete=..., replicas=N, suspend or resume";

static const Column pass_columns[] = {
  { "step", "step", CELL_TEXT },
  { "pass", "pass", CELL_NUMBER },
  { "change", "change", CELL_TEXT },
  { "replica", "replica", CELL_NUMBER },
  { "n_pods", "pods", CELL_NUMBER },
  { "incarnation", "incarnation", CELL_NUMBER },
  { "is_arbitrary", "or another", CELL_FLAG },
  { "says", "operator", CELL_TEXT },
};

typedef struct {
  QuoitKuberay *kuberay;
  uint32_t group;
  const char *step;           /* the current step */
  gint64 pass;                /* the current pass after that step, from 1 */
  const char *requeue_reason; /* why the operator ended the pass early; NULL: it did not */
  Table *rows;
} Run;

/* --- differences between passes --- */

typedef struct {
  guint64 serial;
  gint64 replica, incarnation;
} PodRecord;

/* Lists the pods of the group, ordered by replica. */
static GArray *
list_pods (const Run *run)
{
  GArray *pods = g_array_new (FALSE, FALSE, sizeof (PodRecord));

  for (uint32_t i = 0; i < quoit_kuberay_get_n_pods (run->kuberay); i++)
    {
      PodRecord pod = { quoit_kuberay_get_pod_serial (run->kuberay, i), quoit_kuberay_get_pod_replica (run->kuberay, i),
                        quoit_kuberay_get_pod_incarnation (run->kuberay, i) };

      if (quoit_kuberay_get_pod_group (run->kuberay, i) == run->group)
        g_array_append_val (pods, pod);
    }
  return pods;
}

static GHashTable *
pod_serials (const GArray *pods)
{
  GHashTable *serials = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint i = 0; i < pods->len; i++)
    g_hash_table_add (serials, &g_array_index (pods, PodRecord, i).serial);
  return serials;
}

static void
add_row (const Run *run, const char *change, const PodRecord *pod, guint n_pods)
{
  table_add_text (run->rows, run->step);
  table_add_number (run->rows, run->pass);
  table_add_text (run->rows, change);
  manifest_add_index (run->rows, pod->replica);
  table_add_number (run->rows, n_pods);
  manifest_add_index (run->rows, pod->incarnation);
  table_add_flag (run->rows, g_str_equal (change, "deleted") && quoit_kuberay_is_deletion_arbitrary (run->kuberay));
  table_add_text (run->rows, run->requeue_reason);
}

/* Adds a row for each replica with pods that are in @pods but not in @others. Returns the number of such pods. */
static guint
add_rows (const Run *run, const char *change, const GArray *pods, const GArray *others)
{
  g_autoptr (GHashTable) known = pod_serials (others);
  const PodRecord *first = NULL;
  guint n_changed = 0, n_pods = 0;

  for (guint i = 0; i < pods->len; i++)
    {
      const PodRecord *pod = &g_array_index (pods, PodRecord, i);

      if (g_hash_table_contains (known, &pod->serial))
        continue;
      if (first != NULL && (first->replica != pod->replica || first->incarnation != pod->incarnation))
        {
          add_row (run, change, first, n_pods);
          n_pods = 0;
        }
      first = pod;
      n_pods++;
      n_changed++;
    }
  if (first != NULL)
    add_row (run, change, first, n_pods);
  return n_changed;
}

static void
add_empty_pass (const Run *run)
{
  static const PodRecord no_pod = { 0, -1, -1 };

  add_row (run, run->requeue_reason == NULL ? "none" : "ended", &no_pod, 0);
}

/* Runs passes until one changes nothing. That last pass is printed only if it is the first. */
static bool
run_passes (Run *run, GError **error)
{
  for (run->pass = 1; run->pass <= MAX_PASSES; run->pass++)
    {
      g_autoptr (GArray) before = list_pods (run), after = NULL;
      guint n_changes;

      if (!quoit_kuberay_reconcile (run->kuberay, &run->requeue_reason, error))
        return false;
      after = list_pods (run);
      n_changes = add_rows (run, "deleted", before, after);
      n_changes += add_rows (run, "created", after, before);
      if (n_changes > 0)
        continue;
      if (run->pass == 1)
        add_empty_pass (run);
      return true;
    }
  return true;
}

/* --- steps --- */

static const struct {
  const char *verb;
  QuoitKuberayEvent event;
} events[] = {
  { "fail", QUOIT_KUBERAY_EVENT_FAILED },       { "end", QUOIT_KUBERAY_EVENT_ENDED },
  { "restart", QUOIT_KUBERAY_EVENT_RESTARTED }, { "lose", QUOIT_KUBERAY_EVENT_GONE },
  { "delete", QUOIT_KUBERAY_EVENT_TO_DELETE },
};

static bool
refuse_step (const Run *run, GError **error)
{
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--then '%s': expected %s", run->step, expected_step);
  return false;
}

/* Marks the pod "REPLICA.HOST", or "REPLICA" for host 0. */
static bool
mark_pod (const Run *run, QuoitKuberayEvent event, const char *place, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (place, ".", 3);
  guint64 replica, host = 0;

  if (parts[0] == NULL || !g_ascii_string_to_unsigned (parts[0], 10, 0, G_MAXINT32, &replica, NULL)
      || (parts[1] != NULL && !g_ascii_string_to_unsigned (parts[1], 10, 0, G_MAXINT32, &host, NULL))
      || (parts[1] != NULL && parts[2] != NULL))
    return refuse_step (run, error);
  for (uint32_t i = 0; i < quoit_kuberay_get_n_pods (run->kuberay); i++)
    if (quoit_kuberay_get_pod_group (run->kuberay, i) == run->group
        && quoit_kuberay_get_pod_replica (run->kuberay, i) == (gint64) replica
        && MAX (quoit_kuberay_get_pod_host (run->kuberay, i), 0) == (gint64) host)
      {
        quoit_kuberay_mark_pod (run->kuberay, i, event);
        return true;
      }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
               "--then '%s': no pod has that replica and host index when the step happens", run->step);
  return false;
}

static bool
set_replicas (const Run *run, const char *text, GError **error)
{
  guint64 replicas;

  if (!g_ascii_string_to_unsigned (text, 10, 0, G_MAXINT32, &replicas, NULL))
    return refuse_step (run, error);
  quoit_kuberay_set_replicas (run->kuberay, run->group, (int32_t) replicas);
  return true;
}

static bool
run_step (const Run *run, GError **error)
{
  const char *value = strchr (run->step, '=');
  g_autofree char *verb = value == NULL ? g_strdup (run->step) : g_strndup (run->step, (gsize) (value - run->step));

  if (value == NULL && g_str_equal (verb, "suspend"))
    quoit_kuberay_suspend_group (run->kuberay, run->group);
  else if (value == NULL && g_str_equal (verb, "resume"))
    quoit_kuberay_resume_group (run->kuberay, run->group);
  else if (value != NULL && g_str_equal (verb, "replicas"))
    return set_replicas (run, value + 1, error);
  else
    {
      for (guint i = 0; value != NULL && i < G_N_ELEMENTS (events); i++)
        if (g_str_equal (verb, events[i].verb))
          return mark_pod (run, events[i].event, value + 1, error);
      return refuse_step (run, error);
    }
  return true;
}

bool
manifest_print_steps (Session *session, QuoitKuberay *kuberay, uint32_t group, char **steps, const GPtrArray *problems,
                      GError **error)
{
  g_autoptr (Table) rows = table_new (pass_columns, G_N_ELEMENTS (pass_columns));
  Run run = { .kuberay = kuberay, .group = group, .rows = rows };
  Document *document;

  for (char **step = steps; *step != NULL; step++)
    {
      run.step = *step;
      if (!run_step (&run, error) || !run_passes (&run, error))
        return false;
    }
  document = document_new ();
  document_take_table (document, "passes", NULL, g_steal_pointer (&rows));
  if (session_wants_json (session))
    document_take_table (document, "problems", NULL, manifest_list_problems (problems));
  return session_print (session, document, error);
}
