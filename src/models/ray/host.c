/* SPDX-License-Identifier: Apache-2.0 */
/* The identity of a TPU host, from its environment or else from the metadata server. */
#include "models/ray/ray.h"

#include <quoit/models/ray-host.h>
#include <string.h>

#include "base/python.h"

struct _QuoitRayHost {
  char *pod_type, *slice_name, *worker_id, *topology, *accelerator_type; /* NULL: unknown */
  QuoitRayResources *resources;                                          /* NULL: none */
  QuoitRayLabels *labels;
};

/* Returns the value of the variable, or else of the metadata key; free it with g_free(). An empty text counts as
 * missing. */
static char *
told (const char *const *env, const char *variable, const char *const *metadata, const char *key)
{
  const char *value = g_environ_getenv ((char **) env, variable);

  if (value == NULL || *value == '\0')
    value = g_environ_getenv ((char **) metadata, key);

  return value != NULL && *value != '\0' ? g_utf8_make_valid (value, -1) : NULL;
}

/* An invalid type in the environment hides the type in the metadata. */
static char *
pod_type_of (const char *const *env, const char *const *metadata)
{
  g_autofree char *type = told (env, "TPU_ACCELERATOR_TYPE", metadata, "accelerator-type");

  return type != NULL && quoit_ray_type_is_valid (type) ? quoit_ray_normalize_type (type) : NULL;
}

static char *
worker_id_of (const char *const *env, const char *const *metadata)
{
  g_autofree char *text = told (env, "TPU_WORKER_ID", metadata, "agent-worker-number");
  g_autoptr (QuoitBig) id = text != NULL ? quoit_python_int (text, "worker id", NULL) : NULL;

  return id != NULL ? quoit_big_format (id) : NULL;
}

/* Returns the topology in "TOPOLOGY: '4x4'": the first one with a nonempty quoted text. As in Ray, the word may be
 * the end of a longer word. */
static char *
topology_in (const char *tpu_env)
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
topology_of (const char *const *env, const char *const *metadata)
{
  g_autofree char *given = told (env, "TPU_TOPOLOGY", NULL, ""), *text = NULL;

  if (given == NULL)
    {
      text = told (NULL, "", metadata, "tpu-env");
      given = text != NULL ? topology_in (text) : NULL;
    }
  return given != NULL ? quoit_python_strip_and_lower (given) : NULL;
}

static char *
accelerator_type_of (const char *pod_type)
{
  g_autofree char *version = NULL, *upper = NULL;

  if (pod_type == NULL)
    return NULL;

  version = g_strndup (pod_type, strcspn (pod_type, "-"));
  upper = g_ascii_strup (version, -1);
  return g_strconcat ("TPU-", upper, NULL);
}

/* The resource with the slice's name is on all hosts of the slice. The head resource is only on the host with worker
 * id 0. */
static QuoitRayResources *
resources_of (const QuoitRayHost *host)
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
labels_of (const QuoitRayHost *host)
{
  const struct {
    const char *key, *value;
  } rows[] = {
    { "ray.io/tpu-slice-name", host->slice_name },
    { "ray.io/tpu-worker-id", host->worker_id },
    { "ray.io/tpu-topology", host->topology },
    { "ray.io/tpu-pod-type", host->pod_type },
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

  host->pod_type = pod_type_of (env, metadata);
  host->slice_name = told (env, "TPU_NAME", metadata, "instance-id");
  host->worker_id = worker_id_of (env, metadata);
  host->topology = topology_of (env, metadata);
  host->accelerator_type = accelerator_type_of (host->pod_type);
  host->resources = resources_of (host);
  host->labels = labels_of (host);
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

int
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
    return quoit_fail (error, QUOIT_ERROR_INVALID, "pod type '%s': expected fewer workers than 64 bits count",
                       pod_type);

  return TRUE;
}
