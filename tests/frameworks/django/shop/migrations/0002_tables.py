"""author and book, as "manage.py makemigrations" wrote them"""

import django.db.models.deletion
from django.db import migrations, models

import shop.models


class Migration(migrations.Migration):
    dependencies = [("shop", "0001_pgflurry")]
    operations = [
        migrations.CreateModel(
            name="Author",
            fields=[
                ("id", shop.models.SnowflakeField(primary_key=True, serialize=False)),
                ("name", models.TextField()),
            ],
            options={"db_table": "author"},
        ),
        migrations.CreateModel(
            name="Book",
            fields=[
                ("id", shop.models.SnowflakeField(primary_key=True, serialize=False)),
                ("title", models.TextField()),
                ("author", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to="shop.author")),
            ],
            options={"db_table": "book"},
        ),
    ]
