package command

import "pgflurry/internal/fault"

// startTypes returns the declared types, with room for all parameters of the statement.
func startTypes(declared []uint32, params int) ([]uint32, error) {
	types := make([]uint32, max(len(declared), params))
	for i, oid := range declared {
		if oid == Unknown {
			oid = 0
		}
		if kind := kindOf(oid); oid == Name || oid != 0 && oid != Bool && kind == kindOther {
			return nil, fault.Errorf(codeNotSupported, hintTypes, "parameter $%d has the type with OID %d", i+1, oid)
		}
		types[i] = oid
	}
	return types, nil
}

const hintTypes = "Parameters of this database are boolean, smallint, integer, bigint, text or varchar."

// Determined refuses a parameter that has no type.
func Determined(types []uint32) error {
	for i, oid := range types {
		if oid == 0 || oid == Unknown {
			return fault.Errorf(codeIndeterminate, "", "could not determine data type of parameter $%d", i+1)
		}
	}
	return nil
}
