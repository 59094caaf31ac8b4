/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what a TPU host is: pod type, slice name, worker id and topology. Like Ray, it reads the environment
 * variables of the host first, and then the values of the metadata server of the VM. */
#include "models/ray/ray.h"

#include <quoit/models/ray-host.h>
#include <string.h>

#include "base/label-names.h"
#include "base/python.h"

struct _QuoitRayHost {
  char *pod_type, *slice_name, *worker_id, *topology, *accelerator_type; /* NULL: unknown */
  QuoitRayResources *resources;                                          /* NULL: none */
  QuoitRayLabels *labels;
};

/* Returns the value of the variable, or else that of the metadata key, or NULL. The caller owns it. An empty text
 * counts as missing. */
static char *
get_setting (const char *const *env, const char *variable, const char *const *metadata, const char *key)
{
  const char *value = g_environ_getenv ((char **) env, variable);

  if (value == NULL || *value == '\0')
    value = g_environ_getenv ((char **) metadata, key);

  return value != NULL && *value != '\0' ? g_utf8_make_valid (value, -1) : NULL;
}

/* Returns NULL if the type in the environment is invalid, even if the metadata has a valid one. */
static char *
read_pod_type (const char *const *env, const char *const *metadata)
{
  g_autofree char *type = get_setting (env, "TPU_ACCELERATOR_TYPE", metadata, "accelerator-type");

  return type != NULL && quoit_ray_type_is_valid (type) ? quoit_ray_normalize_type (type) : NULL;
}

static char *
read_worker_id (const char *const *env, const char *const *metadata)
{
  g_autofree char *text = get_setting (env, "TPU_WORKER_ID", metadata, "agent-worker-number");
  g_autoptr (QuoitBig) id = text != NULL ? quoit_python_int (text, "worker id", NULL) : NULL;

  return id != NULL ? quoit_big_format (id) : NULL;
}

/* Returns the topology in a text that contains "TOPOLOGY: '4x4'". The first match with a nonempty quoted text counts.
 * As in Ray, "TOPOLOGY" may be the end of a longer word. */
static char *
parse_tpu_env (const char *tpu_env)
{
  static const char word[] = "TOPOLOGY:";

  for (const char *p = tpu_env; (p = strstr (p, word)) != NULL;)
    {
      const char *end;

      for (p += strlen (word); quoit_python_is_blank (g_utf8_get_char (p));)
        p = g_utf8_next_char (p);
      if (*p != '\'')
        continue;
      end = strchr (p + 1, '\'');
      if (end != NULL && end > p + 1)
        return g_strndup (p + 1, (gsize) (end - p - 1));
    }
  return NULL;
}

static char *
read_topology (const char *const *env, const char *const *metadata)
{
  g_autofree char *given = get_setting (env, "TPU_TOPOLOGY", NULL, ""), *text = NULL;

  if (given == NULL)
    {
      text = get_setting (NULL, "", metadata, "tpu-env");
      given = text != NULL ? parse_tpu_env (text) : NULL;
    }
  return given != NULL ? quoit_python_strip_and_lower (given) : NULL;
}

static char *
format_accelerator_type (const char *pod_type)
{
  g_autofree char *version = NULL, *upper = NULL;

  if (pod_type == NULL)
    return NULL;

  version = g_strndup (pod_type, strcspn (pod_type, "-"));
  upper = g_ascii_strup (version, -1);
  return g_strconcat ("TPU-", upper, NULL);
}

/* Returns the resources that Ray adds to those of a host of a slice, or NULL. All hosts of the slice have a resource
 * with the name of the slice; only worker 0 has the head resource. */
static QuoitRayResources *
new_resources (const QuoitRayHost *host)
{
  QuoitRayResources *resources;

  if (host->slice_name == NULL || host->worker_id == NULL || host->pod_type == NULL)
    return NULL;

  resources = quoit_ray_resources_new ();
  quoit_ray_resources_set (resources, host->slice_name, 1);
  if (strcmp (host->worker_id, "0") == 0)
    {
      g_autofree char *head = g_strdup_printf ("TPU-%s-head", host->pod_type);

      quoit_ray_resources_set (resources, head, 1);
    }
  return resources;
}

static QuoitRayLabels *
new_labels (const QuoitRayHost *host)
{
  const struct {
    const char *key, *value;
  } rows[] = {
    { QUOIT_RAY_LABEL_SLICE_NAME, host->slice_name },
    { QUOIT_RAY_LABEL_WORKER_ID, host->worker_id },
    { QUOIT_RAY_LABEL_TOPOLOGY, host->topology },
    { QUOIT_RAY_LABEL_POD_TYPE, host->pod_type },
  };
  QuoitRayLabels *labels = quoit_ray_labels_new ();

  for (unsigned i = 0; i < G_N_ELEMENTS (rows); i++)
    if (rows[i].value != NULL && *rows[i].value != '\0')
      quoit_ray_labels_set (labels, rows[i].key, rows[i].value);
  return labels;
}

QuoitRayHost *
quoit_ray_host_new (const char *const *env, const char *const *metadata)
{
  QuoitRayHost *host = g_new0 (QuoitRayHost, 1);

  host->pod_type = read_pod_type (env, metadata);
  host->slice_name = get_setting (env, "TPU_NAME", metadata, "instance-id");
  host->worker_id = read_worker_id (env, metadata);
  host->topology = read_topology (env, metadata);
  host->accelerator_type = format_accelerator_type (host->pod_type);
  host->resources = new_resources (host);
  host->labels = new_labels (host);
  return host;
}

void
quoit_ray_host_free (QuoitRayHost *host)
{
  if (host == NULL)
    return;

  g_free (host->pod_type);
  g_free (host->slice_name);
  g_free (host->worker_id);
  g_free (host->topology);
  g_free (host->accelerator_type);
  quoit_ray_resources_free (host->resources);
  quoit_ray_labels_free (host->labels);
  g_free (host);
}

const char *
quoit_ray_host_get_pod_type (const QuoitRayHost *host)
{
  return host->pod_type;
}

const char *
quoit_ray_host_get_slice_name (const QuoitRayHost *host)
{
  return host->slice_name;
}

const char *
quoit_ray_host_get_worker_id (const QuoitRayHost *host)
{
  return host->worker_id;
}

const char *
quoit_ray_host_get_topology (const QuoitRayHost *host)
{
  return host->topology;
}

const char *
quoit_ray_host_get_accelerator_type (const QuoitRayHost *host)
{
  return host->accelerator_type;
}

const QuoitRayResources *
quoit_ray_host_get_resources (const QuoitRayHost *host)
{
  return host->resources;
}

const QuoitRayLabels *
quoit_ray_host_get_labels (const QuoitRayHost *host)
{
  return host->labels;
}

static QuoitBig *
divide_up (const QuoitBig *number, int64_t divisor)
{
  g_autoptr (QuoitBig) minus_one = quoit_big_from_int (-1), negative = quoit_big_multiply (number, minus_one);
  g_autoptr (QuoitBig) quotient = NULL;
  int64_t rest;

  quotient = quoit_big_divide (negative, divisor, &rest);
  return quoit_big_multiply (quotient, minus_one);
}

bool
quoit_ray_pod_workers (const char *pod_type, int64_t n_chips, int64_t *n_workers, GError **error)
{
  g_autoptr (QuoitBig) cores = NULL, chips = NULL, workers = NULL;
  g_auto (GStrv) parts = NULL;
  int64_t cores_per_chip;

  if (!quoit_ray_cores_per_chip (pod_type, &cores_per_chip, error))
    return FALSE;
  if (n_chips <= 0)
    return *n_workers = -1, TRUE;

  parts = g_strsplit (pod_type, "-", -1);
  cores = quoit_python_int (parts[1] != NULL ? parts[1] : "", "number of cores", error);
  if (cores == NULL)
    return FALSE;

  /* Two divisions, because the product of chips and cores may exceed 64 bits. */
  chips = divide_up (cores, cores_per_chip);
  workers = divide_up (chips, n_chips);
  if (!quoit_big_to_int (workers, n_workers))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "pod type '%s': expected a number of workers that fits in 64 bits",
                       pod_type);

  return TRUE;
}
