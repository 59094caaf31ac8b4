/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the fuzz targets: making texts from bytes, and checking errors. */
#pragma once

#include <signal.h>
#include <stdlib.h>

#include "base/error.h"

int LLVMFuzzerInitialize (int *argc, char ***argv);
int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
fuzz_trapped (int number)
{
  abort ();
}

/* GLib aborts with a trap that libFuzzer does not handle, which would lose the input. */
int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  signal (SIGTRAP, fuzz_trapped);
  return 0;
}

/* The input as fields. Texts end at a NUL byte, which no text can contain. All fields after the end are empty. */
typedef struct {
  const guint8 *at, *end;
} FuzzInput;

static inline FuzzInput
fuzz_input (const guint8 *data, gsize size)
{
  return (FuzzInput) { data, data + size };
}

static inline guint8
fuzz_byte (FuzzInput *in)
{
  return in->at == in->end ? 0 : *in->at++;
}

/* Whether the input runs check @check of the checks 1 to @n. Its byte @which chooses one check, or all if it is a
 * multiple of @n + 1. Most inputs run only one check, so more inputs run in the same time. */
static inline gboolean
fuzz_runs_check (guint8 which, guint8 check, guint8 n)
{
  return which % (n + 1) == 0 || which % (n + 1) == check;
}

/* The caller frees it. */
static inline char *
fuzz_text (FuzzInput *in)
{
  gsize length = 0, left = (gsize) (in->end - in->at);
  char *text;

  while (length < left && in->at[length] != '\0')
    length++;
  text = g_strndup (length == 0 ? "" : (const char *) in->at, length);
  in->at += length < left ? length + 1 : length;
  return text;
}

/* Whether @text is UTF-8 without control characters. */
static inline gboolean
fuzz_can_be_shown (const char *text)
{
  if (!g_utf8_validate (text, -1, NULL))
    return FALSE;
  for (const char *p = text; *p != '\0'; p = g_utf8_next_char (p))
    if (!g_unichar_isprint (g_utf8_get_char (p)))
      return FALSE;
  return TRUE;
}

/* Checks that an error is set exactly if the call failed, is a QUOIT_ERROR, and is printable. */
static inline void
fuzz_require_error (gboolean ok, const GError *error)
{
  g_assert (ok == (error == NULL));
  if (ok)
    return;
  g_assert (error->domain == QUOIT_ERROR && error->code > QUOIT_ERROR_FAILED && error->code <= QUOIT_ERROR_DAMAGED);
  if (error->message[0] == '\0' || !fuzz_can_be_shown (error->message))
    g_error ("this cannot be shown: %s", error->message);
}
