/* SPDX-License-Identifier: Apache-2.0 */
/* The locales in which the command's output is tried: what can be shown depends on them. */
#pragma once

#include <locale.h>

#include "fuzz.h"

/* The next byte says which locale it is from now on. Setting one is slow, and most inputs stay with the last. */
static inline void
fuzz_set_locale (FuzzInput *in)
{
  static const char *const locales[] = { "C", "C.UTF-8" };
  static gsize now = G_N_ELEMENTS (locales);
  gsize which = fuzz_byte (in) % G_N_ELEMENTS (locales);

  if (which != now && setlocale (LC_ALL, locales[which]) != NULL)
    now = which;
}
