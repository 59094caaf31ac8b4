/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables of processes. */
#pragma once

#include <glib.h>

/* A variable is a name and a value with a reference count. The char * is a handle: only variable.c knows what it
 * points to. */
char *quoit_variable_new (const char *name, const char *value);
void quoit_variable_unref (char *variable);
const char *quoit_variable_name (const char *variable);
const char *quoit_variable_value (const char *variable);
/* Returns the number of comma-separated elements of the value; 1 if it contains no comma. */
guint32 quoit_variable_count_elements (const char *variable);
