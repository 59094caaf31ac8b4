/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MaxText, without MaxText: how MaxText 0.2.5 fills in the one axis of a mesh that is -1, its table of accelerators,
 * and what it would say of a job's settings on slices of TPUs, before the job is submitted.
 *
 * A QuoitMaxtextJob holds the slices and the settings; quoit_maxtext_check() says what would fail and what would work.
 * A job that would fail is no failure of the call: it is findings. Everything here is pure: no state but what is
 * passed, no file, no environment, no clock.
 */
#ifndef QUOIT_MAXTEXT_H
#define QUOIT_MAXTEXT_H

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
 * What the devices of an axis are joined by.
 *
 * Since: 0.1
 */
typedef enum { QUOIT_MAXTEXT_ICI = 1, QUOIT_MAXTEXT_DCN = 2 } QuoitMaxtextLinks;

/**
 * quoit_maxtext_fill:
 * @links: whose sizes; for the message alone
 * @sizes: (array length=n_axes): the sizes of the axes, of which one may be -1; filled in place
 * @n_axes: how many axes
 * @target: what the sizes are to multiply to: the devices of a slice, or the slices
 * @error: (out) (optional): set on failure
 *
 * Fills in the one size that is -1, as MaxText does: sizes are multiplied modulo 2^64 and divided in floating-point
 * numbers. Sizes of 0 and below pass where MaxText lets them pass: -2 twice for 4.
 *
 * Fails with %QUOIT_ERROR_INVALID when more than one size is -1, when what it stands for is no whole number from 1, and
 * when the sizes do not multiply to @target; @sizes are untouched.
 *
 * Returns: 1 when @sizes multiply to @target, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_maxtext_fill (QuoitMaxtextLinks links, int64_t *sizes, unsigned n_axes, int64_t target,
                                  GError **error);

/**
 * QuoitMaxtextAccelerator:
 *
 * A value of MaxText's compile_topology. Part of the library: it is never freed, and may be read from any thread.
 *
 * Since: 0.1
 */
typedef struct _QuoitMaxtextAccelerator QuoitMaxtextAccelerator;

/**
 * quoit_maxtext_get_accelerator:
 * @index: 0 for the first
 *
 * The accelerators that MaxText lists, those of a generation by size. Count up until %NULL.
 *
 * Returns: (transfer none) (nullable): the accelerator; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const QuoitMaxtextAccelerator *quoit_maxtext_get_accelerator (unsigned index);

/**
 * quoit_maxtext_lookup_accelerator:
 * @name: "v6e-16", "v5p-128": MaxText's own spelling
 * @error: (out) (optional): set on failure
 *
 * Finds the accelerator of that name.
 *
 * Fails with %QUOIT_ERROR_INVALID when MaxText lists none; the message names the one that comes nearest.
 *
 * Returns: (transfer none): the accelerator; %NULL on failure
 * Since: 0.1
 */
QUOIT_API const QuoitMaxtextAccelerator *quoit_maxtext_lookup_accelerator (const char *name, GError **error);

/**
 * quoit_maxtext_accelerator_get_name:
 * @accelerator: an accelerator
 *
 * Returns: (transfer none): its name, "v5p-8"
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_name (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_platform:
 * @accelerator: an accelerator
 *
 * Returns: (transfer none): "tpu", or "gpu" for the one that is none
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_platform (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_topology:
 * @accelerator: an accelerator
 *
 * Returns: (transfer none) (nullable): its topology as libtpu calls it, "v5:2x2x1"; %NULL where it is no TPU
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_topology (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_chip_config:
 * @accelerator: an accelerator
 *
 * Returns: (transfer none) (nullable): "megacore" where two cores are one device, else "default"; %NULL where no TPU
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_accelerator_get_chip_config (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_n_devices:
 * @accelerator: an accelerator
 *
 * Returns: the JAX devices of a slice
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_maxtext_accelerator_get_n_devices (const QuoitMaxtextAccelerator *accelerator);

/**
 * quoit_maxtext_accelerator_get_host_bound:
 * @accelerator: an accelerator
 * @axis: 0 for x, 1 for y, 2 for z
 *
 * The chips of a host along an axis. MaxText knows no hosts of 8 chips.
 *
 * Returns: the chips; 0 where it is no TPU
 * Since: 0.1
 */
QUOIT_API unsigned quoit_maxtext_accelerator_get_host_bound (const QuoitMaxtextAccelerator *accelerator, unsigned axis);

/**
 * quoit_maxtext_accelerator_wraps:
 * @accelerator: an accelerator
 * @axis: 0 for x, 1 for y, 2 for z
 *
 * Returns: 1 when the axis closes to a ring, 0 when it does not
 * Since: 0.1
 */
QUOIT_API int quoit_maxtext_accelerator_wraps (const QuoitMaxtextAccelerator *accelerator, unsigned axis);

/**
 * QuoitMaxtextMeshFlags:
 * @QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES: allow_split_physical_axes
 * @QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E: optimize_mesh_for_tpu_v6e: of 2x4 devices along one axis the last four are
 * reversed, which undoes JAX's ring
 *
 * How a mesh is made: bits.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MAXTEXT_MESH_SPLIT_PHYSICAL_AXES = 1,
  QUOIT_MAXTEXT_MESH_OPTIMIZE_FOR_V6E = 2
} QuoitMaxtextMeshFlags;

/**
 * quoit_maxtext_mesh_new:
 * @devices: the devices of all slices
 * @ici: (array length=n_axes): the sizes of the axes within a slice, of which one may be -1
 * @dcn: (array length=n_axes): those between slices, likewise; not looked at for one slice
 * @n_axes: how many axes, 1 to 64
 * @n_slices: how many slices MaxText takes there to be
 * @custom_mesh: (nullable): "hybrid_ring_64x4", "hybrid_ring_32x8"; "" or %NULL for none. On one slice it is not looked
 * at where physical axes are not split
 * @flags: of QuoitMaxtextMeshFlags
 * @error: (out) (optional): set on failure
 *
 * The mesh that MaxText makes: JAX's, or a ring of its own in each slice of 16x16 devices.
 *
 * Fails with %QUOIT_ERROR_INVALID as quoit_maxtext_fill(), quoit_mesh_new() and quoit_mesh_new_hybrid(), and when there
 * is no such @custom_mesh or it is not for these sizes.
 *
 * Returns: (transfer full): the mesh; quoit_mesh_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMesh *quoit_maxtext_mesh_new (const QuoitDevices *devices, const int64_t *ici, const int64_t *dcn,
                                             unsigned n_axes, int64_t n_slices, const char *custom_mesh, unsigned flags,
                                             GError **error);

/**
 * quoit_maxtext_custom_mesh_check:
 * @custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8"
 * @ici: (array length=n_axes): the sizes of the axes within a slice, filled
 * @n_axes: how many axes
 * @error: (out) (optional): set on failure
 *
 * Whether MaxText has a ring of its own for these sizes: those of its name, with one or more of 1 beside them.
 *
 * Fails with %QUOIT_ERROR_INVALID when it has not.
 *
 * Returns: 1 when it has, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_maxtext_custom_mesh_check (const char *custom_mesh, const int64_t *ici, unsigned n_axes,
                                               GError **error);

/**
 * quoit_maxtext_devices_new_box:
 * @devices: the devices of one slice
 * @sides: (array length=n_sides): of the box in chips: x, y, z
 * @n_sides: how many, at most 3; the box goes through where there is no side
 * @error: (out) (optional): set on failure
 *
 * What a single controller keeps of one slice where it has a subslice_shape: the devices in the box from the smallest
 * coordinates, in their order.
 *
 * Fails with %QUOIT_ERROR_INVALID for more sides, and when nothing is kept.
 *
 * Returns: (transfer full): the list; quoit_devices_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitDevices *quoit_maxtext_devices_new_box (const QuoitDevices *devices, const int64_t *sides,
                                                       unsigned n_sides, GError **error);

/**
 * QuoitMaxtextJob:
 *
 * Slices, and the settings that MaxText is to be started with.
 *
 * Since: 0.1
 */
typedef struct _QuoitMaxtextJob QuoitMaxtextJob;

/**
 * quoit_maxtext_job_new:
 *
 * A job without settings, on slices that only compile_topology may name.
 *
 * Returns: (transfer full): the job; quoit_maxtext_job_free() it
 * Since: 0.1
 */
QUOIT_API QuoitMaxtextJob *quoit_maxtext_job_new (void);

/**
 * quoit_maxtext_job_free:
 * @job: (nullable) (transfer full): a job
 *
 * Frees @job. Reports that were made of it stay.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_maxtext_job_free (QuoitMaxtextJob *job);

/**
 * quoit_maxtext_job_set_slices:
 * @job: a job
 * @accelerator: the generation, in any system's spelling
 * @topology: of each slice, "4x4"
 * @n_slices: how many, 1 to 1000000
 * @chips_per_host: 1, 2, 4 or 8; 0 for Ray's default
 * @error: (out) (optional): set on failure
 *
 * Says what the job is to have.
 *
 * Fails with %QUOIT_ERROR_INVALID when there is no such generation, topology, number or host; @job is unchanged.
 *
 * Returns: 1 when it was said, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_maxtext_job_set_slices (QuoitMaxtextJob *job, const char *accelerator, const char *topology,
                                            int64_t n_slices, unsigned chips_per_host, GError **error);

/**
 * quoit_maxtext_job_add_setting:
 * @job: a job
 * @word: a word of MaxText's command line: "ici_fsdp_parallelism=-1"; copied. A file of settings that is named is not
 * read: quoit_maxtext_job_add_config() takes its text, and without one MaxText's base.yml stands for it
 *
 * Adds a setting, which counts more than those of files. Whether it is one is for quoit_maxtext_check() to say.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_maxtext_job_add_setting (QuoitMaxtextJob *job, const char *word);

/**
 * quoit_maxtext_job_add_config:
 * @job: a job
 * @name: what findings call the file; copied
 * @text: YAML, a map of settings as base.yml is one
 * @length: bytes of @text
 * @error: (out) (optional): set on failure
 *
 * Adds the settings of a file, as MaxText reads them: over those of the files that were added before, and below the
 * words of the command line. A file that another names as its base_config is therefore given before it; where it is
 * not, base.yml stands for it. Whether they are settings is for quoit_maxtext_check() to say.
 *
 * Fails with %QUOIT_ERROR_INVALID when @text is not YAML, has a key twice, more than one document, or no map; the
 * message begins with @name and the line, and @job is unchanged.
 *
 * Returns: 1 when they were added, 0 on failure
 * Since: 0.1
 */
QUOIT_API int quoit_maxtext_job_add_config (QuoitMaxtextJob *job, const char *name, const char *text, size_t length,
                                            GError **error);

/**
 * QuoitMaxtextReport:
 *
 * What was found about a job. Immutable; any thread may read it.
 *
 * Since: 0.1
 */
typedef struct _QuoitMaxtextReport QuoitMaxtextReport;

/**
 * QuoitMaxtextNumber:
 *
 * The numbers of a report. Callers must accept values that they do not know.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_MAXTEXT_NUMBER_SLICES = 0,
  QUOIT_MAXTEXT_NUMBER_HOSTS,
  QUOIT_MAXTEXT_NUMBER_CHIPS,
  QUOIT_MAXTEXT_NUMBER_DEVICES, /* JAX devices of all slices */
  QUOIT_MAXTEXT_NUMBER_DEVICES_PER_SLICE,
  QUOIT_MAXTEXT_NUMBER_BATCH,        /* rows of one forward pass */
  QUOIT_MAXTEXT_NUMBER_BATCH_TO_LOAD /* rows that a step loads */
} QuoitMaxtextNumber;

/**
 * quoit_maxtext_check:
 * @job: a job
 * @scaling: (nullable): the ScalingConfig of a Ray Train job that runs it; %NULL: no Ray Train
 * @error: (out) (optional): set on failure
 *
 * Finds all that MaxText would refuse, or take in vain: names and types of settings, the sizes of the axes of the mesh,
 * whether JAX can lay them out on a slice, the batch, the number of slices; and where @scaling and the slices
 * contradict each other. What would work instead is in what is expected. Settings of the model are not looked at, but
 * for their names.
 *
 * Fails with %QUOIT_ERROR_INVALID when neither quoit_maxtext_job_set_slices() nor a compile_topology that MaxText lists
 * says what the slices are.
 *
 * Returns: (transfer full): what was found; quoit_maxtext_report_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitMaxtextReport *quoit_maxtext_check (const QuoitMaxtextJob *job, const QuoitRayScaling *scaling,
                                                   GError **error);

/**
 * quoit_maxtext_report_free:
 * @report: (nullable) (transfer full): a report
 *
 * Frees @report.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_maxtext_report_free (QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_number:
 * @report: a report
 * @which: which number
 *
 * Returns: the number; -1 where it cannot be told, and for a @which that this version does not know
 * Since: 0.1
 */
QUOIT_API int64_t quoit_maxtext_report_get_number (const QuoitMaxtextReport *report, QuoitMaxtextNumber which);

/**
 * quoit_maxtext_report_get_n_axes:
 * @report: a report
 *
 * Returns: the axes of the mesh; 0 where mesh_axes are none
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_maxtext_report_get_n_axes (const QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_axis_name:
 * @report: a report
 * @axis: below quoit_maxtext_report_get_n_axes()
 *
 * Returns: (transfer none): the name, "fsdp"
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_axis_name (const QuoitMaxtextReport *report, uint32_t axis);

/**
 * quoit_maxtext_report_get_axis_size:
 * @report: a report
 * @axis: below quoit_maxtext_report_get_n_axes()
 * @links: within a slice, or between slices
 *
 * The size of an axis. Where MaxText refuses the sizes, they are as they were given: -1 where they were not filled in.
 * One slice has sizes of 1 between slices.
 *
 * Returns: the size
 * Since: 0.1
 */
QUOIT_API int64_t quoit_maxtext_report_get_axis_size (const QuoitMaxtextReport *report, uint32_t axis,
                                                      QuoitMaxtextLinks links);

/**
 * quoit_maxtext_report_get_n_findings:
 * @report: a report
 *
 * Returns: how many findings there are
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_maxtext_report_get_n_findings (const QuoitMaxtextReport *report);

/**
 * quoit_maxtext_report_get_severity:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: what it means
 * Since: 0.1
 */
QUOIT_API QuoitSeverity quoit_maxtext_report_get_severity (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_rule:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * The name of the rule that is broken, "ici-product". Names never change their meaning; new ones may come.
 *
 * Returns: (transfer none): one of quoit_maxtext_rule_get_name()
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_rule (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_key:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * The setting that it is about, "ici_tensor_parallelism", or several, "ici_*_parallelism".
 *
 * Returns: (transfer none) (nullable): the key; %NULL where it is none of MaxText's
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_key (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_value:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * The value that is wrong, as it was given, or what it stands for where it was not; a word that is no setting.
 *
 * Returns: (transfer none) (nullable): the value; %NULL where there is none
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_value (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_expected:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: (transfer none): what would work, in words
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_expected (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_message:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Key, value and expectation as one line: "ici_tensor_parallelism '0': expected 1 or more, ...", behind "FILE: line 12:
 * " where a file says it. Values in it are quoted, their control bytes escaped, and cut.
 *
 * Returns: (transfer none): the sentence
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_message (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_file:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * The file that has the setting, by the name that quoit_maxtext_job_add_config() was given.
 *
 * Returns: (transfer none) (nullable): the name; %NULL where no file has it, or a word counts more
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_report_get_file (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_report_get_line:
 * @report: a report
 * @finding: below quoit_maxtext_report_get_n_findings()
 *
 * Returns: the line of that file in which the value begins, from 1; 0 where there is no file
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_maxtext_report_get_line (const QuoitMaxtextReport *report, uint32_t finding);

/**
 * quoit_maxtext_rule_get_name:
 * @index: 0 for the first
 *
 * The rules of quoit_maxtext_check(). Count up until %NULL; new ones may come at any place.
 *
 * Returns: (transfer none) (nullable): the name of the rule; %NULL behind the last
 * Since: 0.1
 */
QUOIT_API const char *quoit_maxtext_rule_get_name (unsigned index);

/**
 * quoit_maxtext_rule_get_severity:
 * @index: of a rule that there is
 *
 * Returns: the severity of every finding of that rule
 * Since: 0.1
 */
QUOIT_API QuoitSeverity quoit_maxtext_rule_get_severity (unsigned index);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextJob, quoit_maxtext_job_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitMaxtextReport, quoit_maxtext_report_free)

G_END_DECLS

#endif
