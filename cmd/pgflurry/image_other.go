//go:build !image

package main

import "pgflurry/internal/config"

// usualListen is the default of --listen. image.go has another one.
const usualListen = config.UsualListen
