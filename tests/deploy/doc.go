// Package deploy tests the files of deploy/ and docker/compose.yaml. The tools that read these files accept them, and
// every flag, variable and path in them exists. The module kubernetes below tests what they mean to Kubernetes. The
// tests have the build tag full.
package deploy
