/* SPDX-License-Identifier: Apache-2.0 */
/* KubeRay's operator on any cluster. The first byte chooses a manifest or a list of groups, the second is its flags.
 * Then follow the cluster and one event per line: "0 3" is event 0 for pod 3, "r 2" sets two replicas of the first
 * group, "s" and "u" suspend and resume it. After each event the operator must converge to the desired pods. */
#include <string.h>

#include <quoit/models/kuberay.h>

#include "fuzz.h"

enum { MOST_PODS = 192, MOST_PASSES = 4 * MOST_PODS, MOST_MUTATED = 8, REFUSED_PODS = 65536 };

/* "name hosts replicas lowest highest chips" */
static void
add_group (QuoitKuberay *kuberay, const char *line)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 6);
  guint n = g_strv_length (words);
  g_autoptr (QuoitWebhookPod) pod = quoit_webhook_pod_new ();
  g_autoptr (GError) error = NULL, of_pod = NULL;
  gint64 numbers[4] = { 1, 1, 0, G_MAXINT32 };
  gboolean ok;

  for (guint i = 1; i < n && i < 5; i++)
    numbers[i - 1] = g_ascii_strtoll (words[i], NULL, 10);
  if (n == 6)
    {
      ok = quoit_webhook_pod_add_container (pod, NULL, words[5], &of_pod);
      fuzz_require_error (ok, of_pod);
      quoit_webhook_pod_set_selector (pod, "cloud.google.com/gke-tpu-topology", "4x4");
    }
  ok = quoit_kuberay_add_group (kuberay, n > 0 ? words[0] : "", numbers[0], n == 6 ? pod : NULL, &error);
  fuzz_require_error (ok, error);
  if (ok)
    {
      guint32 group = quoit_kuberay_get_n_groups (kuberay) - 1;

      quoit_kuberay_set_replicas (kuberay, group, (gint32) numbers[1]);
      quoit_kuberay_set_bounds (kuberay, group, (gint32) numbers[2], (gint32) numbers[3]);
    }
}

static QuoitKuberay *
read_cluster (FuzzInput *in)
{
  gboolean is_manifest = fuzz_byte (in) % 2 == 0;
  guint flags = fuzz_byte (in) % 8;
  g_autofree char *text = fuzz_text (in);
  g_auto (GStrv) lines = NULL;
  g_autoptr (GError) error = NULL;
  QuoitKuberay *kuberay;

  if (is_manifest)
    {
      kuberay = quoit_kuberay_parse_manifest (text, strlen (text), NULL, flags, &error);
      fuzz_require_error (kuberay != NULL, error);
      return kuberay;
    }
  lines = g_strsplit (text, "\n", 6);
  kuberay = quoit_kuberay_new (lines[0] == NULL ? "" : lines[0], flags);
  for (guint i = 1; lines[0] != NULL && lines[i] != NULL; i++)
    add_group (kuberay, lines[i]);
  return kuberay;
}

/* Whether all groups together have few pods, or one has so many that it is refused. */
static gboolean
is_small (const QuoitKuberay *kuberay)
{
  gint64 n = 0;

  for (guint32 i = 0; i < quoit_kuberay_get_n_groups (kuberay); i++)
    {
      gint32 desired = quoit_kuberay_get_n_desired (kuberay, i);

      if (desired <= REFUSED_PODS)
        n += MAX (0, desired);
    }
  return n <= MOST_PODS;
}

static void
require_pods (const QuoitKuberay *kuberay)
{
  g_autoptr (GHashTable) serials = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);

  for (guint32 i = 0; i < quoit_kuberay_get_n_pods (kuberay); i++)
    {
      guint64 serial = quoit_kuberay_get_pod_serial (kuberay, i);
      guint32 group = quoit_kuberay_get_pod_group (kuberay, i);
      g_auto (GStrv) labels = quoit_kuberay_dup_pod_labels (kuberay, i);
      gint64 host = quoit_kuberay_get_pod_host (kuberay, i);

      g_assert (g_hash_table_add (serials, g_memdup2 (&serial, sizeof serial)));
      g_assert (group < quoit_kuberay_get_n_groups (kuberay));
      g_assert (host >= -1 && host < MAX (1, quoit_kuberay_get_group_hosts (kuberay, group)));
      g_assert (labels != NULL && g_strv_length (labels) >= 7);
    }
}

static void
require_patches (const QuoitKuberay *kuberay)
{
  for (guint32 i = 0; i < MIN (MOST_MUTATED, quoit_kuberay_get_n_pods (kuberay)); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (GError) admit_error = NULL;
      g_autoptr (QuoitWebhookPatch) patch = quoit_kuberay_mutate_pod (kuberay, i, &error);
      g_autoptr (QuoitWebhookPod) pod = quoit_kuberay_admit_pod (kuberay, i, &admit_error);

      fuzz_require_error (patch != NULL, error);
      fuzz_require_error (pod != NULL, admit_error);
      g_assert (patch != NULL || pod == NULL);
    }
}

/* A summary of the current pods; pod numbers are never reused. */
static guint64
sum_of_serials (const QuoitKuberay *kuberay)
{
  guint64 sum = quoit_kuberay_get_n_pods (kuberay);

  for (guint32 i = 0; i < quoit_kuberay_get_n_pods (kuberay); i++)
    sum = sum * 31 + quoit_kuberay_get_pod_serial (kuberay, i);
  return sum;
}

/* Runs passes until nothing changes; quoit may report that this never happens. FALSE if refused. */
static gboolean
reconcile (QuoitKuberay *kuberay)
{
  for (guint pass = 0; pass < MOST_PASSES; pass++)
    {
      const char *requeued = "untouched";
      g_autoptr (GError) error = NULL;
      guint64 before = sum_of_serials (kuberay);
      gboolean ok = quoit_kuberay_reconcile (kuberay, &requeued, &error);

      fuzz_require_error (ok, error);
      if (!ok)
        {
          g_assert (strcmp (requeued, "untouched") == 0 && sum_of_serials (kuberay) == before);
          return FALSE;
        }
      require_pods (kuberay);
      g_assert (requeued == NULL || *requeued != '\0');
      if (sum_of_serials (kuberay) == before)
        return TRUE;
    }
  g_assert_not_reached ();
}

static void
happen (QuoitKuberay *kuberay, const char *line)
{
  guint32 n_pods = quoit_kuberay_get_n_pods (kuberay);
  gint64 number = line[0] == '\0' || line[1] == '\0' ? 0 : g_ascii_strtoll (line + 2, NULL, 10);

  if (*line >= '0' && *line <= '4' && n_pods > 0)
    quoit_kuberay_mark_pod (kuberay, (guint32) ((guint64) number % n_pods), (QuoitKuberayEvent) (*line - '0'));
  else if (*line == 'r')
    quoit_kuberay_set_replicas (kuberay, 0, (gint32) number);
  else if (*line == 's')
    quoit_kuberay_suspend_group (kuberay, 0);
  else if (*line == 'u')
    quoit_kuberay_resume_group (kuberay, 0);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autoptr (QuoitKuberay) kuberay = read_cluster (&in);
  g_autofree char *steps = fuzz_text (&in);
  g_auto (GStrv) lines = g_strsplit (steps, "\n", 16);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  if (kuberay == NULL || quoit_kuberay_get_n_groups (kuberay) == 0)
    return 0;
  ok = quoit_kuberay_check_names (kuberay, &error);
  fuzz_require_error (ok, error);
  for (char **line = lines; is_small (kuberay) && reconcile (kuberay); line++)
    {
      require_patches (kuberay);
      if (*line == NULL)
        break;
      happen (kuberay, *line);
    }
  return 0;
}
