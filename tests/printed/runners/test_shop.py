import psycopg2
import pytest


@pytest.mark.parametrize("n", range(8))
def test_an_item_has_an_id(database, n):
    connection = psycopg2.connect(database)
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO item (name) SELECT 'tea' FROM generate_series(1, 100) RETURNING id")
        ids = {row[0] for row in cursor.fetchall()}
    connection.commit()
    connection.close()
    assert len(ids) == 100
