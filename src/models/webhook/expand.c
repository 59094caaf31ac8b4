/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the kubelet makes of the envFrom and env of a container. The webhook runs earlier, when the pod is
 * created, and sees references as they are written. */
#include "models/webhook/pod.h"

#include <string.h>

#include "base/name-hash.h"

/* Linux gives a new process at most 6 MiB of environment. The limit also bounds references to references. */
enum { MOST_BYTES = 6 << 20 };

/* The variables of one container that precede the current one. */
typedef struct {
  GHashTable *values; /* name -> value; NULL: the value is not known here (valueFrom) */
  gsize n_bytes;
} Environment;

static const char *
find_value (const Environment *environment, const char *name, gsize length)
{
  g_autofree char *key = g_strndup (name, length);

  return g_hash_table_lookup (environment->values, key);
}

/* Returns the text with the values of the variables that it refers to. "$$" stands for "$". A reference to an unknown
 * variable stays as it is. Stops when the text is too long; the caller checks that. g_free() it. */
static char *
expand (const Environment *environment, const char *text)
{
  GString *expanded = g_string_new (NULL);
  const char *p = text;

  while (*p != '\0' && expanded->len <= MOST_BYTES)
    {
      const char *end = *p == '$' && p[1] == '(' ? strchr (p, ')') : NULL;
      const char *value = end == NULL ? NULL : find_value (environment, p + 2, (gsize) (end - p - 2));
      gsize length = end != NULL ? (gsize) (end - p + 1) : *p == '$' && p[1] != '\0' ? 2 : strcspn (p + 1, "$") + 1;

      if (value != NULL)
        g_string_append (expanded, value);
      else if (*p == '$' && p[1] == '$')
        g_string_append_c (expanded, '$');
      else
        g_string_append_len (expanded, p, (gssize) length);
      p += length;
    }
  return g_string_free (expanded, FALSE);
}

static gboolean
add_value (Environment *environment, const QuoitWebhookVariable *variable, GError **error)
{
  g_autofree char *quoted = NULL;

  environment->n_bytes += strlen (variable->name) + 1 + (variable->value == NULL ? 0 : strlen (variable->value) + 1);
  g_hash_table_insert (environment->values, variable->name, variable->value);
  if (environment->n_bytes <= MOST_BYTES)
    return TRUE;
  quoted = quoit_quote (variable->name);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "variable %s: '%" G_GSIZE_FORMAT "' bytes of variables in its container: expected at most %d",
                     quoted, environment->n_bytes, MOST_BYTES);
}

static gboolean
expand_container (const QuoitWebhookContainer *container, GArray *containers, GError **error)
{
  g_autoptr (GHashTable) values = g_hash_table_new (quoit_hash_text, g_str_equal);
  Environment environment = { values, 0 };
  guint at = containers->len;

  quoit_webhook_add_container (containers, container->request, container->limit);
  for (guint i = 0; i < container->sources->len; i++)
    {
      const QuoitWebhookVariable *source = &g_array_index (container->sources, QuoitWebhookVariable, i);

      quoit_webhook_copy_variable (containers, at, source);
      if (!add_value (&environment, source, error))
        return FALSE;
    }
  for (guint i = 0; i < container->variables->len; i++)
    {
      QuoitWebhookVariable variable = g_array_index (container->variables, QuoitWebhookVariable, i);

      variable.name = g_strdup (variable.name);
      variable.value = variable.value == NULL ? NULL : expand (&environment, variable.value);
      quoit_webhook_add_variable (containers, at, variable);
      if (!add_value (&environment, &variable, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
quoit_webhook_pod_expand_variables (QuoitWebhookPod *pod, GError **error)
{
  g_autoptr (GArray) containers = quoit_webhook_containers_new ();

  for (guint i = 0; i < pod->containers->len; i++)
    if (!expand_container (quoit_webhook_container (pod->containers, i), containers, error))
      return FALSE;
  g_array_unref (pod->containers);
  pod->containers = g_steal_pointer (&containers);
  return TRUE;
}
