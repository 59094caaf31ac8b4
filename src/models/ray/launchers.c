/* SPDX-License-Identifier: Apache-2.0 */
/* Pod types in the programs that start nodes for Ray: the autoscaler of KubeRay on GKE, and the cluster launcher on
 * GCE. */
#include "models/ray/ray.h"

#include <quoit/models/ray-host.h>
#include <string.h>

#include "base/python.h"

char *
quoit_ray_gke_pod_type (const char *topology, const char *accelerator, GError **error)
{
  const QuoitGkeLabel *label;
  QuoitGeneration generation;

  for (unsigned i = 0; (label = quoit_gke_label_row (i)) != NULL; i++)
    if (label->is_known_to_ray && g_strcmp0 (label->label, accelerator) == 0
        && quoit_generation_parse (label->generation_id, &generation, NULL))
      return quoit_ray_pod_type (topology, quoit_generation_facts (generation)->ray_version, error);

  return NULL;
}

static gboolean
refuse (const char *what, const char *value, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (value);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected %s", what, quoted, expected);
}

/* Returns whether @type is "V" and a generation, such as "V4" or "V6E". */
static gboolean
is_generation (const char *type)
{
  const char *end = *type == 'V' ? quoit_ray_skip_generation (type + 1) : NULL;

  return end != NULL && quoit_python_is_end (end);
}

/* Returns whether @topology is two or three numbers joined by 'x'. */
static gboolean
is_shape (const char *topology)
{
  const char *p = quoit_python_skip_digits (topology);
  unsigned n = 1;

  for (; p != NULL && *p == 'x' && n < 3; n++)
    p = quoit_python_skip_digits (p + 1);
  return p != NULL && n >= 2 && quoit_python_is_end (p);
}

bool
quoit_ray_gce_check_accelerator (const char *accelerator_type, const char *type, const char *topology, GError **error)
{
  if (accelerator_type != NULL && (type != NULL || topology != NULL))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "acceleratorType and acceleratorConfig: expected one of them");
  if (accelerator_type != NULL)
    return quoit_ray_type_is_valid (accelerator_type)
           || refuse ("acceleratorType", accelerator_type, "a generation and a number of cores, 'v4-8'", error);

  if (!quoit_ray_require_text (type, "acceleratorConfig.type", error)
      || !quoit_ray_require_text (topology, "acceleratorConfig.topology", error))
    return FALSE;
  if (!g_utf8_validate (type, -1, NULL) || (strcmp (type, "V5LITE_POD") != 0 && !is_generation (type)))
    return refuse ("acceleratorConfig.type", type, "'V5LITE_POD', or 'V' and a generation", error);
  if (strcmp (type, "V2") == 0 || strcmp (type, "V3") == 0)
    return refuse ("acceleratorConfig.type", type, "an acceleratorType for V2 and V3", error);
  if (!g_utf8_validate (topology, -1, NULL) || !is_shape (topology))
    return refuse ("acceleratorConfig.topology", topology, "two or three numbers with 'x' between them", error);

  return TRUE;
}

/* Returns Ray's name of the generation if GCE uses another name, otherwise @type itself. */
static const char *
gce_type_to_ray_version (const char *type)
{
  for (QuoitGeneration g = 1; g < QUOIT_N_GENERATIONS; g++)
    if (g_strcmp0 (quoit_generation_facts (g)->gce_type, type) == 0)
      return quoit_generation_facts (g)->ray_version;

  return type;
}

char *
quoit_ray_gce_pod_type (const char *type, const char *topology, GError **error)
{
  g_autoptr (QuoitBig) chips = NULL;
  g_autofree char *generation = NULL;

  if (!quoit_ray_require_text (type, "acceleratorConfig.type", error)
      || !quoit_ray_require_text (topology, "acceleratorConfig.topology", error))
    return NULL;

  chips = quoit_ray_topology_chips_verbatim (topology, error);
  if (chips == NULL)
    return NULL;

  generation = quoit_python_lower (type);
  return quoit_ray_pod_type_of_chips (gce_type_to_ray_version (generation), chips, error);
}

static QuoitBig *
parse_cores (const char *pod_type, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (pod_type, "-", -1);

  return quoit_python_int (parts[0] != NULL && parts[1] != NULL ? parts[1] : "", "number of cores", error);
}

/* Fails if the number of chips exceeds the range of a double, because Ray divides floats here. */
static gboolean
check_float_range (const char *pod_type, const QuoitBig *cores, int64_t cores_per_chip, GError **error)
{
  int64_t rest;
  g_autoptr (QuoitBig) chips = quoit_big_divide (cores, cores_per_chip, &rest);

  return quoit_big_to_double (chips) <= G_MAXDOUBLE
         || refuse ("acceleratorType", pod_type, "a number of chips in the range of a double", error);
}

static gboolean
is_at_most (const QuoitBig *number, int64_t limit)
{
  int64_t value;

  return quoit_big_to_int (number, &value) ? value <= limit : quoit_big_sign (number) < 0;
}

bool
quoit_ray_gce_is_single_host (const char *accelerator_type, const char *type, const char *topology, bool *is_single,
                              GError **error)
{
  g_autofree char *pod_type
      = accelerator_type != NULL ? g_strdup (accelerator_type) : quoit_ray_gce_pod_type (type, topology, error);
  g_autoptr (QuoitBig) chips = NULL, cores = NULL;
  int64_t cores_per_chip = 1, chips_per_host;

  if (pod_type == NULL)
    return FALSE;
  if (accelerator_type != NULL)
    {
      cores = parse_cores (accelerator_type, error);
      if (cores == NULL || !quoit_ray_cores_per_chip (accelerator_type, &cores_per_chip, error)
          || !check_float_range (accelerator_type, cores, cores_per_chip, error))
        return FALSE;
    }
  /* If both are given, Ray compares the chips of acceleratorConfig with the host size of the type. */
  if (type != NULL || topology != NULL)
    {
      if (!quoit_ray_require_text (topology, "acceleratorConfig.topology", error))
        return FALSE;
      chips = quoit_ray_topology_chips_verbatim (topology, error);
      if (chips == NULL)
        return FALSE;
      cores_per_chip = 1;
    }
  if (!quoit_ray_visible_chips_per_host (pod_type, &chips_per_host, error))
    return FALSE;

  *is_single = is_at_most (chips != NULL ? chips : cores, chips_per_host * cores_per_chip);
  return TRUE;
}
