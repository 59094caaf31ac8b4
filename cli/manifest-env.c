/* SPDX-License-Identifier: Apache-2.0 */
#include <quoit/models.h>

#include "manifest-env.h"

void
manifest_options_clear (ManifestOptions *options)
{
  g_free (options->manifest);
  g_free (options->group);
  g_strfreev (options->variables);
  g_strfreev (options->steps);
}

/* --- input --- */

static const char *
name_of_input (const ManifestOptions *options)
{
  return g_str_equal (options->manifest, "-") ? "standard input" : options->manifest;
}

static char *
list_groups (const QuoitKuberay *kuberay)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_kuberay_get_n_groups (kuberay); i++)
    g_ptr_array_add (names, (char *) quoit_kuberay_get_group_name (kuberay, i));
  g_ptr_array_add (names, NULL);
  return names->len == 1 ? g_strdup ("it has none") : g_strjoinv (", ", (char **) names->pdata);
}

static bool
find_group (const QuoitKuberay *kuberay, const char *name, gint64 *group, GError **error)
{
  g_autofree char *known = NULL;

  *group = -1;
  if (name == NULL)
    return true;
  for (uint32_t i = 0; i < quoit_kuberay_get_n_groups (kuberay); i++)
    if (g_str_equal (quoit_kuberay_get_group_name (kuberay, i), name))
      {
        *group = i;
        return true;
      }
  known = list_groups (kuberay);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "--group '%s': expected a worker group of the manifest: %s",
               name, known);
  return false;
}

/* Finds the group for the steps: --group, or the only group. */
static bool
find_step_group (const ManifestView *view, uint32_t *group, GError **error)
{
  g_autofree char *known = NULL;

  *group = view->group < 0 ? 0 : (uint32_t) view->group;
  if (view->group >= 0 || quoit_kuberay_get_n_groups (view->kuberay) == 1)
    return true;
  known = list_groups (view->kuberay);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--then requires --group NAME, one of: %s", known);
  return false;
}

/* --- output --- */

/* Fails with NOT_FOUND if --slice-id and --worker select no pod. */
static bool
check_selection (const ManifestView *view, GError **error)
{
  g_autofree char *replica = NULL, *host = NULL;

  for (uint32_t pod = 0; pod < quoit_kuberay_get_n_pods (view->kuberay); pod++)
    if (manifest_is_chosen (view, pod))
      return true;
  if (view->replica < 0 && view->host < 0)
    return true;
  replica = view->replica < 0 ? NULL : g_strdup_printf ("--slice-id '%" G_GINT64_FORMAT "'", view->replica);
  host = view->host < 0 ? NULL : g_strdup_printf ("--worker '%" G_GINT64_FORMAT "'", view->host);
  if (replica != NULL && host != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
                 "%s, %s: the manifest has no pod with that replica and host index", replica, host);
  else
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND, "%s: the manifest has no pod with that %s index",
                 replica != NULL ? replica : host, replica != NULL ? "replica" : "host");
  return false;
}

/* Prints the pods or steps even if there are problems, so that the user can see the cause. */
static bool
print_result (Session *session, const ManifestOptions *options, ManifestView *view, GError **error)
{
  g_autoptr (GPtrArray) problems = manifest_problems (view->kuberay);
  uint32_t group;

  if (options->steps == NULL
          ? !check_selection (view, error) || !manifest_print_pods (session, view, options->manifest, problems, error)
          : !find_step_group (view, &group, error)
                || !manifest_print_steps (session, view->kuberay, group, options->steps, problems, error))
    return false;
  manifest_report_problems (session, problems);
  return true;
}

static bool
print_pods_of_ray (Session *session, const ManifestOptions *options, QuoitKuberay *kuberay, gint64 replica, gint64 host,
                   GError **error)
{
  ManifestView view = { kuberay, -1, replica, host, 0 };
  const char *requeue_reason;

  if (!quoit_kuberay_reconcile (kuberay, &requeue_reason, error))
    {
      g_prefix_error (error, "%s: ", name_of_input (options));
      return false;
    }
  if (!find_group (kuberay, options->group, &view.group, error))
    return false;
  if (options->steps != NULL && (replica >= 0 || host >= 0))
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                           "--slice-id and --worker cannot be combined with --then: it reports all pods of the group");
      return false;
    }
  return print_result (session, options, &view, error);
}

/* Prints the pods of an object without Ray. Takes ownership of @failure, the error of the reader of Ray's objects. If
 * the import also finds no pods, its error is reported instead, because the import knows all objects that make pods. */
static bool
print_other_pods (Session *session, const ManifestOptions *options, const char *text, gsize length, gint64 replica,
                  gint64 host, GError *failure, GError **error)
{
  g_autoptr (GError) of_ray = failure, reason = NULL;
  bool is_printed;

  if (!manifest_print_jobs (session, options, text, length, replica, host, &is_printed, &reason, error))
    return false;
  if (is_printed)
    return true;
  g_propagate_error (error, reason != NULL ? g_steal_pointer (&reason) : g_steal_pointer (&of_ray));
  g_prefix_error (error, "%s: ", name_of_input (options));
  return false;
}

bool
manifest_env (Session *session, const ManifestOptions *options, gint64 replica, gint64 host, GError **error)
{
  bool is_stdin = g_str_equal (options->manifest, "-");
  g_autoptr (QuoitKuberay) kuberay = NULL;
  g_autofree char *text = NULL;
  GError *failure = NULL;
  gsize length;

  if (!quoit_load_text (is_stdin ? "/dev/stdin" : options->manifest, &text, &length, error))
    return false;
  kuberay = quoit_kuberay_parse_manifest (text, length, (const char *const *) options->variables, 0, &failure);
  return kuberay == NULL ? print_other_pods (session, options, text, length, replica, host, failure, error)
                         : print_pods_of_ray (session, options, kuberay, replica, host, error);
}
