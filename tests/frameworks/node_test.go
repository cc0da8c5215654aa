//go:build full

package frameworks

import (
	"path/filepath"

	"pgflurry/tests/support/deeds"
)

// typescript makes Node read TypeScript.
const typescript = "./node/node_modules/tsx/dist/loader.mjs"

func nodeFramework(name, folder, packages, trap string) framework {
	return framework{
		Program: deeds.Program{
			Name: name, Source: "node/" + folder + "/deeds.js", Packages: packages,
			Command: []string{"node", "node/" + folder + "/deeds.js"},
		},
		trap: trap,
	}
}

// inTypeScript is a framework whose program, or a part of it, is TypeScript. Its folder has a tsconfig.json.
func inTypeScript(f framework, program string) framework {
	folder := filepath.Dir(f.Source)
	f.Source = folder + "/" + program
	f.Command = []string{"node", "--import", typescript, f.Source}
	f.Environment = []string{"TSX_TSCONFIG_PATH=" + folder + "/tsconfig.json"}
	return f
}

// generated is a framework whose program needs a client that a command generates from the model.
func generated(f framework, command ...string) framework {
	f.Build = command
	return f
}

var nodeFrameworks = []framework{
	generated(inTypeScript(nodeFramework("Prisma", "prisma", "prisma @prisma/client @prisma/adapter-pg",
		"install pgflurry in a migration, or the shadow database lacks it"), "deeds.js"),
		"node", "node/prisma/cli.js", "generate"),
	inTypeScript(nodeFramework("TypeORM", "typeorm", "typeorm pg",
		"`generated: 'increment'` drops the DEFAULT, and ignores IDs that you give"), "deeds.ts"),
	nodeFramework("Sequelize", "sequelize", "sequelize umzug pg",
		"`autoIncrement: true` makes a BIGSERIAL"),
	first(nodeFramework("Knex", "knex", "knex pg",
		"keys are strings, and `Number(id)` rounds them")),
	nodeFramework("MikroORM", "mikroorm", "@mikro-orm/core @mikro-orm/migrations @mikro-orm/postgresql",
		"without `ignoreRoutines` a generated migration drops next_snowflake()"),
	nodeFramework("Drizzle", "drizzle", "drizzle-orm drizzle-kit pg",
		"mode `number` rounds keys, and so do relational queries"),
}
