# What Perl makes of an ID, in a column and in a document: see node/ids_in_json_report.js.
use strict;
use warnings;
use B;
use DBI;
use JSON::PP;

sub seen {
    my ($value) = @_;
    my $is = B::svref_2object(\$value)->FLAGS;
    return { type => $is & B::SVf_POK ? 'string' : $is & B::SVf_IOK ? 'integer' : 'double', text => "$value" };
}

my $db = DBI->connect('dbi:Pg:', '', '', { RaiseError => 1 });
my $json = JSON::PP->new->canonical;
my $row = $db->selectrow_hashref('SELECT id FROM author');
my ($text) = $db->selectrow_array('SELECT to_jsonb(author) FROM author');
my $bigint = seen($row->{id});
my $document = $json->decode($text);
print $json->encode({ driver => 'DBD::Pg, JSON::PP', version => "$DBD::Pg::VERSION", bigint => $bigint,
    row => $json->encode($row), document => seen($document->{id}) }), "\n";
