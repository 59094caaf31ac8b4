/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/promise.h>

#include "base/error.h"
#include "planner/promise.h"

/* --- checks of arguments --- */

static bool
check_probability (const char *what, double value, GError **error)
{
  char text[G_ASCII_DTOSTR_BUF_SIZE];

  if (value >= 0 && value <= 1) /* false for NaN */
    return true;
  g_ascii_formatd (text, sizeof text, "%.15g", value);
  if (g_ascii_strtod (text, NULL) != value)
    g_ascii_dtostr (text, sizeof text, value);
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "a probability from 0 to 1", "%s '%s'", what, text);
}

static bool
check_n_cubes (uint32_t n_cubes, GError **error)
{
  if (n_cubes >= 1 && n_cubes <= QUOIT_PROMISE_MAX_CUBES)
    return true;
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "1 to 1000000 cubes", "cubes '%u'", n_cubes);
}

static bool
check_cubes (uint32_t n_cubes, double availability, uint32_t cubes_each, GError **error)
{
  g_autofree char *expected = NULL;

  if (!check_n_cubes (n_cubes, error) || !check_probability ("availability", availability, error))
    return false;
  if (cubes_each >= 1 && cubes_each <= n_cubes)
    return true;
  expected = g_strdup_printf ("1 to %u, the number of cubes", n_cubes);
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "cubes of each slice '%u'", cubes_each);
}

static bool
check_held (uint32_t n_cubes, uint32_t n_held, GError **error)
{
  g_autofree char *expected = NULL;

  if (n_held <= n_cubes)
    return true;
  expected = g_strdup_printf ("at most %u, the number of cubes", n_cubes);
  return quoit_fail_expected (error, QUOIT_ERROR_INVALID, expected, "held cubes '%u'", n_held);
}

/* --- public functions --- */

bool
quoit_promise_availability (double host_availability, uint32_t n_hosts, double *availability, GError **error)
{
  g_return_val_if_fail (availability != NULL, false);

  if (!check_probability ("host availability", host_availability, error))
    return false;
  if (n_hosts < 1 || n_hosts > QUOIT_PROMISE_MAX_CUBES)
    return quoit_fail_expected (error, QUOIT_ERROR_INVALID, "1 to 1000000 hosts", "hosts '%u'", n_hosts);
  *availability = quoit_planner_all_work (host_availability, n_hosts);
  return true;
}

bool
quoit_promise_count (uint32_t n_cubes, double availability, uint32_t cubes_each, uint32_t n_held, double confidence,
                     uint32_t *count, GError **error)
{
  uint32_t n_sure;

  g_return_val_if_fail (count != NULL, false);

  if (!check_cubes (n_cubes, availability, cubes_each, error) || !check_held (n_cubes, n_held, error)
      || !check_probability ("confidence", confidence, error))
    return false;
  n_sure = quoit_planner_sure_cubes (n_cubes, availability, confidence);
  *count = n_sure < n_held ? 0 : (n_sure - n_held) / cubes_each;
  return true;
}

bool
quoit_promise_probability (uint32_t n_cubes, double availability, uint32_t n_needed, double *probability,
                           GError **error)
{
  g_return_val_if_fail (probability != NULL, false);

  if (!check_n_cubes (n_cubes, error) || !check_probability ("availability", availability, error))
    return false;
  *probability = quoit_planner_probability (n_cubes, availability, n_needed);
  return true;
}

bool
quoit_promise_goodput (uint32_t n_cubes, double availability, uint32_t cubes_each, double *goodput, GError **error)
{
  g_return_val_if_fail (goodput != NULL, false);

  if (!check_cubes (n_cubes, availability, cubes_each, error))
    return false;
  *goodput = quoit_planner_goodput (n_cubes, availability, cubes_each);
  return true;
}

bool
quoit_promise_static_goodput (uint32_t n_cubes, double availability, uint32_t cubes_each, double *goodput,
                              GError **error)
{
  g_return_val_if_fail (goodput != NULL, false);

  if (!check_cubes (n_cubes, availability, cubes_each, error))
    return false;
  *goodput = quoit_planner_static_goodput (n_cubes, availability, cubes_each);
  return true;
}
