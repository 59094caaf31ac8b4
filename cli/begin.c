/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

const char *const usual_outputs[] = { "table", "json", NULL };

bool
session_begin (Session *session, GError **error)
{
  return session_parse (session, NULL, error) && session_check (session, usual_outputs, error);
}
