// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func linesOf(text string) []string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		// gofmt puts comments at the ends of lines under each other.
		if words := strings.Join(strings.Fields(line), " "); words != "" {
			lines = append(lines, words)
		}
	}
	return lines
}

func TestTheProgramOfTheReadmeIsTheExample(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 1 {
		t.Fatalf("%d programs: expected one", len(blocks))
	}
	example, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(example), "func Example() {\n")
	whole := strings.Join(linesOf(body), "\n")
	if !strings.Contains(whole, strings.Join(linesOf(blocks[0][1]), "\n")) {
		t.Error("the program is not that of Example")
	}
}
