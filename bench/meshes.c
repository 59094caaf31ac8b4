/* SPDX-License-Identifier: Apache-2.0 */
/* Device meshes: of a whole pod, with whole and with split physical axes, and of many slices. Compares them with
 * JAX, if available. And the ranks of all meshes of given axes. */
#include "bench.h"

#include <quoit/models/mesh-choices.h>

typedef struct {
  const char *kind, *topology;
  uint32_t n_slices;
  int64_t sizes[6], dcn_sizes[3];
  unsigned flags;
  QuoitDevices *devices;
} Case;

static void
create_devices (Case *c)
{
  c->devices = quoit_devices_new_slices (c->kind, c->topology, c->n_slices, 0, 0, NULL);
  g_assert_nonnull (c->devices);
}

static void
recreate_devices (gpointer data)
{
  Case *c = data;

  quoit_devices_free (c->devices);
  create_devices (c);
}

static void
make (gpointer data)
{
  const Case *c = data;
  g_autoptr (QuoitMesh) mesh = NULL;

  if (c->n_slices == 1)
    mesh = quoit_mesh_new (c->devices, c->sizes, 3, c->flags, NULL);
  else
    mesh = quoit_mesh_new_hybrid (c->devices, c->sizes, 3, c->dcn_sizes, 3, c->flags, NULL);
  g_assert_nonnull (mesh);
}

static void
rank (gpointer data)
{
  enum { BYTES = 1 << 30 };
  const Case *c = data;
  g_autoptr (QuoitMeshChoices) choices = quoit_mesh_choices_new (c->devices, c->sizes, 6, NULL, BYTES, NULL);

  g_assert_nonnull (choices);
}

static void
measure (Bench *bench, const char *scenario, const char *fleet, void (*run) (gpointer), Case *c, BenchLimit ns)
{
  create_devices (c);
  bench_measure (bench, &(BenchOperation) { .scenario = scenario,
                                            .fleet = fleet,
                                            .run = run,
                                            .data = c,
                                            .n_operations = 1,
                                            .ns = ns,
                                            .instructions = BENCH_NONE });
  quoit_devices_free (c->devices);
}

static void
take_jax (Bench *bench, const char *scenario, const char *fleet, double ns)
{
  g_autofree char *peer = g_strconcat (scenario, ", JAX", NULL), *ratio = g_strconcat (peer, " / quoit", NULL);

  bench_add (bench, peer, fleet, ns, "ns", BENCH_NONE);
  bench_add (bench, ratio, fleet, ns / bench_ns (bench, scenario, fleet), "times", BENCH_NONE);
}

static void
measure_jax (Bench *bench)
{
  g_autofree char *run = g_build_filename (g_getenv ("top_srcdir"), "bindings/python/run.sh", NULL),
                  *script = g_build_filename (g_getenv ("top_srcdir"), "bench/jax_meshes.py", NULL);
  char *argv[] = { "env", "JAX_PLATFORMS=cpu", "wheels=differential/jax-requirements.txt", "sh", run, script, NULL };

  bench_program (bench, argv, take_jax);
}

void
bench_meshes (Bench *bench)
{
  Case whole = { "v5p", "16x20x28", 1, { 28, 20, 16 }, { 0 }, 0, NULL };
  Case split = { "v5p", "16x20x28", 1, { 64, 7, 20 }, { 0 }, QUOIT_MESH_SPLIT_PHYSICAL_AXES, NULL };
  Case slices = { "v6e", "16x16", 64, { 1, 16, 16 }, { 64, 1, 1 }, 0, NULL };
  Case six = { "v5p", "16x16x24", 1, { 2, 4, 8, 6, 4, 4 }, { 0 }, 0, NULL };

  measure (bench, "list the devices", "v5p, 8,960 chips", recreate_devices, &whole, BENCH_UP_TO (5e6));
  measure (bench, "mesh, 3 axes", "v5p, 8,960 chips", make, &whole, BENCH_UP_TO (5e6));
  measure (bench, "mesh, 3 axes, split", "v5p, 8,960 chips", make, &split, BENCH_UP_TO (5e6));
  measure (bench, "hybrid mesh, 3 axes", "v6e, 64 x 256 chips", make, &slices, BENCH_NONE);
  measure (bench, "rank the 720 meshes of 6 axes", "v5p, 6,144 chips", rank, &six, BENCH_UP_TO (1e8));
  if (!bench_is_counting (bench))
    measure_jax (bench);
}
