/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs.h"

bool
session_begin (Session *session, GError **error)
{
  return session_parse (session, NULL, error) && session_check (session, error);
}
