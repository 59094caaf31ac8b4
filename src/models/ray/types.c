/* SPDX-License-Identifier: Apache-2.0 */
/* Accelerator types in Ray: parses their spellings ("TPU-V6E", "v6e-16"), and computes chips from numbers of cores. */
#include "models/ray/ray.h"

#include <string.h>

#include "base/python.h"

enum { CHIPS_PER_HOST = 4, CHIPS_PER_BIG_HOST = 8 };

gboolean
quoit_ray_require_text (const char *text, const char *what, GError **error)
{
  return text != NULL || quoit_fail (error, QUOIT_ERROR_INVALID, "%s: expected a text, none is given", what);
}

void
quoit_ray_replace_text (char **text, const char *by)
{
  char *before = *text;

  *text = g_strdup (by);
  g_free (before);
}

const QuoitGenerationFacts *
quoit_ray_generation (const char *version)
{
  for (QuoitGeneration g = 1; g < QUOIT_N_GENERATIONS; g++)
    {
      const QuoitGenerationFacts *facts = quoit_generation_facts (g);

      if (g_strcmp0 (facts->ray_version, version) == 0 && version != NULL)
        return facts;
    }
  return NULL;
}

gboolean
quoit_ray_has_big_hosts (const char *version)
{
  g_autofree char *lower = quoit_python_strip_and_lower (version);
  const QuoitGenerationFacts *facts = quoit_ray_generation (lower);

  return facts != NULL && (facts->traits & QUOIT_GENERATION_RAY_LARGE_HOSTS) != 0;
}

/* Finds the generation with which @type begins, or NULL. Like Ray, it ignores the rest of the text: "v2foo" is a v2. */
static const QuoitGenerationFacts *
find_generation_prefix (const char *type)
{
  for (QuoitGeneration g = 1; g < QUOIT_N_GENERATIONS; g++)
    {
      const QuoitGenerationFacts *facts = quoit_generation_facts (g);

      if (facts->ray_version != NULL && g_str_has_prefix (type, facts->ray_version))
        return facts;
    }
  return NULL;
}

static void *
refuse (const char *type, const char *expected, GError **error)
{
  g_autofree char *quoted = quoit_quote (type);
  g_autoptr (GString) versions = g_string_new (NULL);

  for (QuoitGeneration g = 1; g < QUOIT_N_GENERATIONS; g++)
    if (quoit_generation_facts (g)->ray_version != NULL)
      g_string_append_printf (versions, "%s%s", versions->len > 0 ? ", " : "", quoit_generation_facts (g)->ray_version);
  return quoit_fail_null (error, QUOIT_ERROR_INVALID, "accelerator type %s: expected %s one of %s", quoted, expected,
                          versions->str);
}

static const QuoitGenerationFacts *
require_generation (const char *type, GError **error)
{
  const QuoitGenerationFacts *facts;

  if (!quoit_ray_require_text (type, "accelerator type", error))
    return NULL;

  facts = find_generation_prefix (type);
  return facts != NULL ? facts : refuse (type, "a text that begins with", error);
}

char *
quoit_ray_normalize_type (const char *accelerator_type)
{
  g_autofree char *stripped = quoit_python_strip (accelerator_type != NULL ? accelerator_type : "");
  g_autofree char *lower = quoit_python_lower (stripped);
  const char *rest = lower;

  if (!g_str_has_prefix (lower, "tpu"))
    return g_steal_pointer (&lower);

  rest += strlen ("tpu");
  rest += *rest == '-';
  rest += *rest == 'v';
  return g_strconcat ("v", rest, NULL);
}

char *
quoit_ray_version_from_type (const char *accelerator_type, GError **error)
{
  g_autofree char *lower = NULL, *version = NULL;

  if (!quoit_ray_require_text (accelerator_type, "accelerator type", error))
    return NULL;

  lower = quoit_python_lower (accelerator_type);
  if (g_str_has_prefix (lower, "tpu-"))
    version = quoit_python_replace (lower, "tpu-", "");
  else if (g_str_has_prefix (lower, "tpu"))
    version = quoit_python_replace (lower, "tpu", "v");
  else
    version = g_strdup (lower);

  if (quoit_ray_generation (version) == NULL)
    return refuse (accelerator_type, "'TPU-' and a generation, or", error);

  return g_steal_pointer (&version);
}

const char *
quoit_ray_skip_generation (const char *text)
{
  const char *p = quoit_python_skip_digits (text);

  while (p != NULL && g_ascii_isalpha (*p))
    p++;
  return p;
}

bool
quoit_ray_type_is_valid (const char *accelerator_type)
{
  const char *p = accelerator_type;

  if (p == NULL || !g_utf8_validate (p, -1, NULL))
    return FALSE;

  if (g_str_has_prefix (p, "tpu"))
    p += strlen ("tpu");
  else if (*p++ != 'v')
    return FALSE;
  p = quoit_ray_skip_generation (p);
  if (p == NULL || *p != '-')
    return FALSE;
  p = quoit_python_skip_digits (p + 1);
  return p != NULL && quoit_python_is_end (p);
}

bool
quoit_ray_cores_per_chip (const char *accelerator_type, int64_t *n_cores, GError **error)
{
  const QuoitGenerationFacts *facts = require_generation (accelerator_type, error);

  if (facts == NULL)
    return FALSE;

  *n_cores = facts->cores_per_chip;
  return TRUE;
}

static QuoitBig *
parse_type_chips (const char *type, GError **error)
{
  const QuoitGenerationFacts *facts = require_generation (type, error);
  g_auto (GStrv) parts = NULL;
  g_autoptr (QuoitBig) cores = NULL;
  int64_t rest;

  if (facts == NULL)
    return NULL;

  parts = g_strsplit (type, "-", -1);
  if (parts[1] == NULL)
    return refuse (type, "a number of cores behind a dash, and before it", error);

  cores = quoit_python_int (parts[1], "number of cores", error);
  if (cores == NULL)
    return NULL;

  return quoit_big_divide (cores, facts->cores_per_chip, &rest);
}

bool
quoit_ray_chips_from_type (const char *accelerator_type, int64_t *n_chips, GError **error)
{
  g_autoptr (QuoitBig) chips = parse_type_chips (accelerator_type, error);

  if (chips == NULL)
    return FALSE;
  if (!quoit_big_to_int (chips, n_chips))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "accelerator type '%s': expected a number of chips that fits in 64 bits", accelerator_type);

  return TRUE;
}

bool
quoit_ray_visible_chips_per_host (const char *accelerator_type, int64_t *n_chips, GError **error)
{
  const QuoitGenerationFacts *facts = require_generation (accelerator_type, error);
  g_autoptr (QuoitBig) chips = NULL;
  int64_t n;

  if (facts == NULL)
    return FALSE;
  if (!quoit_ray_has_big_hosts (facts->ray_version))
    return *n_chips = CHIPS_PER_HOST, TRUE;

  chips = parse_type_chips (accelerator_type, error);
  if (chips == NULL)
    return FALSE;
  if (quoit_big_to_int (chips, &n))
    *n_chips = n <= CHIPS_PER_BIG_HOST ? n : CHIPS_PER_HOST;
  else if (quoit_big_sign (chips) > 0)
    *n_chips = CHIPS_PER_HOST;
  else
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "accelerator type '%s': expected a number of chips that fits in 64 bits", accelerator_type);

  return TRUE;
}
