/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's arithmetic and Python's integers on any text: a failure writes nothing, and answers are consistent. The
 * first byte chooses the function. */
#include <quoit/models/ray-tpu.h>
#include <string.h>

#include "fuzz.h"
#include "base/python.h"

enum { TEXT = 1, HOSTS, POD_TYPE, WORKERS, INTEGERS, N_CHECKS = INTEGERS };

typedef bool (*NumberFunc) (const char *text, int64_t *number, GError **error);
typedef bool (*HostFunc) (const char *topology, const char *version, int64_t *number, GError **error);

static gboolean
require_number (gboolean ok, int64_t number, const GError *error)
{
  fuzz_require_error (ok, error);
  g_assert (ok || number == 77);
  return ok;
}

static void
require_text (const char *text)
{
  static const NumberFunc functions[]
      = { quoit_ray_chips_from_topology, quoit_ray_cores_per_chip, quoit_ray_chips_from_type,
          quoit_ray_visible_chips_per_host, quoit_ray_resource_per_chip };
  g_autoptr (GError) error = NULL;
  g_autofree char *normal = quoit_ray_normalize_type (text), *version = quoit_ray_version_from_type (text, &error);

  g_assert (g_utf8_validate (normal, -1, NULL) && !g_str_has_prefix (normal, "tpu"));
  fuzz_require_error (version != NULL, error);
  g_assert (version == NULL || quoit_ray_dup_valid_topology (version, 1u << 20) == NULL);
  g_assert (quoit_ray_type_is_valid (text) == 0 || strchr (text, '-') != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autoptr (GError) refusal = NULL;
      int64_t number = 77;
      gboolean ok = functions[i](text, &number, &refusal);

      require_number (ok, number, refusal);
    }
}

static void
require_hosts (const char *topology, const char *version)
{
  static const HostFunc functions[] = { quoit_ray_chips_per_host, quoit_ray_default_chips_per_vm };

  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    {
      g_autoptr (GError) error = NULL;
      int64_t number = 77;
      gboolean ok = functions[i](topology, version, &number, &error);

      require_number (ok, number, error);
    }
  g_assert (quoit_ray_topology_is_valid (version, topology) == 0
            || quoit_ray_chips_from_topology (topology, &(int64_t) { 0 }, NULL));
}

static void
require_pod_type (const char *topology, const char *type)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *pod_type = quoit_ray_pod_type (topology, type, &error);
  int64_t chips;

  if (*topology == '\0' || *type == '\0')
    {
      g_assert (pod_type == NULL && error == NULL);
      return;
    }
  fuzz_require_error (pod_type != NULL, error);
  g_assert (pod_type == NULL || strrchr (pod_type, '-') != NULL);
  if (pod_type != NULL && quoit_ray_chips_from_topology (topology, &chips, NULL) && chips == 0)
    g_assert (g_str_has_suffix (pod_type, "-0"));
}

/* The TPU of all workers is that of all slices. */
static void
require_workers (const char *topology, const char *type, int64_t n_slices, int64_t factor)
{
  g_autoptr (GError) error = NULL;
  int64_t n_workers = 77, chips = 0;
  g_autoptr (QuoitRayResources) worker
      = quoit_ray_worker_resources (topology, type, NULL, n_slices, NULL, &factor, &n_workers, &error);

  require_number (worker != NULL, n_workers, error);
  g_assert (quoit_ray_slices_for_workers (topology, type, n_slices, NULL, &factor) >= 1);
  if (worker == NULL)
    return;
  g_assert (factor > 0);
  for (unsigned i = 0; quoit_ray_resources_get_name (worker, i) != NULL; i++)
    if (strcmp (quoit_ray_resources_get_name (worker, i), "TPU") == 0
        && quoit_ray_chips_from_topology (topology, &chips, NULL) && ABS (chips) < 1000000)
      g_assert (quoit_ray_resources_get_amount (worker, i) * (double) n_workers
                == (double) chips * (double) n_slices * (double) factor);
}

/* --- integers of any length --- */

static QuoitBig *
read_integer (const char *text)
{
  g_autoptr (GError) error = NULL;
  QuoitBig *big = quoit_python_int (text, "number", &error);

  fuzz_require_error (big != NULL, error);
  return big;
}

static void
require_same (const QuoitBig *a, const QuoitBig *b)
{
  g_autofree char *text = quoit_big_format (a), *other = quoit_big_format (b);

  g_assert (strcmp (text, other) == 0);
}

static void
require_integers (const char *text, const char *other)
{
  g_autoptr (QuoitBig) a = read_integer (text), b = read_integer (other), product = NULL, quotient = NULL, back = NULL;
  g_autofree char *written = NULL;
  int64_t divisor, rest = 77;

  if (a == NULL)
    return;
  written = quoit_big_format (a);
  back = quoit_python_int (written, "number", NULL);
  g_assert (back != NULL && quoit_big_n_digits (back) == strspn (written + (*written == '-'), "0123456789"));
  require_same (a, back);
  if (b == NULL)
    return;
  product = quoit_big_multiply (a, b);
  g_assert (quoit_big_sign (product) == quoit_big_sign (a) * quoit_big_sign (b));
  if (!quoit_big_to_int (b, &divisor) || divisor <= 0 || divisor > G_MAXINT32)
    return;
  quotient = quoit_big_divide (product, divisor, &rest);
  g_assert (rest == 0);
  require_same (quotient, a);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint8 which = fuzz_byte (&in);
  g_autofree char *text = fuzz_text (&in), *other = fuzz_text (&in);
  int64_t n_slices = fuzz_byte (&in), factor = (gint8) fuzz_byte (&in);

  if (fuzz_runs_check (which, TEXT, N_CHECKS))
    require_text (text);
  if (fuzz_runs_check (which, HOSTS, N_CHECKS))
    require_hosts (text, other);
  if (fuzz_runs_check (which, POD_TYPE, N_CHECKS))
    require_pod_type (text, other);
  if (fuzz_runs_check (which, WORKERS, N_CHECKS))
    require_workers (text, other, n_slices, factor);
  if (fuzz_runs_check (which, INTEGERS, N_CHECKS))
    require_integers (text, other);
  return 0;
}
