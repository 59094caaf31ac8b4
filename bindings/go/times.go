// SPDX-License-Identifier: Apache-2.0

package quoit

import (
	"math"
	"time"
)

// durationMs converts a duration to milliseconds. It rounds away from 0, so that a short duration does not become 0,
// which means "no limit", and a negative duration stays below 0.
func durationMs(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	switch rest := d % time.Millisecond; {
	case rest > 0:
		return ms + 1
	case rest < 0:
		return ms - 1
	}
	return ms
}

// unixMs converts a time to milliseconds since 1970-01-01 UTC. A time beyond the range of int64 becomes the nearest
// limit, which the library refuses.
func unixMs(now time.Time) int64 {
	seconds := now.Unix()
	if seconds > math.MaxInt64/1000-1 {
		return math.MaxInt64
	}
	if seconds < math.MinInt64/1000+1 {
		return math.MinInt64
	}
	return now.UnixMilli()
}

// timeFromC converts milliseconds since 1970-01-01 UTC to a time. 0, which means "none", becomes the zero time.
func timeFromC(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}

// unixMsOrZero is like unixMs, but returns 0 for the zero time.
func unixMsOrZero(when time.Time) int64 {
	if when.IsZero() {
		return 0
	}
	return unixMs(when)
}
