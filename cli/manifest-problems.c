/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the problems that prevent the pods of a manifest from being created or from finding each other, and describes
 * what is assumed about the cluster. */
#include "manifest-env.h"

#include <stdio.h>

#include "text.h"

static void
problem_free (gpointer data)
{
  ManifestProblem *problem = data;

  g_free (problem->group);
  g_clear_error (&problem->why);
  g_free (problem);
}

static void
add_problem (GPtrArray *problems, const char *group, const char *rule, GError *why)
{
  ManifestProblem *problem = g_new0 (ManifestProblem, 1);

  problem->group = g_strdup (group);
  problem->rule = rule;
  problem->why = why;
  g_ptr_array_add (problems, problem);
}

/* Checks every group. The webhook itself stops at the first wrong group, but the user wants to know all problems. */
static void
check_webhook (const QuoitKuberay *kuberay, uint32_t group, GPtrArray *problems)
{
  const char *name = quoit_kuberay_get_group_name (kuberay, group), *denial = NULL;
  GError *why = NULL;

  if (!quoit_kuberay_check_group (kuberay, group, &denial, &why))
    {
      g_prefix_error (&why, "group '%s': the TPU webhook refuses the cluster, so no pods are created: ", name);
      add_problem (problems, name, "refused", why);
    }
  else if (denial != NULL)
    add_problem (problems, name, "denied",
                 g_error_new (QUOIT_ERROR, QUOIT_ERROR_INVALID,
                              "group '%s', numOfHosts '%" G_GINT64_FORMAT
                              "': the TPU webhook denies the cluster, so no pods are created: %s",
                              name, quoit_kuberay_get_group_hosts (kuberay, group), denial));
}

GPtrArray *
manifest_problems (const QuoitKuberay *kuberay)
{
  GPtrArray *problems = g_ptr_array_new_with_free_func (problem_free);
  GError *why = NULL;

  for (uint32_t group = 0; group < quoit_kuberay_get_n_groups (kuberay); group++)
    check_webhook (kuberay, group, problems);
  if (!quoit_kuberay_check_names (kuberay, &why))
    add_problem (problems, NULL, "names", why);
  return problems;
}

static const Column columns[] = {
  { "rule", NULL, CELL_TEXT },
  { "group", NULL, CELL_TEXT },
  { "code", NULL, CELL_TEXT },
  { "message", NULL, CELL_TEXT },
};

Table *
manifest_list_problems (const GPtrArray *problems)
{
  Table *table = table_new (columns, G_N_ELEMENTS (columns));

  for (guint i = 0; i < problems->len; i++)
    {
      const ManifestProblem *problem = problems->pdata[i];

      table_add_text (table, problem->rule);
      table_add_text (table, problem->group);
      table_add_text (table, quoit_error_code_name ((QuoitErrorCode) problem->why->code));
      table_add_text (table, problem->why->message);
    }
  return table;
}

void
manifest_report_problems (Session *session, const GPtrArray *problems)
{
  for (guint i = 0; i < problems->len; i++)
    {
      const ManifestProblem *problem = problems->pdata[i];
      g_autofree char *shown = text_for_terminal (problem->why->message);

      fprintf (stderr, "quoit: env: warning: %s\n", shown);
      if (i == 0)
        session->exit_status = problem->why->code;
    }
}

char *
manifest_assumption (const QuoitKuberay *kuberay)
{
  const char *service = quoit_kuberay_get_service (kuberay);

  if (!quoit_kuberay_is_name_assumed (kuberay))
    return NULL;
  if (service == NULL)
    return g_strdup_printf ("the name of the cluster is assumed: KubeRay puts five random characters in place of "
                            "'xxxxx', also in the names of pods");
  return g_strdup_printf ("the name of the cluster is assumed: KubeRay puts five random characters in place of "
                          "'xxxxx', also in the names of the service and the hosts; metadata.name has at most %u "
                          "bytes, otherwise the hosts cannot find each other",
                          quoit_kuberay_get_longest_name (kuberay));
}
