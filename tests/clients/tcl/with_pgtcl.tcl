# Pgtcl (libpgtcl).
package require Pgtcl

if {[lindex $argv 0] eq "version"} {
    puts [package require Pgtcl]
    exit
}

proc text {value} { return "\"[string map {\\ \\\\ \" \\\" \n \\n \t \\t} $value]\"" }
proc texts {values} { return "\[[join [lmap value $values {text $value}] {, }]\]" }

proc asked {name} { return [expr {$name in [split $::env(CLIENT_DEEDS)]}] }

# deed runs a script that returns two lists: the result to compare, and the IDs.
proc deed {name script} {
    if {![asked $name]} return
    if {[catch {apply [list {} $script]} outcome options]} {
        puts "{\"deed\": [text $name], \"error\": [text $outcome], \"sqlstate\": \"\"}"
    } else {
        puts "{\"deed\": [text $name], \"result\": [texts [lindex $outcome 0]], \"ids\": [texts [lindex $outcome 1]]}"
    }
}

proc none {name why} { if {[asked $name]} { puts "{\"deed\": [text $name], \"none\": [text $why]}" } }

# connected returns a connection. PGHOST and its like fill in what more leaves out.
proc connected {{more sslmode=disable}} { return [pg_connect -conninfo $more] }

# ask runs a statement and gives its rows, or its SQLSTATE and message.
proc ask {connection sql args} {
    set result [pg_exec $connection $sql {*}$args]
    if {[pg_result $result -status] ni {PGRES_TUPLES_OK PGRES_COMMAND_OK}} {
        set said [list [pg_result $result -error sqlstate] [pg_result $result -error]]
    } else {
        set said [pg_result $result -llist]
    }
    pg_result $result -clear
    return $said
}

proc heard {channel args} { set ::heard [list $channel {*}$args] }

proc draw {connection} { return [lindex [ask $connection "SELECT next_snowflake()"] 0 0] }

proc login {role {more sslmode=disable}} {
    set connection [connected "user=$role password=right $more"]
    set user [ask $connection "SELECT current_user"]
    pg_disconnect $connection
    catch {connected "user=$role password=wrong $more"} wrong
    return [list [list $user $wrong] {}]
}

# With the argument "draw" this is one of the four processes of the deed "parallel".
if {[lindex $argv 0] eq "draw"} {
    set connection [connected]
    for {set n 0} {$n < 1000} {incr n} { puts [draw $connection] }
    exit
}

deed password {login client_password}
deed scram {login $::env(CLIENT_ROLE)}
deed tls {login $::env(CLIENT_ROLE) "sslmode=verify-full sslrootcert=$::env(CLIENT_CA)"}
deed unprepared {
    set result [pg_exec [connected] "SELECT next_snowflake()"]
    set described [lmap what {-lAttributes -status -cmdTuples} {pg_result $result $what}]
    return [list $described [lindex [pg_result $result -llist] 0]]
}
if {[info exists ::env(CLIENT_BARE)]} {
    none prepared "Pgtcl prepares in SQL alone"
} else {deed prepared {
    set connection [connected]
    ask $connection "PREPARE draw AS SELECT next_snowflake()"
    for {set n 0} {$n < 20} {incr n} {
        set result [pg_exec_prepared $connection draw]
        lappend ids [lindex [pg_result $result -llist] 0 0]
        set last [pg_result $result -cmdTuples]
        pg_result $result -clear
    }
    return [list $last $ids]
}}
none pipeline "Pgtcl has no batches"
none mixed "Pgtcl has no batches"

# snippet: begin
# All the IDs in one round trip, then the rows that use them, in one transaction.
proc order_with_lines {connection lines} {
    pg_execute $connection BEGIN
    set draw "SELECT next_snowflake() AS id FROM generate_series(1, [llength $lines])"
    pg_execute -array row $connection $draw {lappend ids $row(id)}
    foreach id $ids line $lines {
        pg_result [pg_exec $connection {INSERT INTO item (id, name) VALUES ($1, $2)} $id $line] -clear
    }
    pg_execute $connection COMMIT
    return $ids
}
# snippet: end

deed transaction {
    set connection [connected]
    set ids [order_with_lines $connection {one two}]
    set count {SELECT count(*) FROM item WHERE id = $1}
    ask $connection BEGIN
    set first [draw $connection]
    ask $connection {INSERT INTO item (id, name) VALUES ($1, 'gone')} $first
    set seen [ask $connection $count $first]
    ask $connection ROLLBACK
    set left [ask $connection $count $first]
    set kept [ask $connection {SELECT count(*) FROM item WHERE id IN ($1, $2)} {*}$ids]
    ask $connection BEGIN
    set zero [ask $connection "SELECT 1/0"]
    set failed [ask $connection "SELECT next_snowflake()"]
    ask $connection ROLLBACK
    return [list [list $seen $left $kept $zero $failed] [list {*}$ids $first [draw $connection]]]
}
deed commit {
    set connection [connected]
    foreach ending {COMMIT ROLLBACK FAIL} {
        ask $connection BEGIN
        lappend ids [draw $connection]
        if {$ending eq "FAIL"} {
            ask $connection "SELECT 1/0"
            set failed [ask $connection "SELECT next_snowflake()"]
        }
        ask $connection [expr {$ending eq "COMMIT" ? "COMMIT" : "ROLLBACK"}]
    }
    return [list $failed [list {*}$ids [draw $connection]]]
}
deed copy {
    set connection [connected]
    ask $connection "TRUNCATE item"
    set copy [pg_exec $connection "COPY item (name) FROM STDIN"]
    puts $connection "one\ntwo"
    puts $connection "\\."
    flush $connection
    pg_result $copy -clear
    set rows [pg_exec $connection "COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT"]
    while {[gets $connection line] >= 0 && $line ne "\\."} {
        lassign [split $line \t] id name
        lappend ids $id
        lappend names $name
    }
    pg_result $rows -clear
    return [list $names [list {*}$ids [draw $connection]]]
}
deed notify {
    set listener [connected]
    set sender [connected]
    pg_listen $listener news heard
    set id [draw $listener]
    ask $sender "NOTIFY news, 'hello'"
    vwait ::heard
    return [list [list [lindex $::heard 0] [lindex $::heard 2]] $id]
}
deed cancel {
    set sleeper [connected]
    set other [connected]
    set asleep "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
    pg_sendquery $sleeper "SELECT pg_sleep(60)"
    while {[ask $other $asleep] == 0} {}
    pg_cancelrequest $sleeper
    set result [pg_getresult $sleeper]
    set said [list [pg_result $result -error sqlstate] [pg_result $result -error]]
    pg_result $result -clear
    while {[set rest [pg_getresult $sleeper]] ne ""} { pg_result $rest -clear }
    return [list $said [draw $sleeper]]
}
deed default {
    return [list {} [ask [connected] {INSERT INTO item (name) VALUES ($1) RETURNING id} new]]
}
none pool "Pgtcl has no pool"
deed parallel {
    for {set n 0} {$n < 4} {incr n} { lappend readers [open |[list [info nameofexecutable] $::argv0 draw]] }
    foreach reader $readers {
        lappend ids {*}[split [string trim [read $reader]] \n]
        close $reader
    }
    return [list {} $ids]
}
