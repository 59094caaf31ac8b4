/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variable.h"

#include <string.h>

/* Caches the number of list elements, because every process of a slice queries it for the shared list of hosts. */
typedef struct {
  guint32 n_listed, n_name;
  char text[];
} Variable;

static guint32
count_listed (const char *value)
{
  guint32 n = 1;

  for (; (value = strchr (value, ',')) != NULL; value++)
    n++;
  return n;
}

char *
quoit_variable_new (const char *name, const char *value)
{
  gsize n_name = strlen (name) + 1, n_value = strlen (value) + 1;
  Variable *variable = g_atomic_rc_box_alloc (sizeof *variable + n_name + n_value);

  variable->n_listed = count_listed (value);
  variable->n_name = (guint32) n_name;
  memcpy (variable->text, name, n_name);
  memcpy (variable->text + n_name, value, n_value);
  return (char *) variable;
}

void
quoit_variable_unref (char *variable)
{
  g_atomic_rc_box_release (variable);
}

static const Variable *
box_of (const char *variable)
{
  return (const Variable *) (gconstpointer) variable;
}

const char *
quoit_variable_name (const char *variable)
{
  return box_of (variable)->text;
}

const char *
quoit_variable_value (const char *variable)
{
  return box_of (variable)->text + box_of (variable)->n_name;
}

guint32
quoit_variable_n_listed (const char *variable)
{
  return box_of (variable)->n_listed;
}
