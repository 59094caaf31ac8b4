/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variable.h"

#include <string.h>

/* n_elements is cached, because each process of a slice queries it for the list of hosts that they share. */
typedef struct {
  guint32 n_elements; /* see quoit_variable_count_elements() */
  guint32 n_name;     /* bytes of the name and its NUL */
  char text[];        /* the name, and then the value */
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

  variable->n_elements = count_listed (value);
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
to_variable (const char *variable)
{
  return (const Variable *) (gconstpointer) variable;
}

const char *
quoit_variable_name (const char *variable)
{
  return to_variable (variable)->text;
}

const char *
quoit_variable_value (const char *variable)
{
  return to_variable (variable)->text + to_variable (variable)->n_name;
}

guint32
quoit_variable_count_elements (const char *variable)
{
  return to_variable (variable)->n_elements;
}
