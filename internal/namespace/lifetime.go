package namespace

import "time"

// LayoutWarning is how long before a layout's end programs begin to warn, because a new namespace takes planning.
// pgflurry.snowflake_lifetime() shows the same in SQL.
const LayoutWarning = 10 * 365 * 24 * time.Hour
