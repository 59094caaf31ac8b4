/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables of processes. */
#pragma once

#include <glib.h>

/* A reference-counted name and value. The pointer is opaque outside variable.c. */
char *quoit_variable_new (const char *name, const char *value);
void quoit_variable_unref (char *variable);
const char *quoit_variable_name (const char *variable);
const char *quoit_variable_value (const char *variable);
/* Returns the number of comma-separated elements of the value; 1 if it contains no comma. */
guint32 quoit_variable_n_listed (const char *variable);
