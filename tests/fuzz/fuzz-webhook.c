/* SPDX-License-Identifier: Apache-2.0 */
/* The TPU webhook's answers for any pod. Fields: lines of labels and selectors, lines of containers, the worker ids
 * of existing pods, numOfHosts. Each variable is written once, and the host's name is in the list. */
#include <quoit/models/webhook.h>
#include <string.h>

#include "fuzz.h"

static const char *const labels[] = { "ray.io/cluster", "ray.io/group", "ray.io/worker-group-replica-index",
                                      "ray.io/replica-host-index", "ray.io/worker-group-replica-name" };
static const char *const selectors[] = { "cloud.google.com/gke-tpu-topology", "cloud.google.com/gke-tpu-accelerator" };
static const char *const names[]
    = { "TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES", "TPU_PROCESS_ADDRESSES", "TPU_PROCESS_PORT",
        "TPU_NAME",      "MEGASCALE_NUM_SLICES", "MEGASCALE_SLICE_ID",    "MEGASCALE_PORT" };

/* "0=c" is the first label, "a=4x4" the first selector. */
static void
read_texts (QuoitWebhookPod *pod, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    {
      guint label = (guint) (**line - '0'), selector = (guint) (**line - 'a');

      if (strlen (*line) < 2)
        continue;
      if (label < G_N_ELEMENTS (labels))
        quoit_webhook_pod_set_label (pod, labels[label], *line + 2);
      if (selector < G_N_ELEMENTS (selectors))
        quoit_webhook_pod_set_selector (pod, selectors[selector], *line + 2);
    }
}

/* "r4" and "l4" are containers by request and limit; "0=x" is a variable of the last container, "0" one without a
 * value of its own. */
static guint
read_containers (QuoitWebhookPod *pod, const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  guint n = 0;

  for (char **line = lines; *line != NULL; line++)
    {
      guint name = (guint) (**line - '0');
      g_autoptr (GError) error = NULL;
      gboolean ok = TRUE;

      if (**line == 'r' || **line == 'l')
        {
          ok = quoit_webhook_pod_add_container (pod, **line == 'r' ? *line + 1 : NULL, **line == 'l' ? *line + 1 : NULL,
                                                &error);
          n += ok;
        }
      else if (n > 0 && name < G_N_ELEMENTS (names))
        quoit_webhook_pod_add_variable (pod, names[name], (*line)[1] == '=' ? *line + 2 : NULL);
      fuzz_require_error (ok, error);
    }
  return n;
}

static QuoitWebhookPod *
read_pod (const char *texts, const char *containers, guint *n_containers)
{
  QuoitWebhookPod *pod = quoit_webhook_pod_new ();

  read_texts (pod, texts);
  *n_containers = read_containers (pod, containers);
  return pod;
}

/* "g-0:1": the label replicaIndex and a worker id. */
static GPtrArray *
read_others (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  GPtrArray *others = g_ptr_array_new ();

  for (char **line = lines; *line != NULL && **line != '\0'; line++)
    {
      g_auto (GStrv) parts = g_strsplit (*line, ":", 2);
      QuoitWebhookPod *pod = quoit_webhook_pod_new ();

      quoit_webhook_pod_set_label (pod, "replicaIndex", parts[0]);
      quoit_webhook_pod_add_container (pod, NULL, "4", NULL);
      if (parts[1] != NULL)
        quoit_webhook_pod_add_variable (pod, "TPU_WORKER_ID", parts[1]);
      g_ptr_array_add (others, pod);
    }
  return others;
}

static const char *
value_of (const QuoitWebhookPatch *patch, guint32 container, const char *name)
{
  const char *value = NULL;

  for (guint32 i = 0; i < quoit_webhook_patch_get_n_variables (patch, container); i++)
    if (strcmp (quoit_webhook_patch_get_variable_name (patch, container, i), name) == 0)
      {
        g_assert (value == NULL);
        value = quoit_webhook_patch_get_variable_value (patch, container, i);
        g_assert (value != NULL || quoit_webhook_patch_get_variable_field (patch, container, i) != NULL);
      }
  return value;
}

static void
require_patch (const QuoitWebhookPatch *patch, guint n_containers)
{
  gboolean has_name = quoit_webhook_patch_get_hostname (patch) != NULL;

  g_assert (has_name == (quoit_webhook_patch_get_subdomain (patch) != NULL));
  for (int term = QUOIT_WEBHOOK_TERM_TOGETHER; term <= QUOIT_WEBHOOK_TERM_NAMESPACES; term++)
    g_assert (has_name == (quoit_webhook_patch_get_affinity (patch, (QuoitWebhookTerm) term, 0) != NULL));
  for (guint32 c = 0; c < n_containers; c++)
    for (guint i = 0; i < G_N_ELEMENTS (names); i++)
      value_of (patch, c, names[i]);
  g_assert (quoit_webhook_patch_get_n_variables (patch, n_containers) == 0);
}

/* The webhook finds a variable without a value before the value that it appended, and so considers it missing again. */
static gboolean
has_empty_variables (const char *text)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  for (char **line = lines; *line != NULL; line++)
    if ((guint) (**line - '0') < G_N_ELEMENTS (names) && ((*line)[1] != '=' || (*line)[2] == '\0'))
      return TRUE;
  return FALSE;
}

/* Mutates the patched pod again, which must not add the ports a second time. */
static void
require_again (QuoitWebhookPod *pod, const QuoitWebhookPatch *patch, guint n_containers)
{
  g_autoptr (QuoitWebhookPatch) again = NULL;

  quoit_webhook_pod_apply (pod, patch);
  again = quoit_webhook_mutate (pod, NULL, NULL);
  for (guint32 c = 0; again != NULL && c < n_containers; c++)
    {
      g_assert (value_of (again, c, "TPU_PROCESS_PORT") == NULL);
      g_assert (value_of (again, c, "MEGASCALE_PORT") == NULL);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *texts = fuzz_text (&in), *containers = fuzz_text (&in), *there = fuzz_text (&in);
  g_autofree char *hosts = fuzz_text (&in);
  g_autoptr (GError) of_check = NULL, of_patch = NULL;
  const char *denial = "untouched";
  guint n_containers;
  g_autoptr (QuoitWebhookPod) pod = read_pod (texts, containers, &n_containers);
  g_autoptr (GPtrArray) others = read_others (there);
  g_autoptr (QuoitWebhookPatch) patch = NULL;
  gboolean ok = quoit_webhook_check_group (pod, g_ascii_strtoll (hosts, NULL, 10), &denial, &of_check);

  fuzz_require_error (ok, of_check);
  g_assert (ok || strcmp (denial, "untouched") == 0);
  g_ptr_array_add (others, NULL);
  patch = quoit_webhook_mutate (pod, (const QuoitWebhookPod *const *) others->pdata, &of_patch);
  fuzz_require_error (patch != NULL, of_patch);
  if (patch != NULL)
    {
      require_patch (patch, n_containers);
      if (!has_empty_variables (containers))
        require_again (pod, patch, n_containers);
    }
  for (guint i = 0; i < others->len; i++)
    quoit_webhook_pod_free (others->pdata[i]);
  return 0;
}
