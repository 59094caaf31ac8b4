/* SPDX-License-Identifier: Apache-2.0 */
/* Devices of a pod: its claims, and what the claims' documents request. */
#pragma once

#include "formats/raycluster.h"

typedef struct {
  const QuoitManifest *manifest;
  const QuoitRayGroup *of;
  QuoitClaims *claims; /* for warnings */
  GHashTable *uses;    /* name of a claim -> GPtrArray of the requests that containers use; "" is all */
  GHashTable *classes; /* of devices -> gint64 *: how many */
} QuoitDevices;

/* One entry of the pod's resourceClaims. */
typedef struct {
  JsonNode *node, *source_node;
  const char *name, *source, *kind; /* kind of the document that is meant by source */
  const char *called;               /* "ResourceClaim 'x'" */
} QuoitDeviceClaim;

/* Adds to the classes what @document requests for the containers that use @claim. */
gboolean quoit_devices_read_requests (QuoitDevices *devices, const QuoitDeviceClaim *claim, JsonNode *document);

void quoit_devices_warn (QuoitDevices *devices, JsonNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* A list of at most 256; NULL where it is absent. */
gboolean quoit_devices_find_list (const QuoitDevices *devices, JsonNode *from, const char *name, JsonArray **entries);
/* A text that must be there, and not empty. */
gboolean quoit_devices_find_name (const QuoitDevices *devices, JsonNode *from, const char *name, JsonNode **node,
                                  const char **value);
