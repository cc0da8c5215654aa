-- The claim that the home has written down last. $1 claim
UPDATE pgflurry.namespace SET claim = $1::uuid WHERE claim <> $1::uuid
