-- Combines many small files of rows into few Parquet files, one for each service and month.
COPY (
    SELECT service, release, host, date, strftime(date, '%Y-%m') AS month,
           CASE WHEN path IS NULL THEN 'class' ELSE 'path' END AS what,
           coalesce(path, class) AS name, class, objects, shallow, retained
    FROM read_json('rows/*/*/*/*/rows.jsonl.gz', format = 'newline_delimited', hive_partitioning = true,
                   hive_types = {'service': VARCHAR, 'release': VARCHAR, 'host': VARCHAR, 'date': DATE},
                   columns = {path: 'VARCHAR', class: 'VARCHAR', objects: 'BIGINT', shallow: 'BIGINT',
                              retained: 'BIGINT'})
    ORDER BY what, name, host, date
) TO 'parquet' (FORMAT parquet, COMPRESSION zstd, PARTITION_BY (service, month), OVERWRITE_OR_IGNORE);
