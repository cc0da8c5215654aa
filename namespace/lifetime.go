package namespace

import "time"

// LayoutWarning is how long before a layout's end programs begin to warn: a new namespace has to be planned.
// pgflurry.snowflake_lifetime() says the same in SQL.
const LayoutWarning = 10 * 365 * 24 * time.Hour
