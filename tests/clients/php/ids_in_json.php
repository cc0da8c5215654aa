<?php
// What PHP makes of an ID, in a column and in a document: see node/ids_in_json_report.js.
$db = new PDO('pgsql:host=' . getenv('PGHOST') . ';port=' . getenv('PGPORT') . ';dbname=' . getenv('PGDATABASE'),
    getenv('PGUSER'));
$row = $db->query('SELECT id FROM author')->fetch(PDO::FETCH_ASSOC);
$document = json_decode($db->query('SELECT to_jsonb(author) FROM author')->fetchColumn());
$seen = fn($value) => ['type' => get_debug_type($value), 'text' => (string) $value];
echo json_encode([
    'driver' => 'PHP PDO, json_decode', 'version' => PHP_VERSION, 'bigint' => $seen($row['id']),
    'row' => json_encode($row), 'document' => $seen($document->id),
]), "\n";
