/* SPDX-License-Identifier: Apache-2.0 */
/* MaxText 0.2.5 without MaxText: how it computes the mesh axis that is -1, its table of accelerators, and a check of
 * a job's settings against slices of TPUs before the job is submitted.
 *
 * A QuoitMaxtextJob holds the slices and the settings; quoit_maxtext_check() returns what would fail and what would
 * work. A job that would fail is not a failure of the call: the problems are findings. All functions are pure: they
 * use only their arguments, and no file, environment or clock. */
#ifndef QUOIT_MAXTEXT_H
#define QUOIT_MAXTEXT_H

#include <stdbool.h>

#include <quoit/models/check.h>
#include <quoit/models/mesh.h>
#include <quoit/models/ray-train.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitMaxtextLinks:
 * @QUOIT_MAXTEXT_ICI: within a slice: ici_*_parallelism
 * @QUOIT_MAXTEXT_DCN: between slices: dcn_*_parallelism
 *
 * The links between the devices of an axis.
 */
typedef enum { QUOIT_MAXTEXT_ICI = 1, QUOIT_MAXTEXT_DCN = 2 } QuoitMaxtextLinks;

/**
 * quoit_maxtext_fill:
 * @links: used only for the message
 * @sizes: (array length=n_axes): the sizes of the axes, at most one of them -1; filled in place
 * @n_axes: the number of axes
 * @target: the product that the sizes must have: the devices of a slice, or the slices
 *
 * Computes the size that is -1, like MaxText: sizes are multiplied modulo 2^64 and divided in floating-point numbers.
 * Sizes of 0 and below are accepted where MaxText accepts them. For example, two sizes of -2 have the product 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when more than one size is -1, when the computed size is not a whole number of at
 * least 1, and when the product of the sizes is not @target; @sizes are untouched.
 *
 * Returns: true if the product of @sizes is @target, false on failure
 */
QUOIT_API bool quoit_maxtext_fill (QuoitMaxtextLinks links, int64_t *sizes, uint32_t n_axes, int64_t target,
                                   GError **error);

/**
 * QuoitMaxtextAccelerator:
 *
 * A value of MaxText's compile_topology. Part of the library: never freed; any thread can read it.
 */
typedef struct _QuoitMaxtextAccelerator QuoitMaxtextAccelerator;

/**
 * quoit_maxtext_get_accelerator:
 * @index: 0 for the first
 *
 * Lists MaxText's accelerators; those of one generation are ordered by size. Call it with @index 0, 1, ... until it
 * returns %NULL.
 *
 * Returns: (transfer none) (nullable): the accelerator; %NULL after the last
 */
QUOIT_API const QuoitMaxtextAccelerator *quoit_maxtext_get_accelerator (uint32_t index);

/**
 * quoit_maxtext_lookup_accelerator:
 * @name: "v6e-16", "v5p-128", in MaxText's spelling
 *
 * Finds the accelerator with that name.
 *
 * Fails with %QUOIT_ERROR_INVALID when MaxText does not list it; the message names the nearest one.
 *
 * Returns: (transfer none): the accelerator; %NULL on failure
 */
QUOIT_API const QuoitMaxtextAccelerator *quoit_maxtext_lookup_accelerator (const char *name, GError **error);

/**
 * quoit_maxtext_accelerator_get_name:
 *
 * Returns: (transfer none): its name, "v5p-8"
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_name (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_platform:
 *
 * Returns: (transfer none): "tpu", or "gpu" for the one GPU entry
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_platform (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_topology:
 *
 * Returns: (transfer none) (nullable): its topology in libtpu's spelling, "v5:2x2x1"; %NULL for a GPU
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_topology (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_chip_config:
 *
 * Returns: (transfer none) (nullable): "megacore" if two cores are one device, else "default"; %NULL for a GPU
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_chip_config (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_n_devices:
 *
 * Returns: the number of JAX devices of a slice
 */
QUOIT_API uint32_t quoit_maxtext_accelerator_get_n_devices (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_host_bound:
 * @axis: 0 for x, 1 for y, 2 for z
 *
 * Returns the chips of a host along an axis. MaxText has no hosts of 8 chips.
 *
 * Returns: the number of chips; 0 for a GPU
 */
QUOIT_API uint32_t quoit_maxtext_accelerator_get_host_bound (const QuoitMaxtextAccelerator *accelerator, uint32_t axis);

/**
 * quoit_maxtext_accelerator_wraps:
 * @axis: 0 for x, 1 for y, 2 for z
 *
 * Returns: true if the axis is a ring, false if it is not
 */
QUOIT_API bool quoit_maxtext_accelerator_wraps (const QuoitMaxtextAccelerator *accelerator, uint32_t axis);

/**
 * QuoitMaxtextMeshFlags:
 * @QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES: allow_split_physical_axes
 * @QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E: optimize_mesh_for_tpu_v6e: if one axis has all devices of a v6e 2x4, MaxText
 *   reverses the last four of them. JAX's order of them is a ring; the changed order is not
 *
 * Options of a mesh, as bits.
 */
typedef enum {
  QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES = 1,
  QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E = 2
} QuoitMaxtextMeshFlags;

/**
 * quoit_maxtext_mesh_new:
 * @devices: the devices of all slices
 * @ici: (array length=n_axes): the sizes of the axes within a slice, at most one of them -1
 * @dcn: (array length=n_axes): the sizes between slices, at most one of them -1; ignored for one slice
 * @n_axes: the number of axes, 1 to 64
 * @n_slices: the number of slices that MaxText assumes
 * @custom_mesh: (nullable): "hybrid_ring_64x4", "hybrid_ring_32x8"; "" or %NULL for none. Ignored on one slice without
 *   split physical axes
 * @flags: bits of #QuoitMaxtextMeshFlags
 *
 * Creates the mesh that MaxText makes: JAX's mesh, or MaxText's own ring in each slice of 16x16 devices.
 *
 * Fails with %QUOIT_ERROR_INVALID like quoit_maxtext_fill(), quoit_mesh_new() and quoit_mesh_new_hybrid(), and when
 * @custom_mesh does not exist or does not match these sizes.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 */
QUOIT_API QuoitMesh *quoit_maxtext_mesh_new (const QuoitDevices *devices, const int64_t *ici, const int64_t *dcn,
                                             uint32_t n_axes, int64_t n_slices, const char *custom_mesh, uint32_t flags,
                                             GError **error);

/**
 * quoit_maxtext_custom_mesh_check:
 * @custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8"
 * @ici: (array length=n_axes): the sizes of the axes within a slice, filled
 * @n_axes: the number of axes
 *
 * Checks that MaxText has a custom ring for these sizes: the two sizes in its name, and any number of sizes of 1.
 *
 * Fails with %QUOIT_ERROR_INVALID when it has none.
 *
 * Returns: true if it has one, false on failure
 */
QUOIT_API bool quoit_maxtext_custom_mesh_check (const char *custom_mesh, const int64_t *ici, uint32_t n_axes,
                                                GError **error);

/**
 * quoit_maxtext_devices_new_box:
 * @devices: the devices of one slice
 * @sides: (array length=n_sides): the sides of the box in chips: x, y, z
 * @n_sides: the number of sides, at most 3; along an axis without a side, the box covers the whole slice
 *
 * Returns the devices of one slice that a single controller keeps for a subslice_shape: those in the box at the
 * smallest coordinates, in the order of the list.
 *
 * Fails with %QUOIT_ERROR_INVALID for more than 3 sides, and when no device is in the box.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 */
QUOIT_API QuoitDevices *quoit_maxtext_devices_new_box (const QuoitDevices *devices, const int64_t *sides,
                                                       uint32_t n_sides, GError **error);

/**
 * QuoitMaxtextJob:
 *
 * Slices, and the settings that MaxText is started with. Mutable: use it in one thread at a time.
 */
typedef struct _QuoitMaxtextJob QuoitMaxtextJob;

/**
 * quoit_maxtext_job_new:
 *
 * Creates a job without settings. Its slices are set by quoit_maxtext_job_set_slices() or by the setting
 * compile_topology.
 *
 * Returns: (transfer full): the job; quoit_maxtext_job_free() it
 */
QUOIT_API QuoitMaxtextJob *quoit_maxtext_job_new (void);

/**
 * quoit_maxtext_job_free:
 * @job: (nullable) (transfer full): a job
 *
 * Frees @job. Its reports stay valid.
 */
QUOIT_API void quoit_maxtext_job_free (QuoitMaxtextJob *job);

/**
 * quoit_maxtext_job_set_slices:
 * @accelerator: the generation, in any system's spelling
 * @topology: the topology of each slice, "4x4"
 * @n_slices: the number of slices, 1 to 1000000
 * @chips_per_host: 1, 2, 4 or 8; 0 for Ray's default
 *
 * Sets the slices of the job.
 *
 * Fails with %QUOIT_ERROR_INVALID when the generation, the topology, the number or the host size does not exist; @job
 * is unchanged.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_maxtext_job_set_slices (QuoitMaxtextJob *job, const char *accelerator, const char *topology,
                                             int64_t n_slices, uint32_t chips_per_host, GError **error);

/**
 * quoit_maxtext_job_add_setting:
 * @word: a word of MaxText's command line: "ici_fsdp_parallelism=-1"; copied. If it names a settings file, the file is
 *   not read: pass its text to quoit_maxtext_job_add_config(). Without such a text, MaxText's base.yml is used
 *
 * Adds a setting, which overrides those of files. quoit_maxtext_check() validates it.
 */
QUOIT_API void quoit_maxtext_job_add_setting (QuoitMaxtextJob *job, const char *word);

/**
 * quoit_maxtext_job_add_config:
 * @name: the name of the file in findings; copied
 * @text: YAML, a map of settings like base.yml
 * @length: bytes of @text
 *
 * Adds the settings of a file, like MaxText reads them: they override the settings of files added before, and words of
 * the command line override them. If a file names a base_config, add that file first; if you add none, MaxText's
 * base.yml is used. quoit_maxtext_check() validates the settings.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML, has a repeated key, has more than one document, or is not a
 * map; the message begins with @name and the line, and @job is unchanged.
 *
 * Returns: true on success, false on failure
 */
QUOIT_API bool quoit_maxtext_job_add_config (QuoitMaxtextJob *job, const char *name, const char *text, size_t length,
                                             GError **error);

/**
 * QuoitMaxtextReport:
 *
 * The findings about a job. Immutable; any thread can read it.
 */
typedef struct _QuoitMaxtextReport QuoitMaxtextReport;

/**
 * QuoitMaxtextNumber:
 *
 * The numbers of a report. Later versions can add values. Bytes of state and gradients are exact on one device. Weights
 * that a mesh cannot divide evenly are repeated, so with more devices these numbers are a lower bound.
 */
typedef enum {
  QUOIT_MAXTEXT_NUMBER_SLICES = 0,
  QUOIT_MAXTEXT_NUMBER_HOSTS,
  QUOIT_MAXTEXT_NUMBER_CHIPS,
  QUOIT_MAXTEXT_NUMBER_DEVICES, /* JAX devices of all slices */
  QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE,
  QUOIT_MAXTEXT_NUMBER_BATCH,            /* rows of one forward pass */
  QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD,    /* rows that a step loads */
  QUOIT_MAXTEXT_NUMBER_PARAMETERS,       /* of the model, if the settings name one that is modelled */
  QUOIT_MAXTEXT_NUMBER_STATE_BYTES,      /* per device: weights and optimizer state, see below */
  QUOIT_MAXTEXT_NUMBER_GRADIENT_BYTES,   /* per device, see below */
  QUOIT_MAXTEXT_NUMBER_ACTIVATION_BYTES, /* per device, like all below: an estimate, see docs/checking.md */
  QUOIT_MAXTEXT_NUMBER_MEMORY_BYTES,     /* the sum of the three */
  QUOIT_MAXTEXT_NUMBER_HBM_BYTES         /* what a device has */
} QuoitMaxtextNumber;

/**
 * quoit_maxtext_check:
 * @scaling: (nullable): the ScalingConfig of the Ray Train job that runs it; %NULL: no Ray Train
 *
 * Finds everything that MaxText would refuse or ignore: names and types of settings, the sizes of the mesh axes,
 * whether JAX can map them to a slice, the batch, and the number of slices. It also finds contradictions between
 * @scaling and the slices. The expected value of a finding is one that would work. If the settings describe a model
 * with blocks like Llama's, it also estimates the memory of a device. Other settings of the model are checked only for
 * their names.
 *
 * Fails with %QUOIT_ERROR_INVALID when the slices are not known: neither quoit_maxtext_job_set_slices() nor a
 * compile_topology that MaxText lists has set them.
 *
 * Returns: (transfer full): the findings; quoit_maxtext_report_free() it. %NULL on failure
 */
QUOIT_API QuoitMaxtextReport *quoit_maxtext_check (const QuoitMaxtextJob *job, const QuoitRayScaling *scaling,
                                                   GError **error);

/**
 * quoit_maxtext_report_free:
 * @report: (nullable) (transfer full): a report
 *
 * Frees @report.
 */
QUOIT_API void quoit_maxtext_report_free (QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_number:
 * @which: which number
 *
 * Returns: the number; -1 if it cannot be computed, and for an unknown @which
 */
QUOIT_API int64_t quoit_maxtext_report_get_number (const QuoitMaxtextReport *report, QuoitMaxtextNumber which);

/**
 * quoit_maxtext_report_get_n_axes:
 *
 * Returns: the number of mesh axes; 0 if mesh_axes are invalid
 */
QUOIT_API uint32_t quoit_maxtext_report_get_n_axes (const QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_axis_name:
 * @axis: below quoit_maxtext_report_get_n_axes()
 *
 * Returns: (transfer none): the name, "fsdp"
 */
QUOIT_API const char *quoit_maxtext_report_get_axis_name (const QuoitMaxtextReport *report, uint32_t axis);

/**
 * quoit_maxtext_report_get_axis_size:
 * @axis: below quoit_maxtext_report_get_n_axes()
 * @links: within a slice, or between slices
 *
 * Returns the size of an axis that MaxText uses. If MaxText refuses the sizes, returns the size in the settings
 * instead, which can be -1 (let MaxText compute it). If the job has one slice, each size between slices is 1.
 *
 * Returns: the size
 */
QUOIT_API int64_t quoit_maxtext_report_get_axis_size (const QuoitMaxtextReport *report, uint32_t axis,
                                                      QuoitMaxtextLinks links);

/**
 * quoit_maxtext_report_get_n_findings:
 *
 * Returns: the number of findings
 */
QUOIT_API uint32_t quoit_maxtext_report_get_n_findings (const QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_severity:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: the severity
 */
QUOIT_API QuoitSeverity quoit_maxtext_report_get_severity (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_rule:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns the name of the broken rule, for example "ici-product". A name never changes its meaning; later versions can
 * add names.
 *
 * Returns: (transfer none): one of quoit_maxtext_rule_get_name()
 */
QUOIT_API const char *quoit_maxtext_report_get_rule (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_key:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns the setting that the finding is about, "ici_tensor_parallelism", or several, "ici_*_parallelism".
 *
 * Returns: (transfer none) (nullable): the key; %NULL if it is not a key of MaxText
 */
QUOIT_API const char *quoit_maxtext_report_get_key (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_value:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns the wrong value as given, or the default value if none was given, or the word that is not a setting.
 *
 * Returns: (transfer none) (nullable): the value; %NULL if there is none
 */
QUOIT_API const char *quoit_maxtext_report_get_value (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_expected:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: (transfer none): a description of what would work
 */
QUOIT_API const char *quoit_maxtext_report_get_expected (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_message:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns the key, the value and what was expected as one line: "ici_tensor_parallelism '0': expected 1 or more, ...".
 * For a setting of a file, it begins with "FILE: line 12: ". Values are quoted, long values are cut, and control bytes
 * are escaped.
 *
 * Returns: (transfer none): the message
 */
QUOIT_API const char *quoit_maxtext_report_get_message (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_file:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns the file of the setting: the name given to quoit_maxtext_job_add_config().
 *
 * Returns: (transfer none) (nullable): the name; %NULL if no file has it, or a word of the command line overrides it
 */
QUOIT_API const char *quoit_maxtext_report_get_file (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_line:
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: the line of that file where the value begins, from 1; 0 without a file
 */
QUOIT_API uint32_t quoit_maxtext_report_get_line (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_rule_get_name:
 * @index: 0 for the first
 *
 * Lists the rules of quoit_maxtext_check(). Call it with @index 0, 1, ... until it returns %NULL; later versions can
 * add rules at any index.
 *
 * Returns: (transfer none) (nullable): the name of the rule; %NULL after the last
 */
QUOIT_API const char *quoit_maxtext_rule_get_name (uint32_t index);

/**
 * quoit_maxtext_rule_get_severity:
 * @index: index of an existing rule
 *
 * Returns: the severity of every finding of that rule
 */
QUOIT_API QuoitSeverity quoit_maxtext_rule_get_severity (uint32_t index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextJob, quoit_maxtext_job_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextReport, quoit_maxtext_report_free)

G_END_DECLS

#endif
