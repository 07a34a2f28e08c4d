-- Counts the contents of the store.
SELECT count(*) AS row_count, count(DISTINCT host) AS hosts, count(DISTINCT date) AS nights,
       count(DISTINCT release) AS releases, count(DISTINCT name) AS names,
       min(date)::VARCHAR AS first_night, max(date)::VARCHAR AS last_night
FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true);
