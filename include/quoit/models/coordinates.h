/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of the chips, hosts and JAX devices of a slice on its torus, and the number of links between them.
 * Everything follows from the topology: no fleet and no database. */
#ifndef QUOIT_COORDINATES_H
#define QUOIT_COORDINATES_H

#include <stdbool.h>

#include <quoit/catalogue.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitCoordinates:
 *
 * The torus of one topology. Immutable; any thread can read it.
 *
 * Chips, hosts and JAX devices are numbered with x as the fastest axis, then y, then z, like JAX and GKE do: chip 1 is
 * one place along x from chip 0. A host's number is its worker id. The devices of a chip have consecutive numbers. A
 * topology of two dimensions has a z of length 1.
 *
 * Ray 2.60 numbers the grids of sub-slices in the opposite order; see quoit/models/ray-subslices.h. Those numbers are
 * not positions on a torus.
 */
typedef struct _QuoitCoordinates QuoitCoordinates;

/**
 * QuoitDirection:
 *
 * A direction along an axis.
 */
typedef enum { QUOIT_DIRECTION_UP = 1, QUOIT_DIRECTION_DOWN = 2 } QuoitDirection;

/**
 * QuoitWiring:
 *
 * How the links that close the axes are connected.
 *
 * - %QUOIT_WIRING_STRAIGHT: each link joins the two ends of one line of its axis. GKE announces no other wiring.
 * - %QUOIT_WIRING_TWISTED: the closing links of the short axes are shifted by half the length along the long axes (k of
 *   2k). Only the shapes k k 2k and k 2k 2k can be twisted; see %QUOIT_TOPOLOGY_NUMBER_TWISTABLE.
 */
typedef enum { QUOIT_WIRING_STRAIGHT = 1, QUOIT_WIRING_TWISTED = 2 } QuoitWiring;

/**
 * quoit_coordinates_new:
 * @accelerator: any system's name of the generation: "v6e", "TPU-V5LITEPOD"
 * @topology: "4x4", "2x2x4"
 * @chips_per_host: the chips of each host; 0: Ray's default, as in quoit_catalogue_lookup_topology()
 * @wiring: how the axes are closed
 *
 * Creates the torus of a slice of that topology on such hosts, as listed in the catalogue. The cost does not depend on
 * the size.
 *
 * Fails with %QUOIT_ERROR_INVALID when @accelerator is not the name of a generation, when @topology is not a topology
 * of that generation (the message has the byte, or names the nearest topology), when it is never built from such hosts,
 * when it cannot be twisted, and for an unknown @wiring.
 *
 * Returns: (transfer full): the torus; quoit_coordinates_free() it. %NULL on failure
 */
QUOIT_API QuoitCoordinates *quoit_coordinates_new (const char *accelerator, const char *topology,
                                                   uint32_t chips_per_host, QuoitWiring wiring, GError **error);

/**
 * quoit_coordinates_free:
 * @coordinates: (nullable): the torus
 *
 * Frees the torus.
 */
QUOIT_API void quoit_coordinates_free (QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_chips:
 *
 * Returns: the number of chips; chip numbers are 0 to n - 1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_chips (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_hosts:
 *
 * Returns: the number of hosts; worker ids are 0 to n - 1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_hosts (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_n_devices:
 *
 * All chips have the same number of devices: one, or two if JAX sees each core as a device.
 *
 * Returns: the number of JAX devices; their ids in the slice are 0 to n - 1
 */
QUOIT_API uint32_t quoit_coordinates_get_n_devices (const QuoitCoordinates *coordinates);

/**
 * quoit_coordinates_get_length:
 * @axis: an axis
 *
 * Returns: the number of chips along @axis
 */
QUOIT_API uint32_t quoit_coordinates_get_length (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_get_host_length:
 * @axis: an axis
 *
 * The chips of a host are a block: 2 by 2 for four chips, 2 by 4 for eight.
 *
 * Returns: the number of chips of one host along @axis
 */
QUOIT_API uint32_t quoit_coordinates_get_host_length (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_is_ring:
 * @axis: an axis
 *
 * Returns: true if links join the two ends of @axis; false if @axis is a line
 */
QUOIT_API bool quoit_coordinates_is_ring (const QuoitCoordinates *coordinates, QuoitAxis axis);

/**
 * quoit_coordinates_get_twist:
 * @axis: a ring, whose closing link joins its last chip to its first
 * @along: another axis
 *
 * Returns: how many chips the closing link is shifted along @along; 0: not shifted
 */
QUOIT_API uint32_t quoit_coordinates_get_twist (const QuoitCoordinates *coordinates, QuoitAxis axis, QuoitAxis along);

/**
 * quoit_coordinates_get_chip_at:
 * @chip: below quoit_coordinates_get_n_chips()
 * @axis: an axis
 *
 * Returns: the position of @chip on @axis, from 0
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_at (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis);

/**
 * quoit_coordinates_find_chip:
 * @x: along x, from 0
 * @y: along y
 * @z: along z; 0 for two dimensions
 *
 * Returns: the number of the chip at that position; -1 if the position is outside the torus
 */
QUOIT_API int64_t quoit_coordinates_find_chip (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y, uint32_t z);

/**
 * quoit_coordinates_get_worker_at:
 * @worker_id: below quoit_coordinates_get_n_hosts()
 * @axis: an axis
 *
 * The position of the host's first chip is this number times quoit_coordinates_get_host_length().
 *
 * Returns: the position of the host on @axis, in hosts, from 0
 */
QUOIT_API uint32_t quoit_coordinates_get_worker_at (const QuoitCoordinates *coordinates, uint32_t worker_id,
                                                    QuoitAxis axis);

/**
 * quoit_coordinates_find_worker:
 * @x: along x, counted in hosts, from 0
 * @y: along y
 * @z: along z; 0 for two dimensions
 *
 * Returns: the worker id of the host at that position; -1 if the position is outside the torus
 */
QUOIT_API int64_t quoit_coordinates_find_worker (const QuoitCoordinates *coordinates, uint32_t x, uint32_t y,
                                                 uint32_t z);

/**
 * quoit_coordinates_get_chip_worker:
 * @chip: below quoit_coordinates_get_n_chips()
 *
 * Returns: the worker id of the host that has @chip
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_worker (const QuoitCoordinates *coordinates, uint32_t chip);

/**
 * quoit_coordinates_get_chip_index_on_host:
 * @chip: below quoit_coordinates_get_n_chips()
 *
 * Returns the index of a chip among the chips of its host. libtpu (TPU_VISIBLE_CHIPS), Ray and bundles use these
 * indices.
 *
 * Unlike the numbers in the slice, they count y first: a host of 2x2 chips has the chips (0,0), (0,1), (1,0), (1,1), in
 * this order. A host of 2x4 chips consists of two such squares along y; the second square has the indices 4 to 7.
 *
 * Returns: the index, from 0
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_index_on_host (const QuoitCoordinates *coordinates, uint32_t chip);

/**
 * quoit_coordinates_get_worker_chip:
 * @worker_id: below quoit_coordinates_get_n_hosts()
 * @index_on_host: index among the host's chips, below quoit_coordinates_get_n_chips() /
 *   quoit_coordinates_get_n_hosts()
 *
 * Returns: the number of that chip in the slice
 */
QUOIT_API uint32_t quoit_coordinates_get_worker_chip (const QuoitCoordinates *coordinates, uint32_t worker_id,
                                                      uint32_t index_on_host);

/**
 * quoit_coordinates_get_device_chip:
 * @device: below quoit_coordinates_get_n_devices()
 *
 * Returns: the chip of the JAX device
 */
QUOIT_API uint32_t quoit_coordinates_get_device_chip (const QuoitCoordinates *coordinates, uint32_t device);

/**
 * quoit_coordinates_get_chip_device:
 * @chip: below quoit_coordinates_get_n_chips()
 * @core: below quoit_coordinates_get_n_devices() / quoit_coordinates_get_n_chips()
 *
 * Returns: the id of that JAX device in the slice
 */
QUOIT_API uint32_t quoit_coordinates_get_chip_device (const QuoitCoordinates *coordinates, uint32_t chip,
                                                      uint32_t core);

/**
 * quoit_coordinates_find_neighbour:
 * @chip: below quoit_coordinates_get_n_chips()
 * @axis: an axis
 * @direction: the direction along it
 *
 * Returns the chip at the other end of a link of @chip: the next chip along @axis, or the chip that the closing link of
 * the ring leads to.
 *
 * Returns: the number of the chip; -1 if there is no such link
 */
QUOIT_API int64_t quoit_coordinates_find_neighbour (const QuoitCoordinates *coordinates, uint32_t chip, QuoitAxis axis,
                                                    QuoitDirection direction);

/**
 * quoit_coordinates_get_hops:
 * @from: a chip, below quoit_coordinates_get_n_chips()
 * @to: the same chip or another one
 *
 * Returns: the number of links of a shortest path between them
 */
QUOIT_API uint32_t quoit_coordinates_get_hops (const QuoitCoordinates *coordinates, uint32_t from, uint32_t to);

/**
 * quoit_coordinates_get_bisection:
 *
 * Returns the smallest number of links between two halves of the slice. A cut in the middle of one axis makes the
 * halves.
 *
 * Returns: the number of links; 0 for a single chip
 */
QUOIT_API uint32_t quoit_coordinates_get_bisection (const QuoitCoordinates *coordinates);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitCoordinates, quoit_coordinates_free)

G_END_DECLS

#endif
