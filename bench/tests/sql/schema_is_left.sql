SELECT to_regnamespace('pgflurry_bench') IS NOT NULL;
