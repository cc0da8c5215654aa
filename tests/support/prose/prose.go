// Package prose finds the sentences that people read in Markdown, in Go's comments and in help texts. It fails a test
// whose text has long ones. That short sentences are good ones, only a reader can say.
package prose

import (
	"bytes"
	"go/doc/comment"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	tables "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const (
	longest = 25 // words of a sentence
	mean    = 18 // words of the sentences of a text
	few     = 5  // fewer sentences have no mean
)

// A Sentence is one of a paragraph, an item of a list or a cell of a table.
type Sentence struct {
	Line  int // of the text, where its block begins; from 1
	Words int // a span of code and a number are a word each; blocks of code and addresses are none
	Text  string
}

var (
	word = regexp.MustCompile(`[\pL\pN]`)
	end  = regexp.MustCompile(`[.!?]["”’)]*\s`) // so "e.g." would be one: write "such as"
	// heavy are turns of phrase that make a reader begin a sentence again.
	heavy = regexp.MustCompile(`(?i)\b(of which|but for|whoever|(is|are|was|were) told)\b`)
)

// Check fails t for each sentence that is long or heavy. Lines are counted from first, which is that of the text.
func Check(t testing.TB, first int, sentences []Sentence) {
	t.Helper()
	words := 0
	for _, s := range sentences {
		words += s.Words
		if s.Words > longest {
			t.Errorf("line %d: a sentence of %d words; at most %d are allowed:\n\t%s",
				first+s.Line-1, s.Words, longest, s.Text)
		}
		if phrase := heavy.FindString(s.Text); phrase != "" {
			t.Errorf("line %d: %q is heavy; say it in another way:\n\t%s", first+s.Line-1, phrase, s.Text)
		}
	}
	if n := len(sentences); n >= few && words > mean*n {
		t.Errorf("line %d: %d sentences have %d words in the mean; at most %d are allowed", first, n, words/n, mean)
	}
}

// codeWord stands for a span of code, whatever is in it.
const codeWord = "`code`"

// CheckHelp does the same for the help texts of a command and of all below it.
func CheckHelp(t *testing.T, cmd *cobra.Command) {
	t.Run(cmd.CommandPath(), func(t *testing.T) {
		Check(t, 1, Comment(cmd.Long))
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { Check(t, 1, Comment(f.Usage)) })
	})
	for _, sub := range cmd.Commands() {
		CheckHelp(t, sub)
	}
}

// Markdown returns the sentences of a document with GitHub's tables.
func Markdown(source []byte) (all []Sentence) {
	document := goldmark.New(goldmark.WithExtensions(extension.Table)).Parser().Parse(text.NewReader(source))
	_ = ast.Walk(document, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node.Kind() {
		case ast.KindParagraph, ast.KindTextBlock, tables.KindTableCell:
			line := 1 + bytes.Count(source[:start(node)], []byte("\n"))
			all = append(all, split(line, plain(node, source))...)
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return all
}

// start is where the text of a block begins in its file.
func start(node ast.Node) int {
	if lines := node.Lines(); lines != nil && lines.Len() > 0 {
		return lines.At(0).Start
	}
	return 0
}

// plain is the text of a block as it is read aloud.
func plain(block ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(block, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := node.(type) {
		case *ast.CodeSpan:
			if entering {
				b.WriteString(codeWord)
			}
			return ast.WalkSkipChildren, nil
		case *ast.Image, *ast.RawHTML:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			if entering {
				b.Write(n.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteByte(' ')
				}
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// Comment returns the sentences of a comment of Go, or of any text whose blocks of code are indented.
func Comment(body string) (all []Sentence) {
	blocks(new(comment.Parser).Parse(body).Content, func(block []comment.Text) {
		var b strings.Builder
		inline(&b, block)
		all = append(all, split(1, b.String())...)
	})
	return all
}

func blocks(content []comment.Block, each func([]comment.Text)) {
	for _, block := range content {
		switch b := block.(type) {
		case *comment.Paragraph:
			each(b.Text)
		case *comment.List:
			for _, item := range b.Items {
				blocks(item.Content, each)
			}
		}
	}
}

func inline(b *strings.Builder, texts []comment.Text) {
	for _, t := range texts {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(string(t))
		case comment.Italic:
			b.WriteString(string(t))
		case *comment.Link:
			inline(b, t.Text)
		case *comment.DocLink:
			inline(b, t.Text)
		}
	}
}

// split cuts a block into its sentences.
func split(line int, block string) (all []Sentence) {
	block = strings.Join(strings.Fields(block), " ")
	for block != "" {
		sentence := block
		if at := end.FindStringIndex(block); at != nil {
			sentence = block[:at[1]-1]
		}
		block = strings.TrimSpace(block[len(sentence):])
		if words := count(sentence); words > 0 {
			all = append(all, Sentence{Line: line, Words: words, Text: sentence})
		}
	}
	return all
}

// count is the number of words: what has a letter or a digit between spaces.
func count(sentence string) (words int) {
	for _, field := range strings.Fields(sentence) {
		if word.MatchString(field) {
			words++
		}
	}
	return words
}
