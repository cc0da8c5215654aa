#!/usr/bin/perl
# DBD::Pg below DBI.
use strict;
use warnings;
use DBD::Pg qw(:async);
use DBI;
use JSON::PP;

my $json = JSON::PP->new->canonical->allow_nonref;
my $place = 'dbi:Pg:';    # host and the rest come from PGHOST and its like
my $asleep = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";

my $settings = { RaiseError => 1, PrintError => 0, AutoCommit => 1 };

sub connected {
    my ($user, $password, $more) = @_;
    return DBI->connect($place . ($more // ''), $user // '', $password // '', $settings);
}

# refused returns the error of code that must die.
sub refused {
    my ($code) = @_;
    eval { $code->(); 1 } and return 'no error';
    return [ $DBI::state, $DBI::errstr ];
}

sub draw { return $_[0]->selectrow_array('SELECT next_snowflake()') }

sub login {
    my ($role, $more) = @_;
    my ($user) = connected($role, 'right', $more)->selectrow_array('SELECT current_user');
    return ([ $user, refused(sub { connected($role, 'wrong', $more) }) ]);
}

sub unprepared {
    my $statement = connected()->prepare('SELECT next_snowflake()', { pg_server_prepare => 0 });
    my $rows = $statement->execute;
    my ($id) = $statement->fetchrow_array;
    return ([ $rows, @$statement{qw(NAME TYPE PRECISION SCALE pg_type pg_cmd_status)} ], $id);
}

sub prepared {
    my $db = connected();
    $db->{pg_switch_prepared} = 1;    # from the first execution on
    my $statement = $db->prepare('SELECT next_snowflake() AS id');
    my @ids;
    for (1 .. 20) {
        $statement->execute;
        push @ids, $statement->fetchrow_array;
    }
    return (undef, @ids) if $ENV{CLIENT_BARE};
    return ([ $db->selectrow_array('SELECT count(*) FROM pg_prepared_statements') ], @ids);
}

# snippet: begin
# All the IDs in one round trip, then the rows that use them, in one transaction.
sub order_with_lines {
    my ($db, @lines) = @_;
    $db->begin_work;
    my $ids = $db->selectcol_arrayref('SELECT next_snowflake() FROM generate_series(1, ' . @lines . ')');
    my $insert = $db->prepare('INSERT INTO item (id, name) VALUES (?, ?)');
    $insert->execute($ids->[$_], $lines[$_]) for 0 .. $#lines;
    $db->commit;
    return @$ids;
}

# snippet: end

sub transaction {
    my $db = connected();
    my @ids = order_with_lines($db, 'one', 'two');
    my $count = 'SELECT count(*) FROM item WHERE id = ?';
    $db->begin_work;
    my ($first) = draw($db);
    my $inserted = $db->do("INSERT INTO item (id, name) VALUES (?, 'gone')", undef, $first);
    my ($seen) = $db->selectrow_array($count, undef, $first);
    $db->rollback;
    my ($left) = $db->selectrow_array($count, undef, $first);
    my ($kept) = $db->selectrow_array('SELECT count(*) FROM item WHERE id IN (?, ?)', undef, @ids);
    $db->begin_work;
    my $zero = refused(sub { $db->do('SELECT 1/0') });
    my $failed = refused(sub { draw($db) });
    my $status = $db->ping;
    $db->rollback;
    return ([ $inserted, $seen, $left, $kept, $zero, $failed, $status ], @ids, $first, draw($db));
}

sub commit {
    my $db = connected();
    my (@ids, $failed);
    for my $end (qw(commit rollback rollback)) {
        $db->begin_work;
        push @ids, draw($db);
        if (@ids == 3) {
            refused(sub { $db->do('SELECT 1/0') });
            $failed = refused(sub { draw($db) });
        }
        $db->$end;
    }
    return ($failed, @ids, draw($db));
}

# pool: DBI keeps a connection, and pings it before it gives it out again.
sub pool {
    return (undef, map { draw(DBI->connect_cached($place, '', '', $settings)) } 1 .. 100);
}

sub copies {
    my $db = connected();
    $db->do('TRUNCATE item');
    $db->do('COPY item (name) FROM STDIN');
    $db->pg_putcopydata("$_\n") for qw(one two);
    my $ended = $db->pg_putcopyend;
    $db->do('COPY (SELECT id, name FROM item ORDER BY id) TO STDOUT');
    my (@ids, @names, $line);
    while ($db->pg_getcopydata(\$line) >= 0) {
        chomp $line;
        my ($id, $name) = split /\t/, $line;
        push @ids, $id;
        push @names, $name;
    }
    return ([ $ended, \@names ], @ids, draw($db));
}

sub notify {
    my ($listener, $sender) = (connected(), connected());
    $listener->do('LISTEN news');
    my ($id) = draw($listener);
    $sender->do("NOTIFY news, 'hello'");
    my $heard;
    until ($heard = $listener->pg_notifies) {
        my $readable = '';
        vec($readable, $listener->{pg_socket}, 1) = 1;
        select $readable, undef, undef, undef;
    }
    return ([ $heard->[0], $heard->[2] ], $id);
}

sub cancel {
    my ($sleeper, $other) = (connected(), connected());
    $sleeper->do('SELECT pg_sleep(60)', { pg_async => PG_ASYNC });
    1 until ($other->selectrow_array($asleep))[0];
    my $said = $sleeper->pg_cancel;
    return ([ $said, $sleeper->state ], draw($sleeper));
}

sub by_default {
    my $db = connected();
    my $insert = $db->prepare('INSERT INTO item (name) VALUES (?) RETURNING id');
    my $rows = $insert->execute('new');
    return ([ $rows, $insert->{pg_cmd_status} ], $insert->fetchrow_array);
}

# parallel draws in four processes: DBI has no threads.
sub parallel {
    my @readers;
    for (1 .. 4) {
        pipe my $reader, my $writer or die $!;
        push @readers, $reader;
        next if fork;
        my $db = connected();
        print $writer draw($db), "\n" for 1 .. 1000;
        $db->disconnect;
        close $writer;
        exit;
    }
    my @ids = map { my $reader = $_; map { chomp; $_ } <$reader> } @readers;
    1 while wait > 0;
    return (undef, @ids);
}

if (@ARGV) {
    print "$DBD::Pg::VERSION\n";
    exit;
}
$| = 1;
my $no_batch = 'DBD::Pg has no batches';
for (
    [ password => sub { login('client_password') } ],
    [ scram => sub { login($ENV{CLIENT_ROLE}) } ],
    [ tls => sub { login($ENV{CLIENT_ROLE}, "sslmode=verify-full;sslrootcert=$ENV{CLIENT_CA}") } ],
    [ unprepared => \&unprepared ],
    [ prepared => \&prepared ],
    [ pipeline => $no_batch ],
    [ mixed => $no_batch ],
    [ transaction => \&transaction ],
    [ commit => \&commit ],
    [ copy => \&copies ],
    [ notify => \&notify ],
    [ cancel => \&cancel ],
    [ default => \&by_default ],
    [ pool => \&pool ],
    [ parallel => \&parallel ],
) {
    my ($deed, $act) = @$_;
    next unless grep { $_ eq $deed } split ' ', $ENV{CLIENT_DEEDS};
    my %line = (deed => $deed);
    if (!ref $act) {
        $line{none} = $act;
    } elsif (my ($result, @ids) = eval { $act->() }) {
        @line{qw(result ids)} = ($result, [ map {"$_"} @ids ]);
    } else {
        @line{qw(error sqlstate)} = ("$@", $DBI::state);
    }
    print $json->encode(\%line), "\n";
}
