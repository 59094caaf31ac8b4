/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a pod: the resource claims of the pod, and the requests in the documents of these claims. */
#pragma once

#include "formats/raycluster.h"

typedef struct {
  const QuoitManifest *manifest;
  const QuoitRayGroup *of;
  QuoitClaims *claims; /* receives the warnings */
  GHashTable *uses;    /* name of a claim -> GPtrArray of the requests that containers use; "" means all requests */
  GHashTable *classes; /* device class -> gint64 *, the number of devices */
} QuoitDevices;

/* One entry of the pod's resourceClaims. */
typedef struct {
  JsonNode *node, *source_node;
  const char *name, *source, *kind; /* kind: of the document that source names */
  const char *called;               /* for messages: "ResourceClaim 'x'" */
} QuoitDeviceClaim;

/* Adds to the classes the devices that @document requests for the containers that use @claim. */
gboolean quoit_devices_read_requests (QuoitDevices *devices, const QuoitDeviceClaim *claim, JsonNode *document);

void quoit_devices_warn (QuoitDevices *devices, JsonNode *node, const char *format, ...) G_GNUC_PRINTF (3, 4);

/* Reads a list of at most 256 entries; NULL if it is missing. */
gboolean quoit_devices_find_list (const QuoitDevices *devices, JsonNode *from, const char *name, JsonArray **entries);
/* Reads a text that must be present and not empty. */
gboolean quoit_devices_find_name (const QuoitDevices *devices, JsonNode *from, const char *name, JsonNode **node,
                                  const char **value);
