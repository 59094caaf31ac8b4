// SPDX-License-Identifier: Apache-2.0

package quoit

import (
	"math"
	"time"
)

// milliseconds of a duration, away from 0: what is short is not for ever, and what is below 0 is not 0.
func milliseconds(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	switch rest := d % time.Millisecond; {
	case rest > 0:
		return ms + 1
	case rest < 0:
		return ms - 1
	}
	return ms
}

// clock is a time as C takes it. One that no count of milliseconds can be is as much too early or too late as can be.
func clock(now time.Time) int64 {
	seconds := now.Unix()
	if seconds > math.MaxInt64/1000-1 {
		return math.MaxInt64
	}
	if seconds < math.MinInt64/1000+1 {
		return math.MinInt64
	}
	return now.UnixMilli()
}

// timeOf is the time of a count of milliseconds, the zero time for 0, which stands for none.
func timeOf(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
