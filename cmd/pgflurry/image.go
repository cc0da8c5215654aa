//go:build image

package main

import _ "golang.org/x/crypto/x509roots/fallback" // the image holds no certificates; those of the system come first

// usualListen is the default of --listen in an image, which is built with the tag image: nobody outside a container
// reaches its loopback. A variable or a flag in the image would win over a configuration file.
const usualListen = ":6432"
