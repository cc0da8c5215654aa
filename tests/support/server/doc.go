// Package server gives a test package a real PostgreSQL, and each test a database of its own.
//
//	func TestMain(m *testing.M) { server.Main(m) }
//
//	func TestSomething(t *testing.T) {
//		url := server.Migrated(t)          // or server.Database(t), which is empty
//		conn := server.Connect(t, url)
//
// Main starts one private cluster for the whole test package and stops it after the last test. The cluster runs from
// binaries. Without binaries it runs in a container, if Docker answers; Main then puts the container's psql and pgbench
// on PATH. If no PostgreSQL can be had, the run fails and says how to install one; it skips nothing. Three variables
// choose another server:
//
//	PGFLURRY_TEST_BINARIES=DIR   the private cluster, from the server binaries in this folder
//	PGFLURRY_TEST_POSTGRES=URL   an existing server, as a superuser (the tests make and drop databases and roles)
//	PGFLURRY_TEST_DOCKER=1       a container, made by dockertest
//
// A process of its own, the watchdog, waits for the end of the package, which may be a signal or lack of time. Then it
// ends the programs that are left, and removes the folders of temporary files.
//
// PGFLURRY_TEST_IMAGE names the image of containers, default postgres:17.
//
// On the private cluster the role that logs in decides the method of authentication, so that a test can have each.
// Members of role login_scram use scram-sha-256, of login_md5 md5, of login_password a password in clear text. All
// others are trusted.
package server
