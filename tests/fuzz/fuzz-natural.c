/* SPDX-License-Identifier: Apache-2.0 */
/* Natural order is a total order on any three texts, and orders numbers by value. */
#include <string.h>

#include "base/natural.h"
#include "fuzz.h"

static int
sign (int n)
{
  return (n > 0) - (n < 0);
}

static void
require_pair (const char *a, const char *b)
{
  int order = quoit_natural_compare (a, b);

  g_assert (sign (order) == -sign (quoit_natural_compare (b, a)));
  g_assert ((order == 0) == (strcmp (a, b) == 0));
}

static void
require_chain (const char *a, const char *b, const char *c)
{
  int ab = quoit_natural_compare (a, b), bc = quoit_natural_compare (b, c);

  if (ab <= 0 && bc <= 0)
    g_assert (sign (quoit_natural_compare (a, c)) == (ab < 0 || bc < 0 ? -1 : 0));
}

static void
require_numbers (const char *prefix, guint n, guint m)
{
  g_autofree char *a = g_strdup_printf ("%s%u", prefix, n), *b = g_strdup_printf ("%s%u", prefix, m);

  g_assert (sign (quoit_natural_compare (a, b)) == (n > m) - (n < m));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *a = fuzz_text (&in), *b = fuzz_text (&in), *c = fuzz_text (&in);
  const char *texts[] = { a, b, c };
  static const guint orders[][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };

  for (guint i = 0; i < 3; i++)
    require_pair (texts[i], texts[(i + 1) % 3]);
  for (guint i = 0; i < G_N_ELEMENTS (orders); i++)
    require_chain (texts[orders[i][0]], texts[orders[i][1]], texts[orders[i][2]]);
  g_assert (quoit_natural_compare (a, a) == 0);
  require_numbers (a, (guint) strlen (b) * 7, (guint) strlen (c) * 5);
  return 0;
}
