/* SPDX-License-Identifier: Apache-2.0 */
/* Decimal text: an accepted amount is written back equal; a refusal has an error and changes nothing. */
#include "base/amount.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size);
  g_autofree char *back = NULL;
  g_autoptr (GError) error = NULL;
  QuoitAmount amount = { 77 }, again;
  gboolean ok = quoit_amount_parse (text, &amount, &error);

  fuzz_require_error (ok, error);
  if (!ok)
    {
      g_assert (amount.e4 == 77);
      return 0;
    }
  back = quoit_amount_format (amount);
  g_assert (quoit_amount_parse (back, &again, NULL) && again.e4 == amount.e4);
  return 0;
}
