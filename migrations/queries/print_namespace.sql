CALL pgflurry.create_namespace(NULL, %d, %d, %d, %d, '%s', '%d ms', %d, 0, NULL, new_disposable => %t);
