/* SPDX-License-Identifier: Apache-2.0 */
/* Hosts of any environment: their identity, their node's resources, the chips that a process sees. Fields: lines of
 * environment, lines of metadata, chip ids between commas, the amount of a custom resource TPU. Returned
 * texts are UTF-8. */
#include <quoit/models/ray-host.h>
#include <string.h>

#include "fuzz.h"

static const char *const names[] = { "TPU_ACCELERATOR_TYPE", "TPU_NAME",
                                     "TPU_WORKER_ID",        "TPU_TOPOLOGY",
                                     "TPU_VISIBLE_CHIPS",    "RAY_TPU_RESOURCE_PER_CHIP",
                                     "RAY_OVERRIDE_LABELS",  "RAY_OVERRIDE_RESOURCES" };
static const char *const keys[] = { "accelerator-type", "instance-id", "agent-worker-number", "tpu-env" };

/* "0=v6e-16" sets the first of the names; other lines are used unchanged if they are variables. */
static char **
read_lines (const char *text, const char *const *known, guint n_known)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autoptr (GStrvBuilder) builder = g_strv_builder_new ();

  for (char **line = lines; *line != NULL; line++)
    {
      g_autofree char *variable = NULL;
      guint place = (guint) (**line - '0');

      if (strchr (*line, '=') == NULL)
        continue;
      variable = place < n_known && (*line)[1] == '=' ? g_strconcat (known[place], *line + 1, NULL) : g_strdup (*line);
      g_strv_builder_add (builder, variable);
    }
  return g_strv_builder_end (builder);
}

static void
require_text (const char *text)
{
  g_assert (text == NULL || g_utf8_validate (text, -1, NULL));
}

static void
require_host (const char *const *env, const char *const *metadata)
{
  g_autoptr (QuoitRayHost) host = quoit_ray_host_new (env, metadata);
  const char *pod_type = quoit_ray_host_get_pod_type (host), *id = quoit_ray_host_get_worker_id (host);
  const QuoitRayResources *resources = quoit_ray_host_get_resources (host);
  int64_t n_workers = -77;
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_ray_pod_workers (pod_type, 4, &n_workers, &error);

  require_text (quoit_ray_host_get_slice_name (host));
  require_text (quoit_ray_host_get_topology (host));
  require_text (quoit_ray_host_get_accelerator_type (host));
  fuzz_require_error (ok, error);
  g_assert (ok ? n_workers >= 0 && pod_type != NULL : n_workers == -77);
  g_assert ((pod_type == NULL) == (quoit_ray_host_get_accelerator_type (host) == NULL));
  g_assert (pod_type == NULL || *pod_type == 'v');
  g_assert (id == NULL || strspn (id, "-0123456789") == strlen (id));
  g_assert ((resources != NULL) == (pod_type != NULL && id != NULL && quoit_ray_host_get_slice_name (host) != NULL));
  if (resources != NULL && quoit_ray_resources_get_name (resources, 1) != NULL)
    g_assert (strcmp (id, "0") == 0);
}

static void
require_node (const char *const *env, const char *const *metadata, const char *tpu_amount)
{
  g_autoptr (QuoitRayResources) custom = quoit_ray_resources_new ();
  g_autoptr (QuoitRayNode) node = NULL;
  g_autoptr (GError) error = NULL;
  const char *name;

  if (*tpu_amount != '\0')
    quoit_ray_resources_set (custom, "TPU", g_ascii_strtod (tpu_amount, NULL));
  node = quoit_ray_node_new ("a", env, metadata, NULL, custom, NULL, 4, &error);
  fuzz_require_error (node != NULL, error);
  for (unsigned i = 0;
       node != NULL && (name = quoit_ray_resources_get_name (quoit_ray_node_get_resources (node), i)) != NULL; i++)
    {
      double amount = quoit_ray_resources_get_amount (quoit_ray_node_get_resources (node), i);

      require_text (name);
      g_assert (amount > 0 && amount <= 1e14 && amount == (double) (int64_t) amount);
    }
}

/* A failure sets nothing; a successful result can be read back. */
static void
require_chips (const char *const *env, const char *ids)
{
  g_auto (GStrv) list = g_strsplit (ids, ",", -1), after = NULL, seen = NULL;
  g_autoptr (GError) error = NULL, seen_error = NULL;

  after = quoit_ray_visible_env ((const char *const *) list, 5, env, &error);
  fuzz_require_error (after != NULL, error);
  seen = quoit_ray_visible_ids (env, &seen_error);
  g_assert (seen == NULL || seen_error == NULL);
  if (seen_error != NULL)
    fuzz_require_error (FALSE, seen_error);
  for (char **id = seen; id != NULL && *id != NULL; id++)
    require_text (*id);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *env_lines = fuzz_text (&in), *metadata_lines = fuzz_text (&in), *ids = fuzz_text (&in),
                  *tpu_amount = fuzz_text (&in);
  g_auto (GStrv) env = read_lines (env_lines, names, G_N_ELEMENTS (names));
  g_auto (GStrv) metadata = read_lines (metadata_lines, keys, G_N_ELEMENTS (keys));

  require_host ((const char *const *) env, (const char *const *) metadata);
  require_node ((const char *const *) env, (const char *const *) metadata, tpu_amount);
  require_chips ((const char *const *) env, ids);
  return 0;
}
