package connect

import "os/exec"

func ownGroup(*exec.Cmd) (end func()) { return func() {} }
