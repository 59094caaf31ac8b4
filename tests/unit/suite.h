/* SPDX-License-Identifier: Apache-2.0 */
/* The main() of every unit suite, and two assertions that print the actual values. */
#pragma once

#include <check.h>

/* An assertion that holds would write its place to a file, so that Check can say where a test has crashed. That takes
 * most of the time of a test with many assertions. */
#define _mark_point(file, line) ((void) 0)
#include <stdlib.h>

#include "base/error.h"

#define ck_assert_ok(error) ck_assert_msg ((error) == NULL, "%s", (error) == NULL ? "" : (error)->message)

/* Asserts that @error has the code @want and a message with @part, and clears it. */
#define ck_assert_refused(error, want, part)                                                                           \
  do                                                                                                                   \
    {                                                                                                                  \
      ck_assert_msg ((error) != NULL, "was accepted, expected %s: %s", quoit_error_code_name (want), part);            \
      ck_assert_msg ((error)->domain == QUOIT_ERROR && (error)->code == (int) (want), "code %d, expected %s: %s",      \
                     (error)->code, quoit_error_code_name (want), (error)->message);                                   \
      ck_assert_msg (strstr ((error)->message, part) != NULL, "'%s' does not say '%s'", (error)->message, part);       \
      g_clear_error (&(error));                                                                                        \
    }                                                                                                                  \
  while (0)

static inline int
suite_main (Suite *suite)
{
  SRunner *runner = srunner_create (suite);
  int failed;

  srunner_run_all (runner, CK_NORMAL);
  failed = srunner_ntests_failed (runner);
  srunner_free (runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
