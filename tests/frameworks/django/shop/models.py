"""The tables of a shop."""

# snippet: model
from django.db import models


class SnowflakeField(models.BigAutoField):
    """A key that the database makes. Django leaves it out of the INSERT and reads it with RETURNING."""

    def db_type(self, connection):
        return "bigint DEFAULT next_snowflake()"

    def db_type_suffix(self, connection):  # Django 4.1 and later: no identity
        return None


class Author(models.Model):
    id = SnowflakeField(primary_key=True)
    name = models.TextField()

    class Meta:
        db_table = "author"
# snippet: end


class Book(models.Model):
    id = SnowflakeField(primary_key=True)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    title = models.TextField()

    class Meta:
        db_table = "book"
