/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the cluster that KubeRay's operator and the TPU webhook create from a manifest. */
#include <quoit/models/kuberay.h>

#include "base/label-names.h"
#include "formats/kuberay.h"
#include "models/kuberay/kuberay.h"

static QuoitWebhookPod *
template_pod (const QuoitKuberayGroupSpec *template)
{
  QuoitWebhookPod *pod = quoit_webhook_pod_new ();

  quoit_webhook_pod_set_selector (pod, QUOIT_GKE_LABEL_ACCELERATOR, template->accelerator);
  quoit_webhook_pod_set_selector (pod, QUOIT_GKE_LABEL_TOPOLOGY, template->topology);
  for (guint i = 0; i < template->containers->len; i++)
    quoit_webhook_copy_container (quoit_webhook_container (template->containers, i), pod->containers);
  return pod;
}

static gboolean
add_group (QuoitKuberay *kuberay, const QuoitKuberayManifest *manifest, guint32 index, GError **error)
{
  const QuoitKuberayGroupSpec *template = &g_array_index (manifest->groups, QuoitKuberayGroupSpec, index);
  g_autoptr (QuoitWebhookPod) pod = template_pod (template);

  if (!quoit_kuberay_add_group (kuberay, template->name, template->hosts, pod, error))
    return FALSE;

  quoit_kuberay_set_replicas (kuberay, index, template->replicas);
  quoit_kuberay_set_bounds (kuberay, index, template->min_replicas, template->max_replicas);
  if (manifest->is_suspended || template->is_suspended)
    quoit_kuberay_suspend_group (kuberay, index);
  return TRUE;
}

QuoitKuberay *
quoit_kuberay_parse_manifest (const char *text, size_t length, const char *const *variables, uint32_t flags,
                              GError **error)
{
  g_autoptr (QuoitKuberayManifest) manifest = NULL;
  g_autoptr (QuoitKuberay) kuberay = NULL;

  g_return_val_if_fail (text != NULL, NULL);

  manifest = quoit_kuberay_manifest_read (text, length, variables, error);
  if (manifest == NULL)
    return NULL;

  kuberay = quoit_kuberay_new (manifest->cluster,
                               flags | (manifest->has_autoscaler ? (uint32_t) QUOIT_KUBERAY_AUTOSCALING : 0));
  kuberay->is_assumed = manifest->is_assumed;
  for (guint32 i = 0; i < manifest->groups->len; i++)
    if (!add_group (kuberay, manifest, i, error))
      return NULL;
  for (guint i = 0; i < manifest->notes->len; i++)
    g_ptr_array_add (kuberay->notes, g_strdup (manifest->notes->pdata[i]));
  return g_steal_pointer (&kuberay);
}
