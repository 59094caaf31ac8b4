/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts as Ray accepts them, including amounts that quoit refuses elsewhere. */
#include <quoit/models/ray-host.h>

#include <math.h>

#include "base/amount.h"

bool
quoit_ray_quantity_is_valid (double quantity)
{
  static const double valid[] = { 1, 2, 4, 8 };

  for (unsigned i = 0; i < G_N_ELEMENTS (valid); i++)
    if (quantity == valid[i])
      return TRUE;

  return FALSE;
}

int64_t
quoit_ray_amount_to_ten_thousandths (double amount)
{
  QuoitAmount units;

  /* Ray converts without a check. For a double that does not fit in 64 bits, x86 returns this value. */
  if (!quoit_amount_from_double (fabs (amount), &units, NULL))
    return INT64_MIN;

  return amount < 0 ? -units.e4 : units.e4;
}
