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

/* --- which pods --- */

static QuoitKuberay *
read_manifest (const ManifestOptions *options, GError **error)
{
  bool is_stdin = g_str_equal (options->manifest, "-");
  g_autofree char *text = NULL;
  g_autoptr (QuoitKuberay) kuberay = NULL;
  const char *requeued;
  gsize length;

  if (!quoit_load_text (is_stdin ? "/dev/stdin" : options->manifest, &text, &length, error))
    return NULL;
  kuberay = quoit_kuberay_parse_manifest (text, length, (const char *const *) options->variables, 0, error);
  if (kuberay == NULL || !quoit_kuberay_reconcile (kuberay, &requeued, error))
    {
      g_prefix_error (error, "%s: ", is_stdin ? "standard input" : options->manifest);
      return NULL;
    }
  return g_steal_pointer (&kuberay);
}

static char *
list_groups (const QuoitKuberay *kuberay)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  for (uint32_t i = 0; i < quoit_kuberay_get_n_groups (kuberay); i++)
    g_ptr_array_add (names, (char *) quoit_kuberay_get_group_name (kuberay, i));
  g_ptr_array_add (names, NULL);
  return names->len == 1 ? g_strdup ("none has any") : g_strjoinv (", ", (char **) names->pdata);
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

/* The one whose pods the steps name. */
static bool
choose_group (const ManifestView *view, uint32_t *group, GError **error)
{
  g_autofree char *known = NULL;

  *group = view->group < 0 ? 0 : (uint32_t) view->group;
  if (view->group >= 0 || quoit_kuberay_get_n_groups (view->kuberay) == 1)
    return true;
  known = list_groups (view->kuberay);
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--then: expected --group with it: %s", known);
  return false;
}

/* --- the answer --- */

static bool
check_chosen (const ManifestView *view, GError **error)
{
  for (uint32_t pod = 0; pod < quoit_kuberay_get_n_pods (view->kuberay); pod++)
    if (manifest_is_chosen (view, pod))
      return true;
  if (view->replica < 0 && view->host < 0)
    return true;
  g_set_error_literal (
      error, QUOIT_ERROR, QUOIT_ERROR_NOT_FOUND,
      "--slice-id, --worker: expected a replica index and a host index that a pod of the manifest has");
  return false;
}

/* The pods, or what becomes of them, are shown whatever is wrong: so one sees what it is about. */
static bool
print_result (Session *session, const ManifestOptions *options, ManifestView *view, GError **error)
{
  g_autoptr (GPtrArray) problems = manifest_problems (view->kuberay);
  uint32_t group;

  if (options->steps == NULL
          ? !check_chosen (view, error) || !manifest_pods (session, view, options->manifest, problems, error)
          : !choose_group (view, &group, error)
                || !manifest_steps (session, view->kuberay, group, options->steps, problems, error))
    return false;
  manifest_warn (session, problems);
  return true;
}

bool
manifest_env (Session *session, const ManifestOptions *options, gint64 replica, gint64 host, GError **error)
{
  g_autoptr (QuoitKuberay) kuberay = read_manifest (options, error);
  ManifestView view = { kuberay, -1, replica, host, 0 };

  if (kuberay == NULL || !find_group (kuberay, options->group, &view.group, error))
    return false;
  if (options->steps != NULL && (replica >= 0 || host >= 0))
    {
      g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                           "--slice-id, --worker: expected them without --then, which says what becomes of all pods");
      return false;
    }
  return print_result (session, options, &view, error);
}
