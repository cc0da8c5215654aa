"""What "manage.py test" runs, in a database that it makes and migrates."""

from django.db import connection
from django.test import TestCase

from shop.models import Author

seen = []


class AuthorTest(TestCase):
    def test_a_new_author_has_an_id(self):
        author = Author.objects.create(name="Ada")
        self.assertTrue(connection.settings_dict["NAME"].startswith("test_"))
        seen.append(author.id)
