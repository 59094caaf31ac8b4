/* SPDX-License-Identifier: Apache-2.0 */
/* The locales for the command's output. The printable characters depend on the locale. */
#pragma once

#include <locale.h>

#include "fuzz.h"

/* Sets the locale by the next byte. Looking up a locale by name is slow, so the results are kept. */
static inline void
fuzz_set_locale (FuzzInput *in)
{
  static const char *const names[] = { "C", "C.UTF-8" };
  static locale_t locales[G_N_ELEMENTS (names)];
  gsize which = fuzz_byte (in) % G_N_ELEMENTS (names);

  if (locales[which] == NULL)
    locales[which] = newlocale (LC_ALL_MASK, names[which], NULL);
  if (locales[which] != NULL)
    uselocale (locales[which]);
}
