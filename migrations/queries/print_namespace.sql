CALL pgflurry.create_namespace(%s, %d, %d, %d, %d, '%s', '%d ms', %d, %d, NULL, new_disposable => %t, new_region => %s);
