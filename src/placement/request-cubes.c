/* SPDX-License-Identifier: Apache-2.0 */
/* How the slices of a request may be joined from cubes. */
#include <string.h>

#include "fleet/blocks.h"
#include "placement/request.h"

/* Only the pages of some generations document twists (gke-kuberay-jax 1.9). */
static gboolean
check_twist (const QuoitRequest *request, GError **error)
{
  const QuoitGenerationFacts *facts = quoit_generation_facts (request->generation);
  g_autofree char *shape = NULL;

  if ((facts->traits & QUOIT_GENERATION_TWIST_DOCUMENTED) == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cubes 'any-twisted': expected v4 or v5p, no public page says that %s can be twisted",
                       quoit_generation_name (request->generation));
  if (quoit_shape_is_twistable (request->generation, request->shape))
    return TRUE;
  shape = quoit_shape_format (request->shape);
  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "topology '%s' with cubes 'any-twisted': expected k k 2k or k 2k 2k with a k that is a multiple of "
      "4, such as '4x4x8'",
      shape);
}

static gboolean
check_shape (const QuoitRequest *request, GError **error)
{
  g_autofree char *shape = NULL;
  gboolean is_made_of_cubes = request->shape.n_dims == 3;

  for (guint axis = 0; axis < 3; axis++)
    is_made_of_cubes = is_made_of_cubes && request->shape.dims[axis] % QUOIT_CUBE_SIDE == 0;
  if (is_made_of_cubes)
    return request->cubes != QUOIT_CUBES_ANY_TWISTED || check_twist (request, error);
  shape = quoit_shape_format (request->shape);
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "topology '%s' with cubes '%s': expected three sides that are multiples of %d, because a cube is "
                     "4x4x4; cut 'partition' makes parts of a cube",
                     shape, quoit_cubes_name (request->cubes), QUOIT_CUBE_SIDE);
}

gboolean
quoit_request_check_cubes (const QuoitRequest *request, GError **error)
{
  const char *name = quoit_cubes_name (request->cubes);
  const QuoitGenerationFacts *facts = quoit_generation_facts (request->generation);

  if (request->bundles->len > 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes '%s': expected a request for slices, not for bundles", name);
  if (request->cut != QUOIT_CUT_WHOLE)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cubes '%s' and cut '%s': expected one of them; a joined slice has whole cubes", name,
                       quoit_cut_name (request->cut));
  if (request->tpu_per_bundle.e4 != 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cubes '%s' and TPU per bundle: expected one of them; a joined slice has whole hosts", name);
  if (request->keep_to != QUOIT_DOMAIN_NONE || request->spread_over != QUOIT_DOMAIN_NONE || request->near != NULL)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "cubes '%s' with domains or near a group: expected neither; name a pool or zone instead", name);
  if (facts == NULL || request->shape.n_dims == 0)
    return TRUE; /* what is missing is named later */
  if (facts->ocs_cube.n_dims == 0)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "cubes '%s': expected a generation with cubes, %s has none", name,
                       quoit_generation_name (request->generation));
  if (request->chips_per_host != 0 && request->chips_per_host != 4)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "chips per host '%u' with cubes '%s': expected 4",
                       request->chips_per_host, name);
  return check_shape (request, error);
}
