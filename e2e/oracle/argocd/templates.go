// Package argocd fills in templates over the data that the original offers them. Its types bear the
// names that they have there, since `%T` prints them.
package argocd

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"text/template"
	"unicode/utf8"
)

// Question is a template with the data of its kind; the other one is absent.
type Question struct {
	Template string  `json:"template"`
	Commit   *Commit `json:"commit"`
	Branch   *Branch `json:"branch"`
}

// Commit is what a commit message speaks of.
type Commit struct {
	App     string `json:"app"`
	Changes []struct {
		Image  string            `json:"image"`
		Old    string            `json:"old"`
		New    string            `json:"new"`
		Labels map[string]string `json:"labels"`
	} `json:"changes"`
}

// Branch is what a branch name speaks of.
type Branch struct {
	Namespace string `json:"namespace"`
	App       string `json:"app"`
	Key       string `json:"key"`
	Images    []struct {
		Name  string `json:"name"`
		Alias string `json:"alias"`
		Old   string `json:"old"`
		New   string `json:"new"`
	} `json:"images"`
}

// Answer is what came of a template.
type Answer struct {
	Text string `json:"text"`
	// Failure is "parse", "execute" or empty.
	Failure string `json:"failure"`
	// Broken tells that the text is not UTF-8; as JSON it cannot be told.
	Broken bool `json:"broken"`
}

type commitMessageTemplate struct {
	AppName    string
	AppChanges []commitMessageChange
}

type commitMessageChange struct {
	Image  string
	OldTag string
	NewTag string
	Labels map[string]string
}

type branchNameTemplate struct {
	Images       []imageChange
	SHA256       string
	AppNamespace string
	AppName      string
	TargetKey    string
}

type imageChange struct {
	Name   string
	Alias  string
	OldTag string
	NewTag string
}

// Fill fills in a template.
func Fill(question Question) Answer {
	parsed, err := template.New("oracle").Parse(question.Template)
	if err != nil {
		return Answer{Failure: "parse"}
	}
	var text strings.Builder
	if err := parsed.Execute(&text, data(question)); err != nil {
		return Answer{Failure: "execute"}
	}
	return Answer{Text: text.String(), Broken: !utf8.ValidString(text.String())}
}

func data(question Question) any {
	if question.Commit != nil {
		message := commitMessageTemplate{AppName: question.Commit.App}
		for _, change := range question.Commit.Changes {
			message.AppChanges = append(message.AppChanges, commitMessageChange{
				change.Image, change.Old, change.New, change.Labels,
			})
		}
		return message
	}
	branch := question.Branch
	name := branchNameTemplate{
		AppNamespace: branch.Namespace, AppName: branch.App, TargetKey: branch.Key,
	}
	hash := sha256.New()
	for _, image := range branch.Images {
		fmt.Fprintf(hash, "%s-%s-%s,", image.Name, image.Old, image.New)
		change := imageChange{image.Name, image.Alias, image.Old, image.New}
		name.Images = append(name.Images, change)
	}
	name.SHA256 = hex.EncodeToString(hash.Sum(nil))
	return name
}
