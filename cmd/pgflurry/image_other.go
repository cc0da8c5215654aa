//go:build !image

package main

import "pgflurry/config"

// usualListen is the default of --listen. image.go has another one.
const usualListen = config.UsualListen
