/* SPDX-License-Identifier: Apache-2.0 */
/* The models of other systems: Ray, KubeRay, the TPU webhook, JAX and MaxText.
 *
 * This header includes all headers of quoit/models/. The models follow the versions of those systems and can change
 * with them; the core, <quoit/quoit.h>, does not (docs/abi.md). */
#ifndef QUOIT_MODELS_H
#define QUOIT_MODELS_H

#include <quoit/models/systems.h>
#include <quoit/models/coordinates.h>
#include <quoit/models/check.h>
#include <quoit/models/ray-tpu.h>
#include <quoit/models/ray-labels.h>
#include <quoit/models/ray-nodes.h>
#include <quoit/models/ray-slices.h>
#include <quoit/models/ray-subslices.h>
#include <quoit/models/ray-host.h>
#include <quoit/models/ray-train.h>
#include <quoit/models/ray-placement.h>
#include <quoit/models/gke-slice.h>
#include <quoit/models/jax.h>
#include <quoit/models/webhook.h>
#include <quoit/models/kuberay.h>
#include <quoit/models/mesh.h>
#include <quoit/models/maxtext.h>
#include <quoit/models/mesh-links.h>
#include <quoit/models/mesh-choices.h>

#endif
