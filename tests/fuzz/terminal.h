/* SPDX-License-Identifier: Apache-2.0 */
/* The locales in which the command's output is tried: what can be shown depends on them. */
#pragma once

#include <locale.h>

#include "fuzz.h"

/* The next byte says which locale it is from now on. Names of locales are slow to look up. */
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
