// Package themes installs themes that shop owners upload as ZIP archives.
package themes

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const largestFile = 4 << 20

// Install unpacks the archive into the directory of the theme.
func Install(archive, dir string) error {
	reader, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("open theme: %w", err)
	}
	defer reader.Close()
	for _, entry := range reader.File {
		if entry.FileInfo().IsDir() {
			continue
		}
		if !filepath.IsLocal(entry.Name) {
			return fmt.Errorf("theme contains a path outside its directory: %q", entry.Name)
		}
		target := filepath.Join(dir, entry.Name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return fmt.Errorf("create directory: %w", err)
		}
		if err := unpack(entry, target); err != nil {
			return fmt.Errorf("unpack %q: %w", entry.Name, err)
		}
	}
	return nil
}

func unpack(entry *zip.File, target string) error {
	source, err := entry.Open()
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(target, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, io.LimitReader(source, largestFile)); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}
