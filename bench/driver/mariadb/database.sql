CREATE DATABASE pgflurry_bench;
