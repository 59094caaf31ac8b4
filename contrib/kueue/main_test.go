// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for arguments, expected := range map[string]string{
		"":                            "",
		"-period 1s":                  "",
		"-wait 0s":                    "",
		"-lost-after 0s":              "",
		"extra":                       "unexpected argument 'extra'",
		"-ledger=":                    "-ledger: expected",
		"-period 0s":                  "-period '0s': expected at least 1s",
		"-period 999ms":               "-period '999ms': expected at least 1s",
		"-wait -1ms":                  "-wait '-1ms': expected 0s or more",
		"-lost-after -1s":             "-lost-after '-1s': expected 0s or more",
		"-retry-shortest 10ms":        "-retry-shortest '10ms'",
		"-retry-longest 29s":          "-retry-longest '29s'",
		"-period -1s -lost-after -1s": "-period '-1s'",
	} {
		_, err := parse(append([]string{"-ledger", "quoit.db"}, strings.Fields(arguments)...))
		if expected == "" && err != nil || expected != "" && (err == nil || !strings.Contains(err.Error(), expected)) {
			t.Errorf("%s: %v, expected '%s'", arguments, err, expected)
		}
	}
}

func TestHealth(t *testing.T) {
	p := &process{settings: &settings{period: 10 * time.Second}}
	for name, one := range map[string]struct {
		age    time.Duration // of the last pass
		status int
	}{
		"leader":         {80 * time.Second, http.StatusOK},
		"blocked leader": {100 * time.Second, http.StatusServiceUnavailable},
	} {
		p.lastPass.Store(time.Now().Add(-one.age).Unix())
		answer := httptest.NewRecorder()
		p.answerHealth(answer, nil)
		if answer.Code != one.status {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
	p.lastPass.Store(0)
	answer := httptest.NewRecorder()
	p.answerHealth(answer, nil)
	if answer.Code != http.StatusOK {
		t.Errorf("standby: %d %s", answer.Code, answer.Body)
	}
}

// The opening of the ledger can block, so the process counts as a leader before.
func TestHealthOfALeaderWithoutALedger(t *testing.T) {
	p := &process{settings: &settings{ledger: "/dev/null/quoit.db"}}
	if err := p.lead(t.Context()); err == nil {
		t.Fatal("opened a ledger in /dev/null")
	}
	if p.lastPass.Load() == 0 {
		t.Error("the process counts as a standby")
	}
}
