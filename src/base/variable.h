/* SPDX-License-Identifier: Apache-2.0 */
/* Environment variables of processes. */
#pragma once

#include <glib.h>

/* A name and a value with a reference count. The content behind the pointer is private to variable.c. */
char *quoit_variable_new (const char *name, const char *value);
void quoit_variable_unref (char *variable);
const char *quoit_variable_name (const char *variable);
const char *quoit_variable_value (const char *variable);
/* The number of parts of the value that commas separate; 1 if it has no comma. */
guint32 quoit_variable_n_listed (const char *variable);
