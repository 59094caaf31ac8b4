/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"
#include "group-view.h"
#include "launch.h"
#include "manifest-env.h"
#include "text.h"
#include "verbs.h"

static const char *const env_outputs[] = { "table", "env", "json", NULL };

typedef struct {
  char *reader;
  gboolean has_all_variables;
  EnvChoiceOptions choice;
  LaunchOptions launch;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->reader);
  env_choice_options_clear (&options->choice);
  launch_options_clear (&options->launch);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

static bool
check_reader (const Session *session, const char *reader, GError **error)
{
  if (reader == NULL)
    return true;
  if (!g_str_equal (reader, "jax"))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--as-seen-by '%s': expected jax", reader);
      return false;
    }
  if (session->output == NULL || !g_str_equal (session->output, "env"))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
               "-o env is an environment, and --as-seen-by is what is read in it: expected one of both");
  return false;
}

static bool
check_alive (const QuoitGroup *group, GError **error)
{
  g_autofree char *label = NULL, *ended = NULL;

  if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
    return true;

  label = g_strdup (quoit_group_get_handle (group));
  ended = text_format_time (quoit_group_get_ended_ms (group));
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "group '%s' was released at %s: it has no workers", label,
               ended);
  return false;
}

static EnvForm
get_form (const Session *session, const Options *options)
{
  if (options->reader != NULL)
    return env_print_jax_view;
  if (session->output != NULL && g_str_equal (session->output, "env"))
    return env_print_for_shell;
  return session_wants_json (session) ? env_print_document : env_print_for_people;
}

static bool
print (Session *session, const Options *options, EnvChoice *choice, const QuoitLaunch *launch, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (GArray) chosen = NULL;
  g_auto (EnvView) view = { .topology = NULL };

  if (snapshot == NULL)
    return false;
  group = group_find (snapshot, session->words[0], error);
  if (group == NULL || !check_alive (group, error))
    return false;
  view = (EnvView) { snapshot,
                     group,
                     quoit_topology_new (group, launch, error),
                     launch_profile_name (&options->launch),
                     NULL,
                     options->has_all_variables };
  if (view.topology == NULL)
    return false;
  env_view_find_slices (&view);
  chosen = env_choose (&view, &options->choice, choice, error);
  return chosen != NULL && get_form (session, options) (session, &view, chosen, error);
}

/* A group of the database, or a manifest; each has its own options. */
static bool
check_usage (const Session *session, const Options *options, const ManifestOptions *manifest, GError **error)
{
  const char *foreign = manifest->manifest == NULL ? (manifest->group != NULL       ? "--group"
                                                      : manifest->variables != NULL ? "--set"
                                                      : manifest->steps != NULL     ? "--then"
                                                                                    : NULL)
                                                   : (options->choice.slice != NULL            ? "--slice"
                                                      : options->choice.process != NULL        ? "--process"
                                                      : options->choice.bundle != NULL         ? "--bundle"
                                                      : options->launch.profile != NULL        ? "--profile"
                                                      : options->launch.per_host != NULL       ? "--processes-per-host"
                                                      : options->launch.jobset != NULL         ? "--jobset"
                                                      : options->launch.replicated_job != NULL ? "--replicated-job"
                                                      : options->reader != NULL                ? "--as-seen-by"
                                                      : options->has_all_variables             ? "--all-variables"
                                                                                               : NULL);

  if (foreign != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s: expected it %s --manifest alone", foreign,
                 manifest->manifest == NULL ? "with" : "without");
  else if ((session->words[0] == NULL) == (manifest->manifest == NULL))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "expected the arguments: GROUP | --manifest FILE; see quoit env --help");
  else if (manifest->manifest != NULL && session->output != NULL && g_str_equal (session->output, "env"))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "-o env: expected it without --manifest, a pod has variables that only its cluster knows");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  g_auto (ManifestOptions) of = { 0 };
  const GOptionEntry entries[] = {
    { "slice", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.slice, "only the workers of this slice", "NAME" },
    { "slice-id", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.slice_id, "only the workers of the slice of this id",
      "N" },
    { "worker", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.worker, "only the worker of this id in its slice", "N" },
    { "process", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.process, "only the process of this id in the job", "N" },
    { "bundle", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.bundle, "only the process of this bundle", "N" },
    { "profile", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.profile,
      "whose environment: quoit, ray-train, kuberay or jobset (quoit)", "NAME" },
    { "processes-per-host", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.per_host,
      "how many processes share the chips of a host: 1, 2, 4 or 8 (1)", "N" },
    { "jobset", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.jobset, "the JobSet's name (the group's)", "NAME" },
    { "replicated-job", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.replicated_job,
      "the name of its replicated job (slice-job)", "NAME" },
    { "all-variables", 0, 0, G_OPTION_ARG_NONE, &options.has_all_variables,
      "for a shell: variables that are not for TPU jobs, too", NULL },
    { "as-seen-by", 0, 0, G_OPTION_ARG_FILENAME, &options.reader, "what a program makes of it instead: jax",
      "PROGRAM" },
    { "manifest", 0, 0, G_OPTION_ARG_FILENAME, &of.manifest, "the pods that it will make instead; - is standard input",
      "FILE" },
    { "group", 0, 0, G_OPTION_ARG_FILENAME, &of.group, "of --manifest: only the pods of this worker group", "NAME" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &of.variables, "of --manifest: a ${VARIABLE}", "VARIABLE=VALUE" },
    { "then", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &of.steps, "of --manifest: what KubeRay does when this happens",
      "STEP" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitLaunch) launch = NULL;
  EnvChoice choice;

  if (!session_parse (session, entries, error) || !session_check (session, env_outputs, error)
      || !check_usage (session, &options, &of, error))
    return false;
  if (of.manifest != NULL)
    return env_choice_read (&options.choice, &choice, error)
           && manifest_env (session, &of, choice.slice_id, choice.worker_id, error);
  launch = launch_build (&options.launch, error);
  return launch != NULL && check_reader (session, options.reader, error)
         && env_choice_read (&options.choice, &choice, error) && print (session, &options, &choice, launch, error);
}

const Verb verb_env = {
  "env",
  "GROUP | --manifest FILE",
  "the environment of each process of a group, or of each pod of a manifest",
  "-o env writes one process of a group as NAME='value' lines for a POSIX shell: the variables for TPU jobs alone.\n"
  "--manifest needs no database; its slice ids and workers are the indices of replicas and hosts. A STEP is\n"
  "fail=REPLICA.HOST, end=..., restart=..., lose=..., delete=..., replicas=N, suspend or resume.",
  0,
  1,
  run,
};
