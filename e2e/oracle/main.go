// The oracle answers questions about versions, patterns, expressions and templates with the very
// libraries that the original program is made of.
//
// Usage: oracle SUBJECT. Reads one JSON document per line and writes one answer per line, in order.
// It knows nothing of the answers that ours should give; who compares them is in ../src/cases.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/Masterminds/semver/v3"

	"oracle/argocd"
)

func main() {
	subjects := map[string]func() error{
		"glob":     func() error { return answer(glob) },
		"regexp":   func() error { return answer(expression) },
		"semver":   func() error { return answer(version) },
		"template": func() error { return answer(argocd.Fill) },
	}
	if len(os.Args) != 2 || subjects[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: oracle glob|regexp|semver|template")
		os.Exit(2)
	}
	if err := subjects[os.Args[1]](); err != nil {
		fmt.Fprintln(os.Stderr, "oracle:", err)
		os.Exit(1)
	}
}

// answer reads questions up to the end of the input. What has been answered is flushed before
// waiting for a question, so that nobody waits for an answer that is already known.
func answer[Question, Answer any](reply func(Question) Answer) error {
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	answers := json.NewEncoder(out)
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return out.Flush()
		}
		if err != nil {
			return err
		}
		var question Question
		if err := json.Unmarshal(line, &question); err != nil {
			return fmt.Errorf("%s: %w", line, err)
		}
		if err := answers.Encode(reply(question)); err != nil {
			return err
		}
	}
}

type versionQuestion struct {
	Constraint string   `json:"constraint"`
	Versions   []string `json:"versions"`
}

type versionAnswer struct {
	// Refused says why the constraint is none: the first words of the error.
	Refused string `json:"refused"`
	// Canonical holds the canonical form of each version, empty where it is none.
	Canonical []string `json:"canonical"`
	// Matches holds, for each version, whether it satisfies the constraint.
	Matches []bool `json:"matches"`
	// Order holds how each version compares with the one before it; 0 where one is none.
	Order []int `json:"order"`
}

func version(question versionQuestion) versionAnswer {
	count := len(question.Versions)
	given := versionAnswer{
		Canonical: make([]string, count), Matches: make([]bool, count), Order: make([]int, count),
	}
	constraint, err := semver.NewConstraint(question.Constraint)
	if err != nil {
		given.Refused, _, _ = strings.Cut(err.Error(), ":")
	}
	var before *semver.Version
	for at, text := range question.Versions {
		parsed, err := semver.NewVersion(text)
		if err != nil {
			before = nil
			continue
		}
		given.Canonical[at] = parsed.String()
		given.Matches[at] = constraint != nil && constraint.Check(parsed)
		if before != nil {
			given.Order[at] = parsed.Compare(before)
		}
		before = parsed
	}
	return given
}

type patternQuestion struct {
	Pattern string   `json:"pattern"`
	Texts   []string `json:"texts"`
}

type globAnswer struct {
	// Malformed holds, for each text, whether the pattern was found broken on the way.
	Malformed []bool `json:"malformed"`
	Matches   []bool `json:"matches"`
}

func glob(question patternQuestion) globAnswer {
	count := len(question.Texts)
	given := globAnswer{Malformed: make([]bool, count), Matches: make([]bool, count)}
	for at, text := range question.Texts {
		matched, err := path.Match(question.Pattern, text)
		given.Matches[at], given.Malformed[at] = matched, err != nil
	}
	return given
}

type expressionAnswer struct {
	// Refused is the kind of the error about the expression, empty if there is none.
	Refused string `json:"refused"`
	Matches []bool `json:"matches"`
}

func expression(question patternQuestion) expressionAnswer {
	given := expressionAnswer{Matches: make([]bool, len(question.Texts))}
	compiled, err := regexp.Compile(question.Pattern)
	if err != nil {
		given.Refused = "unknown"
		if known := (*syntax.Error)(nil); errors.As(err, &known) {
			given.Refused = known.Code.String()
		}
		return given
	}
	for at, text := range question.Texts {
		given.Matches[at] = compiled.MatchString(text)
	}
	return given
}
