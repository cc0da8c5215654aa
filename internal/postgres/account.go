package postgres

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
)

// account is the user of the operating system that the server runs as.
type account struct {
	name     string
	uid, gid uint32
	switched bool // it is not the user of this process, who is root
}

// serverAccount is this process's user. PostgreSQL refuses root: then it is the owner of an existing data folder, else
// user postgres, else nobody. PostgreSQL also needs an entry in passwd.
func serverAccount(data string) (account, error) {
	if os.Geteuid() != 0 {
		who, err := user.Current()
		if err != nil {
			return account{}, fmt.Errorf("user %d has no passwd entry, which PostgreSQL needs: %w", os.Getuid(), err)
		}
		return accountOf(who, false)
	}
	if info, err := os.Stat(data); err == nil {
		if owner, _, known := ownerOf(info); known && owner != 0 {
			who, err := user.LookupId(strconv.FormatUint(uint64(owner), 10))
			if err != nil {
				err = fmt.Errorf("data folder %s belongs to user %d, "+
					"who has no passwd entry, which PostgreSQL needs: %w", data, owner, err)
				return account{}, err
			}
			return accountOf(who, true)
		}
	}
	for _, name := range []string{"postgres", "nobody"} {
		if who, err := user.Lookup(name); err == nil {
			return accountOf(who, true)
		}
	}
	return account{}, errors.New("PostgreSQL does not run as root, " +
		"and this machine has neither a user postgres nor a user nobody; run this as another user")
}

func accountOf(who *user.User, switched bool) (account, error) {
	uid, err := strconv.ParseUint(who.Uid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("user %s has number %q: %w", who.Username, who.Uid, err)
	}
	gid, err := strconv.ParseUint(who.Gid, 10, 32)
	if err != nil {
		return account{}, fmt.Errorf("user %s has group %q: %w", who.Username, who.Gid, err)
	}
	return account{name: who.Username, uid: uint32(uid), gid: uint32(gid), switched: switched}, nil
}

// give makes the account the owner of a file or folder.
func (a account) give(path string) error {
	if !a.switched {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// ImpassableError says that the server's user cannot enter a folder above its data or its binaries.
type ImpassableError struct {
	Path   string // where the server has to get
	Folder string // the folder that it cannot enter
	Mode   os.FileMode
	User   string
}

func (e *ImpassableError) Error() string {
	return fmt.Sprintf("PostgreSQL does not run as root, so it runs as user %s here, who cannot reach %s: "+
		"folder %s has mode %04o",
		e.User, e.Path, e.Folder, e.Mode.Perm())
}

// Hint says what to do next.
func (e *ImpassableError) Hint() string {
	return "Choose a folder that everybody can pass through, such as one below /var/tmp, " +
		"or run this as another user than root."
}

// Passable returns an *ImpassableError if the server's user cannot reach path. The last parts of path may not exist
// yet.
func Passable(path string) error {
	who, err := serverAccount(path)
	if err != nil {
		return err
	}
	return who.passable(path)
}

func (a account) passable(path string) error {
	if !a.switched {
		return nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	for dir := filepath.Dir(absolute); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !a.mayPass(info) {
			return &ImpassableError{Path: absolute, Folder: dir, Mode: info.Mode(), User: a.name}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// mayPass evaluates the permission bits as the kernel does, for a user without further groups.
func (a account) mayPass(info os.FileInfo) bool {
	execute := os.FileMode(0o001)
	if uid, gid, known := ownerOf(info); known {
		switch {
		case uid == a.uid:
			execute = 0o100
		case gid == a.gid:
			execute = 0o010
		}
	}
	return info.Mode()&execute != 0
}
