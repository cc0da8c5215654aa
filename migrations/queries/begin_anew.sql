-- In a restored database the function begins anew, above every ID that it may have issued. Otherwise it could continue
-- where the backup stood: a snapshot of a server that was shut down cleanly keeps the unlogged sequence pgflurry.lane.
-- true: IDs that exist here may be from the clock of another server.
CALL pgflurry.begin_anew(true)
