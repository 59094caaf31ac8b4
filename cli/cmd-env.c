/* SPDX-License-Identifier: Apache-2.0 */
#include "env.h"
#include "group-names.h"
#include "group-view.h"
#include "launch.h"
#include "manifest-env.h"
#include "text.h"
#include "verbs.h"

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
  if (session->output == NULL || (!g_str_equal (session->output, "env") && !g_str_equal (session->output, "slice")))
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "-o %s and --as-seen-by: expected one of them, not both",
               session->output);
  return false;
}

static bool
check_not_removed (const QuoitGroup *group, GError **error)
{
  g_autofree char *ended = NULL;

  if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
    return true;

  ended = text_format_time (quoit_group_get_ended_ms (group));
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID, "group '%s' was released at %s: it has no workers",
               quoit_group_get_handle (group), ended);
  return false;
}

static bool
wants (const Session *session, const char *output)
{
  return session->output != NULL && g_str_equal (session->output, output);
}

static bool
check_has_slices (const QuoitGroup *group, GError **error)
{
  if (quoit_group_get_n_slices (group) > 0)
    return true;
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
               "group '%s' has bundles: -o slice expects a group of slices, because a Slice object is one slice",
               quoit_group_get_handle (group));
  return false;
}

/* Prints GKE's Slice objects of the slices of the chosen processes, which are adjacent. */
static bool
print_slice_objects (Session *session, const EnvView *view, const GArray *chosen, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  gint64 before = -1;

  if (!check_has_slices (view->group, error))
    return false;
  for (guint i = 0; i < chosen->len; i++)
    {
      const uint32_t slice = quoit_topology_get_slice_id (view->topology, g_array_index (chosen, uint32_t, i));
      g_autofree char *object = NULL;

      if (slice == before)
        continue;
      object = quoit_gke_slice_format (view->group, slice, error);
      if (object == NULL)
        return false;
      g_string_append_printf (text, "%s%s", before < 0 ? "" : "---\n", object);
      before = slice;
    }
  return session_write (session, text->str, error);
}

static EnvPrintFunc
get_print_func (const Session *session, const Options *options)
{
  if (options->reader != NULL)
    return env_print_jax_view;
  if (wants (session, "slice"))
    return print_slice_objects;
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
  if (group == NULL || !check_not_removed (group, error) || !group_check_has_begun (group, "environment", error))
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
  return chosen != NULL && get_print_func (session, options) (session, &view, chosen, error);
}

/* Checks that there is either a group or a manifest, and only options of that form. */
static bool
check_usage (const Session *session, const Options *options, const ManifestOptions *manifest, GError **error)
{
  const char *launch = launch_first_option (&options->launch);
  const char *misplaced = manifest->manifest == NULL ? (manifest->group != NULL       ? "--group"
                                                        : manifest->variables != NULL ? "--set"
                                                        : manifest->steps != NULL     ? "--then"
                                                                                      : NULL)
                                                     : (options->choice.slice != NULL     ? "--slice"
                                                        : options->choice.process != NULL ? "--process"
                                                        : options->choice.bundle != NULL  ? "--bundle"
                                                        : launch != NULL                  ? launch
                                                        : options->reader != NULL         ? "--as-seen-by"
                                                        : options->has_all_variables      ? "--all-variables"
                                                        : session->at != NULL             ? "--at"
                                                                                          : NULL);

  if (misplaced != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s %s", misplaced,
                 manifest->manifest == NULL ? "requires --manifest FILE" : "cannot be combined with --manifest");
  else if ((session->words[0] == NULL) == (manifest->manifest == NULL))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "expected the arguments: GROUP | --manifest FILE; see quoit env --help");
  else if (manifest->manifest != NULL && session->output != NULL && g_str_equal (session->output, "env"))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "-o env cannot be combined with --manifest: only the cluster knows all variables of a pod");
  else if (manifest->manifest != NULL && wants (session, "slice"))
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "-o slice cannot be combined with --manifest: only a group has cubes");
  else if (wants (session, "slice") && options->launch.profile != NULL)
    g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                         "-o slice and --profile: expected one of them, not both: an object has no environment");
  else
    return true;
  return false;
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  g_auto (ManifestOptions) manifest = { 0 };
  const GOptionEntry entries[] = {
    { "slice", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.slice, "only the workers of this slice", "NAME" },
    { "slice-id", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.slice_id, "only the workers of the slice with this id",
      "N" },
    { "worker", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.worker, "only the worker with this id in its slice", "N" },
    { "process", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.process, "only the process with this id in the job",
      "N" },
    { "bundle", 0, 0, G_OPTION_ARG_FILENAME, &options.choice.bundle, "only the process of this bundle", "N" },
    { "profile", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.profile,
      "the system that starts the job: quoit, ray-train, kuberay, jobset, lws or job (quoit)", "NAME" },
    { "processes-per-host", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.per_host,
      "the number of processes per host: 1, 2, 4 or 8 (1)", "N" },
    { "jobset", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.jobset, "the name of the JobSet (the name of the group)",
      "NAME" },
    { "replicated-job", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.replicated_job,
      "the name of the replicated job (slice-job)", "NAME" },
    { "lws", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.lws,
      "the name of the LeaderWorkerSet (the name of the group)", "NAME" },
    { "namespace", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.kubernetes_namespace,
      "the namespace of the LeaderWorkerSet (default)", "NAME" },
    { "job", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.job, "the name of the Job (the name of the group)", "NAME" },
    { "subdomain", 0, 0, G_OPTION_ARG_FILENAME, &options.launch.subdomain,
      "the subdomain of the pods of the Job, a headless service", "NAME" },
    { "all-variables", 0, 0, G_OPTION_ARG_NONE, &options.has_all_variables,
      "with -o env: also write variables that are not for TPU jobs", NULL },
    { "as-seen-by", 0, 0, G_OPTION_ARG_FILENAME, &options.reader,
      "instead, show what a program reads from the environment: jax", "PROGRAM" },
    { "manifest", 0, 0, G_OPTION_ARG_FILENAME, &manifest.manifest,
      "instead of a group, the pods of this manifest; - is standard input", "FILE" },
    { "group", 0, 0, G_OPTION_ARG_FILENAME, &manifest.group, "with --manifest: only the pods of this worker group",
      "NAME" },
    { "set", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &manifest.variables, "with --manifest: the value of ${VARIABLE}",
      "VARIABLE=VALUE" },
    { "then", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &manifest.steps,
      "with --manifest: show what KubeRay does after this step", "STEP" },
    G_OPTION_ENTRY_NULL,
  };
  g_autoptr (QuoitLaunch) launch = NULL;
  EnvChoice choice;

  if (!session_parse (session, entries, error) || !session_check (session, error)
      || !check_usage (session, &options, &manifest, error))
    return false;
  if (manifest.manifest != NULL)
    return env_choice_parse (&options.choice, &choice, error)
           && manifest_env (session, &manifest, choice.slice_id, choice.worker_id, error);
  launch = launch_build (&options.launch, error);
  return launch != NULL && check_reader (session, options.reader, error)
         && env_choice_parse (&options.choice, &choice, error) && print (session, &options, &choice, launch, error);
}

const Verb verb_env = {
  "env",
  "GROUP | --manifest FILE",
  "print the environment of each process of a group, or of each pod of a manifest",
  "-o env writes lines NAME='value' of one process for a POSIX shell, with only the variables for TPU jobs.\n"
  "-o slice writes GKE's Slice object for each slice that is joined from cubes, or a partition of one, as YAML.\n"
  "--manifest needs no database; --slice-id and --worker then select by replica index and host index. A STEP is\n"
  "fail=REPLICA.HOST, end=..., restart=..., lose=..., delete=..., replicas=N, suspend or resume.",
  0,
  1,
  run,
};
