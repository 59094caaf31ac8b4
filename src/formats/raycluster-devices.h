/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the devices of a pod that are requested by Kubernetes' dynamic resource allocation.
 *
 * A pod lists claims in "resourceClaims". Each entry names a ResourceClaim or ResourceClaimTemplate, whose document
 * states the requests: a device class and a number of devices. The containers choose which claims and requests they
 * use. */
#pragma once

#include "formats/raycluster.h"

/* The state while the devices of one group's pod are counted. */
typedef struct {
  const QuoitManifest *manifest;
  const QuoitWorkerGroup *group;
  QuoitClaims *claims; /* receives the warnings */
  GHashTable *uses;    /* name of a claim -> GPtrArray of the requests that containers use; "" means all requests */
  GHashTable *classes; /* device class -> gint64 *, the number of devices */
} QuoitManifestDevices;

/* One entry of the pod's resourceClaims. */
typedef struct {
  JsonNode *node, *source_node;
  const char *name;
  const char *source, *kind; /* name and kind of the document that states the requests */
  const char *description;   /* of that document, for messages: "ResourceClaim 'x'" */
} QuoitManifestDeviceClaim;

/* Adds to the classes the devices of the requests in @document that the containers use. */
gboolean quoit_manifest_devices_read_requests (QuoitManifestDevices *devices, const QuoitManifestDeviceClaim *claim,
                                               JsonNode *document);

/* Adds a warning with the place of @node to the claims. */
void quoit_manifest_devices_warn (QuoitManifestDevices *devices, JsonNode *node, const char *format, ...)
    G_GNUC_PRINTF (3, 4);

/* Reads a list of at most 256 entries. *@entries is NULL if the list is missing. */
gboolean quoit_manifest_devices_find_list (const QuoitManifestDevices *devices, JsonNode *from, const char *name,
                                           JsonArray **entries);
/* Reads a text that must be present and not empty. */
gboolean quoit_manifest_devices_find_name (const QuoitManifestDevices *devices, JsonNode *from, const char *name,
                                           JsonNode **node, const char **value);
