DROP TABLE IF EXISTS pgflurry_bench_ids, pgflurry_bench_tickets;
CREATE TABLE pgflurry_bench_ids (id BIGINT AUTO_INCREMENT PRIMARY KEY) ENGINE = InnoDB;
CREATE TABLE pgflurry_bench_tickets (
    id BIGINT AUTO_INCREMENT PRIMARY KEY, stub CHAR(1) NOT NULL UNIQUE) ENGINE = InnoDB;
