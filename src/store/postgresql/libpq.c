/* SPDX-License-Identifier: Apache-2.0 */
#include "store/postgresql/libpq.h"

#include <dlfcn.h>

static QuoitPq functions;

/* Returns the name of a function that is missing, or NULL. */
static const char *
find_functions (void *library)
{
#define FIND(name)                                                                                                     \
  *(void **) &functions.name = dlsym (library, #name);                                                                 \
  if (functions.name == NULL)                                                                                          \
    return #name;
  QUOIT_PQ_FUNCTIONS (FIND)
#undef FIND
  return NULL;
}

const QuoitPq *
quoit_pq_load (GError **error)
{
  static GMutex lock;
  static gboolean is_loaded;
  const char *missing;
  void *library;

  g_mutex_lock (&lock);
  if (!is_loaded)
    {
      /* Never closed: threads may use it until the program ends. */
      library = dlopen ("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
      if (library == NULL)
        quoit_fail (error, QUOIT_ERROR_STORE, "a ledger in PostgreSQL needs libpq: %s; install it (Debian: libpq5)",
                    dlerror ());
      else if ((missing = find_functions (library)) != NULL)
        quoit_fail (error, QUOIT_ERROR_STORE, "libpq.so.5 has no %s: expected libpq 14 or later", missing);
      else
        is_loaded = TRUE;
    }
  g_mutex_unlock (&lock);
  return is_loaded ? &functions : NULL;
}
