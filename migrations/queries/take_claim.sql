-- Stores the claim that the home has recorded for this database last. $1 claim
UPDATE pgflurry.namespace SET claim = $1::uuid
