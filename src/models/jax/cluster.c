/* SPDX-License-Identifier: Apache-2.0 */
/* Computes what jax.distributed.initialize() finds on a TPU host (gke-kuberay-jax 4). JAX reads each fact
 * separately, so an unreadable fact does not affect the others. */
#include "models/jax/cluster.h"

#include <string.h>

#include "base/error.h"
#include "base/python.h"
#include "base/variable.h"

#define DEFAULT_PORT "8482"

/* The environment, metadata and file that JAX reads in one process. */
struct _QuoitJaxCluster {
  QuoitJaxClusterKind kind;
  GPtrArray *env;       /* of reference-counted variables, so that the processes of a slice can share them */
  char **metadata;      /* "KEY=VALUE" texts of the metadata server */
  char *addresses_text; /* contents of the addresses file; NULL: cannot be read */
};

/* Returns the first variable of that name, or NULL if it is not set. */
static const char *
find_variable (const QuoitJaxCluster *cluster, const char *name)
{
  for (guint i = 0; i < cluster->env->len; i++)
    if (strcmp (quoit_variable_name (cluster->env->pdata[i]), name) == 0)
      return cluster->env->pdata[i];
  return NULL;
}

static const char *
variable_value (const QuoitJaxCluster *cluster, const char *name)
{
  const char *found = find_variable (cluster, name);

  return found == NULL ? NULL : quoit_variable_value (found);
}

/* --- workers of a slice --- */

/* JAX stops if it cannot use the file. The message includes the exception that JAX raises, with its text: @reason and
 * the path. */
static gboolean
refuse_file (const char *path, const char *expected, const char *exception, const char *reason, GError **error)
{
  g_autofree char *quoted = quoit_quote (path), *full = g_strdup_printf ("%s%s", reason, path);
  g_autofree char *message = quoit_quote (full);

  return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU_PROCESS_ADDRESSES_PATH %s: expected %s: JAX raises %s %s", quoted,
                     expected, exception, message);
}

/* Sets *@list to the contents of the file, which override the environment, or to NULL if no file is named. */
static gboolean
read_addresses_file (const QuoitJaxCluster *cluster, char **list, GError **error)
{
  const char *path = variable_value (cluster, "TPU_PROCESS_ADDRESSES_PATH");
  g_autofree char *text = NULL;

  *list = NULL;
  if (path == NULL || *path == '\0')
    return TRUE;
  if (cluster->addresses_text == NULL)
    return refuse_file (path, "a file that can be read", "RuntimeError", "Failed to read TPU process addresses file ",
                        error);
  text = quoit_python_strip (cluster->addresses_text);
  if (*text == '\0')
    return refuse_file (path, "addresses, found none", "ValueError", "TPU process addresses file is empty: ", error);

  *list = g_steal_pointer (&text);
  return TRUE;
}

/* Sets *@list to the worker list as a shared variable (quoit_variable_unref()), so that processes do not copy it. It
 * is NULL if the pod has no list. */
static gboolean
find_worker_list (const QuoitJaxCluster *cluster, char **list, GError **error)
{
  g_autofree char *text = NULL;
  const char *list_variable = NULL;

  if (!read_addresses_file (cluster, &text, error))
    return FALSE;
  if (text != NULL)
    {
      *list = quoit_variable_new ("TPU_PROCESS_ADDRESSES_PATH", text);
      return TRUE;
    }
  list_variable = find_variable (cluster, "TPU_PROCESS_ADDRESSES");
  if (list_variable == NULL)
    list_variable = find_variable (cluster, "TPU_WORKER_HOSTNAMES");
  *list = list_variable == NULL ? NULL : g_atomic_rc_box_acquire ((char *) list_variable);
  return TRUE;
}

/* Like find_worker_list(), but a missing list becomes "None", because Python converts None to this text. */
static char *
find_pod_list (const QuoitJaxCluster *cluster, GError **error)
{
  char *list = NULL;

  if (!find_worker_list (cluster, &list, error))
    return NULL;
  return list != NULL ? list : quoit_variable_new ("TPU_WORKER_HOSTNAMES", "None");
}

/* Splits "a,b" into a and b. Unlike g_strsplit(), returns one empty text for "". */
static char **
split (const char *list)
{
  static const char *const empty[] = { "", NULL };

  return *list == '\0' ? g_strdupv ((char **) empty) : g_strsplit (list, ",", -1);
}

/* JAX reads the worker list even if the cluster type is given, so an unreadable file is always an error. */
static gboolean
check_addresses_file (const QuoitJaxCluster *cluster, GError **error)
{
  g_autofree char *text = NULL;

  return cluster->kind != QUOIT_JAX_CLUSTER_GKE_TPU || read_addresses_file (cluster, &text, error);
}

static char **
list_pod_workers (const QuoitJaxCluster *cluster, GError **error)
{
  char *list = find_pod_list (cluster, error);
  char **workers = list == NULL ? NULL : split (quoit_variable_value (list));

  g_clear_pointer (&list, quoit_variable_unref);
  return workers;
}

/* Accepts "HOST", or the older form "NAME:ID:ADDRESS", which is replaced by ADDRESS. */
static gboolean
shorten_endpoint (char **endpoint, GError **error)
{
  g_auto (GStrv) parts = g_strsplit (*endpoint, ":", -1);
  guint n = g_strv_length (parts);
  g_autofree char *quoted = NULL;

  if (n == 3)
    {
      g_free (*endpoint);
      *endpoint = g_strdup (parts[2]);
    }
  if (n <= 1 || n == 3)
    return TRUE;

  quoted = quoit_quote (*endpoint);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "worker-network-endpoints: %s: expected HOST or NAME:ID:ADDRESS",
                     quoted);
}

static char **
list_vm_workers (const QuoitJaxCluster *cluster, GError **error)
{
  const char *list = g_environ_getenv (cluster->metadata, "worker-network-endpoints");
  g_auto (GStrv) workers = NULL;

  if (list == NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "metadata: expected worker-network-endpoints");
  workers = split (list);
  for (char **worker = workers; *worker != NULL; worker++)
    if (!shorten_endpoint (worker, error))
      return NULL;

  return g_steal_pointer (&workers);
}

/* --- numbers --- */

static gboolean
read_number (const char *text, const char *what, int64_t *number, GError **error)
{
  g_autoptr (QuoitBig) big = quoit_python_int (text, what, error);
  g_autofree char *quoted = NULL;

  if (big == NULL)
    return FALSE;
  if (quoit_big_to_int (big, number))
    return TRUE;

  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s %s: expected an integer of 64 bits", what, quoted);
}

static gboolean
has_name (const char *line, const char *colon, const char *name)
{
  g_autofree char *key = g_strndup (line, (gsize) (colon - line)), *stripped = quoit_python_strip (key);

  return strcmp (stripped, name) == 0;
}

static char *
unquote (const char *text)
{
  g_autofree char *stripped = quoit_python_strip (text);
  const char *begin = stripped + strspn (stripped, "'"), *end = begin + strlen (begin);

  while (end > begin && end[-1] == '\'')
    end--;
  return g_strndup (begin, (gsize) (end - begin));
}

/* Searches lines of the form "NAME: 'value'". If a name occurs twice, the last one counts. Free the result with
 * g_free(). */
static char *
find_in_metadata (const QuoitJaxCluster *cluster, const char *name)
{
  const char *text = g_environ_getenv (cluster->metadata, "tpu-env");
  g_auto (GStrv) lines = g_strsplit (text != NULL ? text : "", "\n", -1);
  const char *found = NULL;

  for (char **line = lines; *line != NULL; line++)
    {
      const char *colon = strchr (*line, ':');

      if (colon != NULL && has_name (*line, colon, name))
        found = colon + 1;
    }
  return found != NULL ? unquote (found) : NULL;
}

/* Searches the environment and then the metadata. An empty variable hides the metadata. Returns NULL if the value is
 * empty or missing. */
static char *
find_megascale (const QuoitJaxCluster *cluster, const char *name)
{
  const char *set = variable_value (cluster, name);
  g_autofree char *value = set != NULL ? g_strdup (set) : find_in_metadata (cluster, name);

  return value != NULL && *value != '\0' ? g_steal_pointer (&value) : NULL;
}

static gboolean
read_megascale (const QuoitJaxCluster *cluster, const char *name, int64_t default_value, int64_t *number,
                GError **error)
{
  g_autofree char *value = find_megascale (cluster, name);

  *number = default_value;
  return value == NULL || read_number (value, name, number, error);
}

static gboolean
read_worker_id (const QuoitJaxCluster *cluster, int64_t *id, GError **error)
{
  gboolean is_vm = cluster->kind == QUOIT_JAX_CLUSTER_GCE_TPU;
  const char *name = is_vm ? "agent-worker-number" : "TPU_WORKER_ID";
  const char *text = is_vm ? g_environ_getenv (cluster->metadata, name) : variable_value (cluster, name);

  if (text == NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%s is not set: expected an integer", name);
  return read_number (text, name, id, error);
}

/* --- construction --- */

static char **
copy (const char *const *pairs)
{
  static const char *const nothing[] = { NULL };

  return g_strdupv ((char **) (pairs != NULL ? pairs : nothing));
}

static QuoitJaxCluster *
cluster_alloc (QuoitJaxClusterKind kind, const char *const *metadata, const char *addresses)
{
  QuoitJaxCluster *cluster = g_new0 (QuoitJaxCluster, 1);

  cluster->kind = kind;
  cluster->env = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref);
  cluster->metadata = copy (metadata);
  cluster->addresses_text = g_strdup (addresses);
  return cluster;
}

static void
read_env (QuoitJaxCluster *cluster, const char *const *env)
{
  for (; env != NULL && *env != NULL; env++)
    {
      const char *equals = strchr (*env, '=');
      g_autofree char *name = equals == NULL ? NULL : g_strndup (*env, (gsize) (equals - *env));

      if (name != NULL)
        g_ptr_array_add (cluster->env, quoit_variable_new (name, equals + 1));
    }
}

QuoitJaxCluster *
quoit_jax_cluster_new (QuoitJaxClusterKind kind, const char *const *env, const char *const *metadata,
                       const char *addresses)
{
  gboolean is_known = kind == QUOIT_JAX_CLUSTER_GCE_TPU || kind == QUOIT_JAX_CLUSTER_GKE_TPU;
  QuoitJaxCluster *cluster = cluster_alloc (is_known ? kind : QUOIT_JAX_CLUSTER_NONE, metadata, addresses);

  read_env (cluster, env);
  return cluster;
}

static gboolean
detect_kind (QuoitJaxCluster *cluster, GError **error)
{
  char *list = NULL;

  cluster->kind = QUOIT_JAX_CLUSTER_GCE_TPU;
  if (variable_value (cluster, "TPU_SKIP_MDS_QUERY") == NULL
      && g_environ_getenv (cluster->metadata, "agent-worker-number") != NULL)
    return TRUE;
  if (!find_worker_list (cluster, &list, error))
    return FALSE;

  cluster->kind = list != NULL ? QUOIT_JAX_CLUSTER_GKE_TPU : QUOIT_JAX_CLUSTER_NONE;
  g_clear_pointer (&list, quoit_variable_unref);
  return TRUE;
}

QuoitJaxCluster *
quoit_jax_cluster_detect (const char *const *env, const char *const *metadata, const char *addresses, GError **error)
{
  g_autoptr (QuoitJaxCluster) cluster = quoit_jax_cluster_new (QUOIT_JAX_CLUSTER_NONE, env, metadata, addresses);

  return detect_kind (cluster, error) ? g_steal_pointer (&cluster) : NULL;
}

QuoitJaxCluster *
quoit_jax_cluster_detect_shared (const GPtrArray *variables, GError **error)
{
  g_autoptr (QuoitJaxCluster) cluster = cluster_alloc (QUOIT_JAX_CLUSTER_NONE, NULL, NULL);

  for (guint i = 0; i < variables->len; i++)
    g_ptr_array_add (cluster->env, g_atomic_rc_box_acquire (variables->pdata[i]));
  return detect_kind (cluster, error) ? g_steal_pointer (&cluster) : NULL;
}

void
quoit_jax_cluster_free (QuoitJaxCluster *cluster)
{
  if (cluster == NULL)
    return;
  g_ptr_array_unref (cluster->env);
  g_strfreev (cluster->metadata);
  g_free (cluster->addresses_text);
  g_free (cluster);
}

QuoitJaxClusterKind
quoit_jax_cluster_get_kind (const QuoitJaxCluster *cluster)
{
  g_return_val_if_fail (cluster != NULL, QUOIT_JAX_CLUSTER_NONE);

  return cluster->kind;
}

char **
quoit_jax_cluster_list_workers (const QuoitJaxCluster *cluster, GError **error)
{
  g_return_val_if_fail (cluster != NULL, NULL);

  switch (cluster->kind)
    {
    case QUOIT_JAX_CLUSTER_GCE_TPU:
      return list_vm_workers (cluster, error);
    case QUOIT_JAX_CLUSTER_GKE_TPU:
      return list_pod_workers (cluster, error);
    default:
      return quoit_fail_null (error, QUOIT_ERROR_NOT_FOUND,
                              "environment: expected TPU_WORKER_HOSTNAMES or TPU_PROCESS_ADDRESSES, or metadata with "
                              "agent-worker-number: JAX finds no cluster");
    }
}

static gboolean
count_workers (const QuoitJaxCluster *cluster, int64_t *n_workers, GError **error)
{
  gboolean is_pod = cluster->kind == QUOIT_JAX_CLUSTER_GKE_TPU;
  char *list = is_pod ? find_pod_list (cluster, error) : NULL;
  g_auto (GStrv) workers = is_pod ? NULL : quoit_jax_cluster_list_workers (cluster, error);

  if (list == NULL && workers == NULL)
    return FALSE;
  *n_workers = is_pod ? quoit_variable_count_elements (list) : g_strv_length (workers);
  g_clear_pointer (&list, quoit_variable_unref);
  return TRUE;
}

/* Free the result with g_free(). */
static char *
first_worker (const QuoitJaxCluster *cluster, GError **error)
{
  gboolean is_pod = cluster->kind == QUOIT_JAX_CLUSTER_GKE_TPU;
  char *list = is_pod ? find_pod_list (cluster, error) : NULL, *first;
  g_auto (GStrv) workers = is_pod ? NULL : quoit_jax_cluster_list_workers (cluster, error);

  if (list == NULL && workers == NULL)
    return NULL;
  first = is_pod ? g_strndup (quoit_variable_value (list), strcspn (quoit_variable_value (list), ","))
                 : g_strdup (workers[0]);
  g_clear_pointer (&list, quoit_variable_unref);
  return first;
}

char *
quoit_jax_cluster_dup_coordinator (const QuoitJaxCluster *cluster, GError **error)
{
  g_autofree char *host = NULL;
  const char *port;

  g_return_val_if_fail (cluster != NULL, NULL);

  if (!check_addresses_file (cluster, error))
    return NULL;
  host = find_megascale (cluster, "MEGASCALE_COORDINATOR_ADDRESS");
  if (host == NULL || cluster->kind == QUOIT_JAX_CLUSTER_NONE)
    {
      g_free (host);
      host = first_worker (cluster, error);
    }
  if (host == NULL)
    return NULL;
  host[strcspn (host, ":")] = '\0';
  port = variable_value (cluster, "JAX_COORDINATOR_PORT");
  return g_strconcat (host, ":", port != NULL && *port != '\0' ? port : DEFAULT_PORT, NULL);
}

bool
quoit_jax_cluster_count_processes (const QuoitJaxCluster *cluster, int64_t *count, GError **error)
{
  int64_t n_workers = 0, n_slices = 0, product;

  g_return_val_if_fail (cluster != NULL && count != NULL, 0);

  if (!count_workers (cluster, &n_workers, error)
      || !read_megascale (cluster, "MEGASCALE_NUM_SLICES", 1, &n_slices, error))
    return 0;
  if (__builtin_mul_overflow (n_workers, n_slices, &product))
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "MEGASCALE_NUM_SLICES '%" G_GINT64_FORMAT "': expected a number of processes that fits in 64 bits", n_slices);

  *count = product;
  return 1;
}

bool
quoit_jax_cluster_find_process_id (const QuoitJaxCluster *cluster, int64_t *process_id, GError **error)
{
  int64_t n_workers = 0, worker_id = 0, slice_id = 0, id;

  g_return_val_if_fail (cluster != NULL && process_id != NULL, 0);

  if (!count_workers (cluster, &n_workers, error) || !read_worker_id (cluster, &worker_id, error)
      || !read_megascale (cluster, "MEGASCALE_SLICE_ID", 0, &slice_id, error))
    return 0;
  if (__builtin_mul_overflow (slice_id, n_workers, &id) || __builtin_add_overflow (id, worker_id, &id))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "MEGASCALE_SLICE_ID '%" G_GINT64_FORMAT "': expected a process id that fits in 64 bits",
                       slice_id);

  *process_id = id;
  return 1;
}
