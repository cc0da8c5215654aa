import os
import subprocess

import pytest


@pytest.fixture(scope="session")
def database():
    """A clone of the template for this process; pytest-xdist names the processes."""
    name = "shop_" + os.environ.get("PYTEST_XDIST_WORKER", "single")
    subprocess.run(["dropdb", "--if-exists", name], check=True)
    subprocess.run(["createdb", "--template", "shop_template", name], check=True)
    yield "dbname=" + name
    subprocess.run(["dropdb", name], check=True)
