/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities and the memory of Ray's listings: suffixes and exponents are consistent with each other. */
#include <string.h>

#include "formats/quantity.h"
#include "fuzz.h"

static gboolean
read_quantity (const char *text, QuoitAmount *amount)
{
  g_autoptr (GError) error = NULL;
  gboolean ok;

  amount->e4 = -77;
  ok = quoit_quantity_parse (text, amount, &error);
  fuzz_require_error (ok, error);
  g_assert (ok ? amount->e4 >= 0 : amount->e4 == -77);
  return ok;
}

/* @text with @suffix has @times the value of @text. */
static void
require_suffix (const char *text, const char *suffix, gint64 times)
{
  g_autofree char *longer = g_strconcat (text, suffix, NULL);
  QuoitAmount plain, scaled;

  if (read_quantity (text, &plain) && read_quantity (longer, &scaled))
    g_assert ((__int128) plain.e4 * times == scaled.e4);
}

static void
require_decimal (const char *text)
{
  QuoitAmount quantity, amount;

  if (!quoit_amount_parse (text, &amount, NULL))
    return;
  /* Only a number with more digits than any amount needs is valid in one format and not in the other. */
  if (read_quantity (text, &quantity))
    g_assert (quantity.e4 == amount.e4);
  else
    g_assert (strlen (text) > 30);
  require_suffix (text, "k", 1000);
  require_suffix (text, "M", 1000000);
  require_suffix (text, "e3", 1000);
  require_suffix (text, "E+2", 100);
  require_suffix (text, "Ki", 1024);
  require_suffix (text, "Gi", 1073741824);
}

static void
require_round_up (QuoitAmount amount)
{
  QuoitAmount rounded = quoit_quantity_round_up (amount);

  g_assert (rounded.e4 >= amount.e4 && rounded.e4 - amount.e4 < QUOIT_AMOUNT_UNIT);
  g_assert (rounded.e4 % QUOIT_AMOUNT_UNIT == 0 || amount.e4 > G_MAXINT64 - QUOIT_AMOUNT_UNIT);
}

static void
require_memory (const char *text)
{
  g_autoptr (GError) error = NULL;
  QuoitAmount amount = { -77 };
  gboolean ok = quoit_memory_text_parse (text, &amount, &error);

  fuzz_require_error (ok, error);
  g_assert (ok ? amount.e4 >= 0 && amount.e4 % QUOIT_AMOUNT_UNIT == 0 : amount.e4 == -77);
}

static void
require_double (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  QuoitAmount amount = { -77 };
  double value = 0;
  gboolean ok;

  memcpy (&value, data, MIN (size, sizeof value));
  ok = quoit_ray_amount (value, &amount, &error);
  fuzz_require_error (ok, error);
  g_assert (ok ? amount.e4 >= 0 && (amount.e4 > 0 || value == 0) : amount.e4 == -77);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup (size == 0 ? "" : (const char *) data, size);
  QuoitAmount amount, again;

  require_memory (text);
  require_double (data, size);
  if (!read_quantity (text, &amount))
    {
      g_assert (!quoit_amount_parse (text, &again, NULL) || strlen (text) > 30);
      return 0;
    }
  {
    g_autofree char *written = quoit_amount_format (amount);

    g_assert (read_quantity (written, &again) && again.e4 == amount.e4);
  }
  require_round_up (amount);
  require_decimal (text);
  return 0;
}
