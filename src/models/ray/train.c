/* SPDX-License-Identifier: Apache-2.0 */
/* Ray Train's JAX backend: the slice of a worker, which follows from its rank, and the environment of a worker. */
#include <string.h>

#include <quoit/models/ray-train.h>

#include "base/error.h"

static gboolean
is_named (const char *variable, const char *name)
{
  gsize length = strlen (name);

  return strncmp (variable, name, length) == 0 && variable[length] == '=';
}

static char **
find_variable (char **env, const char *name)
{
  for (; *env != NULL; env++)
    if (is_named (*env, name))
      return env;
  return NULL;
}

static void
set_variable (GPtrArray *env, const char *variable)
{
  g_autofree char *name = g_strndup (variable, (gsize) (strchr (variable, '=') - variable));

  for (guint i = 0; i + 1 < env->len; i++)
    if (is_named (env->pdata[i], name))
      {
        g_free (env->pdata[i]);
        env->pdata[i] = g_strdup (variable);
        return;
      }
  g_ptr_array_insert (env, (gint) env->len - 1, g_strdup (variable));
}

int64_t
quoit_ray_train_slice_id (int64_t rank, int64_t workers_per_slice, int64_t n_slices)
{
  return workers_per_slice > 0 ? MIN (rank / workers_per_slice, n_slices - 1) : n_slices - 1;
}

char **
quoit_ray_train_env (const char *address, int64_t index, int64_t n_slices, const char *topology, const char *type,
                     const QuoitRayResources *per_worker, const char *const *before, GError **error)
{
  static const char *const nothing[] = { NULL };
  g_auto (GStrv) start = g_strdupv ((char **) (before != NULL ? before : nothing)), megascale = NULL;
  g_autoptr (GPtrArray) env = g_ptr_array_new ();
  g_autoptr (QuoitRayResources) worker = NULL;
  char **port = find_variable (start, "MEGASCALE_PORT"), **platforms = find_variable (start, "JAX_PLATFORMS");
  int64_t per_slice = 0, slice_id;

  if (n_slices > 1)
    {
      worker = quoit_ray_worker_resources (topology, type, per_worker, 1, NULL, NULL, &per_slice, error);
      if (worker == NULL)
        return NULL;
      slice_id = quoit_ray_train_slice_id (index, per_slice, n_slices);
      megascale
          = quoit_ray_coordinator_env (address, n_slices, slice_id, port != NULL ? strchr (*port, '=') + 1 : NULL);
    }
  for (char **variable = start; *variable != NULL; variable++)
    g_ptr_array_add (env, g_strdup (*variable));
  g_ptr_array_add (env, NULL);
  if (platforms == NULL || strcmp (*platforms, "JAX_PLATFORMS=") == 0)
    set_variable (env, "JAX_PLATFORMS=tpu");
  for (char **variable = megascale; variable != NULL && *variable != NULL; variable++)
    set_variable (env, *variable);
  return (char **) g_ptr_array_free (g_steal_pointer (&env), FALSE);
}
