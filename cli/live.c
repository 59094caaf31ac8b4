/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <string.h>

#include <quoit/error.h>

void
source_text_clear (SourceText *text)
{
  g_clear_pointer (&text->name, g_free);
  g_clear_pointer (&text->output.text, g_free);
  g_clear_pointer (&text->output.remark, g_free);
  text->output.length = 0;
}

/* --- command lines --- */

static void
add_words (GPtrArray *argv, const char *const *words)
{
  for (; words != NULL && *words != NULL; words++)
    g_ptr_array_add (argv, (char *) *words);
}

/* Sets @list to the output of the command line. */
static bool
read_list (GPtrArray *argv, gint64 limit_ms, SourceText *list, GError **error)
{
  g_ptr_array_add (argv, NULL);
  source_text_clear (list);
  list->name = program_dup_command_line ((const char *const *) argv->pdata);
  return program_run ((const char *const *) argv->pdata, limit_ms, &list->output, error);
}

/* --- Kubernetes --- */

/* Separates the namespace from the other arguments of kubectl: with --raw it is a part of the path. Returns the other
 * arguments; *@namespace is NULL for all namespaces. */
static GPtrArray *
split_namespace (const char *const *arguments, const char **namespace)
{
  GPtrArray *others = g_ptr_array_new ();

  *namespace = NULL;
  for (; arguments != NULL && *arguments != NULL; arguments++)
    if (g_str_has_prefix (*arguments, "--namespace="))
      *namespace = *arguments + strlen ("--namespace=");
    else if ((g_str_equal (*arguments, "-n") || g_str_equal (*arguments, "--namespace")) && arguments[1] != NULL)
      *namespace = *++arguments;
    else if (g_str_has_prefix (*arguments, "-n") && (*arguments)[2] != '\0')
      *namespace = *arguments + ((*arguments)[2] == '=' ? 3 : 2);
    else
      g_ptr_array_add (others, (char *) *arguments);
  g_ptr_array_add (others, NULL);
  return others;
}

/* Returns the resourceVersion of a list of the API server, which is before its items. NULL: @list is no such list.
 * g_free() it. */
static char *
dup_version (const SourceText *list)
{
  static const char key[] = "\"resourceVersion\":\"";
  const char *items = strstr (list->output.text, "\"items\":"), *metadata = strstr (list->output.text, "\"metadata\":");
  const char *version = strstr (list->output.text, key), *end;

  if (items == NULL || metadata == NULL || version == NULL || !(metadata < version && version < items))
    return NULL;
  version += strlen (key);
  end = strchr (version, '"');
  return end == NULL || end == version ? NULL : g_strndup (version, (gsize) (end - version));
}

static bool
read_resource (const LiveOptions *options, const char *const *arguments, const char *path, SourceText *list,
               GError **error)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();

  add_words (argv, (const char *const[]) { "kubectl", NULL });
  add_words (argv, arguments);
  add_words (argv, (const char *const[]) { "get", "--raw", path, NULL });
  return read_list (argv, options->limit_ms, list, error);
}

static char *
read_version (const SourceText *list, const char *kind, GError **error)
{
  char *version = dup_version (list);

  if (version == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                 "%s: exit status 0, but the output is no %s: expected its resourceVersion and then its items",
                 list->name, kind);
  return version;
}

/* The nodes are read at exactly the version that the list of pods has. */
bool
live_read_kubernetes (const LiveOptions *options, SourceText *nodes, SourceText *pods, GError **error)
{
  const char *namespace;
  g_autoptr (GPtrArray) others = split_namespace (options->arguments, &namespace);
  const char *const *arguments = (const char *const *) others->pdata;
  g_autofree char *escaped = namespace == NULL ? NULL : g_uri_escape_string (namespace, NULL, FALSE);
  g_autofree char *pods_path = g_strdup_printf (
      "/api/v1/%s%s%spods?fieldSelector=status.phase!%%3DSucceeded,status.phase!%%3DFailed",
      escaped == NULL ? "" : "namespaces/", escaped == NULL ? "" : escaped, escaped == NULL ? "" : "/");
  g_autofree char *version = NULL, *nodes_version = NULL, *escaped_version = NULL, *nodes_path = NULL;

  if (!read_resource (options, arguments, pods_path, pods, error)
      || (version = read_version (pods, "PodList", error)) == NULL)
    return false;
  escaped_version = g_uri_escape_string (version, NULL, FALSE);
  nodes_path = g_strdup_printf ("/api/v1/nodes?resourceVersion=%s&resourceVersionMatch=Exact", escaped_version);
  if (!read_resource (options, arguments, nodes_path, nodes, error)
      || (nodes_version = read_version (nodes, "NodeList", error)) == NULL)
    return false;
  if (g_str_equal (version, nodes_version))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "%s: nodes of resourceVersion '%s': expected '%s', that of the pods", nodes->name, nodes_version,
               version);
  return false;
}

/* --- Ray --- */

/* The greatest limit that Ray's API server accepts by default. */
#define MOST_ROWS 10000
#define MOST_ROWS_TEXT "10000"
enum { MOST_READS = 5 };

/* Counts the elements of a JSON array. The reader of the list checks the text. */
static guint
count_rows (const SourceText *list)
{
  guint depth = 0, n = 0;
  bool in_string = false, is_empty = true;

  for (const char *p = list->output.text; *p != '\0'; p++)
    if (in_string)
      {
        if (*p == '\\' && p[1] != '\0')
          p++;
        else if (*p == '"')
          in_string = false;
      }
    else if (*p == '"')
      in_string = true, is_empty = false;
    else if (*p == '[' || *p == '{')
      is_empty &= depth++ == 0;
    else if (*p == ']' || *p == '}')
      depth -= depth > 0;
    else if (*p == ',' && depth == 1)
      n++;
  return is_empty ? 0 : n + 1;
}

static bool
read_rows (const LiveOptions *options, const char *what, SourceText *list, GError **error)
{
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();

  add_words (argv, (const char *const[]) { "ray", "list", what, "--detail", "--format", "json", "--limit",
                                           MOST_ROWS_TEXT, NULL });
  if (options->address != NULL)
    add_words (argv, (const char *const[]) { "--address", options->address, NULL });
  add_words (argv, options->arguments);
  if (!read_list (argv, options->limit_ms, list, error))
    return false;
  if (count_rows (list) < MOST_ROWS)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "%s: " MOST_ROWS_TEXT " rows, where Ray's API server cuts its lists: expected fewer", list->name);
  return false;
}

/* Nodes, groups, and the nodes again, until no node has changed meanwhile. A node of Ray keeps its id, labels and
 * resources, and never comes back after its death, so equal lists mean that nothing changed between them, and that the
 * groups are of the same moment. The lists are compared by meaning: ray prints labels and resources in any order. */
bool
live_read_ray (const LiveOptions *options, SourceText *nodes, SourceText *groups, GError **error)
{
  if (!read_rows (options, "nodes", nodes, error))
    return false;
  for (int i = 1; i < MOST_READS; i++)
    {
      SourceText again = { 0 };
      bool is_same = false, is_compared;

      if (!read_rows (options, "placement-groups", groups, error) || !read_rows (options, "nodes", &again, error))
        {
          source_text_clear (&again);
          return false;
        }
      is_compared = options->compare (nodes, &again, options->data, &is_same, error);
      source_text_clear (nodes);
      *nodes = again;
      if (!is_compared || is_same)
        return is_compared;
    }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "%s: the nodes changed while the groups were read, %d times: expected a cluster that rests for a moment",
               nodes->name, MOST_READS - 1);
  return false;
}
