/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "session.h"

/* If @error says that a name of the command line does not exist, adds to its message what else has the name, or else
 * the nearest name in the ledger. */
void near_names_add (Session *session, GError *error);
