package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
)

// sbomPath is the list of what a program is made of.
func sbomPath(s *source, p program, out string) string {
	return filepath.Join(out, s.base(p)+".cdx.json")
}

// sbom writes that list as CycloneDX. What the Go tool recorded in the program says what it links.
func sbom(_ context.Context, s *source, p program, out string) error {
	content, err := os.ReadFile(p.path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	own, err := component(s.module, s.version, filepath.Join(s.clone, "LICENSE"))
	if err != nil {
		return err
	}
	own.Type, own.Name = cyclonedx.ComponentTypeApplication, "pgflurry"
	own.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sum)}}
	own.Properties = &[]cyclonedx.Property{{Name: "pgflurry:target", Value: p.String()}}

	standard := cyclonedx.Component{ // its licence stands in NOTICE
		BOMRef: "std", Type: cyclonedx.ComponentTypeLibrary, Name: "std",
		Version: p.info.GoVersion, PackageURL: purl("std", strings.TrimPrefix(p.info.GoVersion, "go")),
	}
	components := []cyclonedx.Component{standard}
	for _, linked := range p.info.Deps {
		licence := ""
		for _, d := range s.links {
			if d.path == linked.Path {
				licence = d.texts[0]
			}
		}
		c, err := component(linked.Path, linked.Version, licence)
		if err != nil {
			return err
		}
		components = append(components, c)
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = serial(sum)
	bom.Metadata = &cyclonedx.Metadata{Timestamp: s.at.Format("2006-01-02T15:04:05Z"), Component: &own}
	bom.Components = &components
	var text bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return err
	}
	return os.WriteFile(sbomPath(s, p, out), text.Bytes(), 0o644)
}

// component describes a module. The file has its licence.
func component(path, version, licence string) (cyclonedx.Component, error) {
	c := cyclonedx.Component{
		BOMRef: purl(path, version), Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version,
		PackageURL: purl(path, version),
	}
	names, err := licences(licence)
	if err != nil {
		return c, fmt.Errorf("the licence of %s: %w", path, err)
	}
	var choices cyclonedx.Licenses
	for _, name := range names {
		choices = append(choices, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: name}})
	}
	if len(choices) == 0 {
		choices = cyclonedx.Licenses{{License: &cyclonedx.License{Name: seeFile}}}
	}
	c.Licenses = &choices
	return c, nil
}

// seeFile stands for a licence that has no name.
const seeFile = "see the file LICENSE"

// purl is a module's package URL.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial is a UUID of the program's content, of version 8: the same program has the same.
func serial(sum [sha256.Size]byte) string {
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}
