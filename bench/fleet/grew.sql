-- Paths that grew steadily in the last ten nights, with bytes a night and hosts.
WITH nights AS (
    SELECT host, name, class, objects, retained, date_diff('day', DATE '2000-01-01', date) AS day
    FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)
    WHERE what = 'path' AND NOT starts_with(name, 'class ') AND NOT starts_with(name, 'loader ')
      AND date > (SELECT max(date) FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)) - 10
), growing AS (
    SELECT host, name, any_value(class) AS class, regr_slope(retained, day) AS bytes,
           regr_slope(objects, day) AS objects
    FROM nights
    GROUP BY host, name
    HAVING count(*) >= 8 AND regr_r2(retained, day) > 0.9 AND bytes > 65536
), deepest AS ( -- without a path if a longer path below it has nearly all of its growth
    SELECT * FROM growing g
    WHERE NOT EXISTS (SELECT 1 FROM growing d WHERE d.host = g.host AND d.bytes > 0.9 * g.bytes
                      AND starts_with(d.name, g.name) AND d.name[len(g.name) + 1] IN (' ', '['))
)
SELECT name, class, count(*) AS hosts, round(median(bytes))::BIGINT AS bytes_a_night,
       round(median(objects))::BIGINT AS objects_a_night, list(host ORDER BY host) AS which
FROM deepest g
WHERE NOT EXISTS (SELECT 1 FROM deepest a WHERE a.host = g.host AND starts_with(g.name, a.name)
                  AND g.name[len(a.name) + 1] IN (' ', '[')) -- without paths below a growing path
GROUP BY name, class
HAVING hosts > 1
ORDER BY hosts * bytes_a_night DESC
LIMIT 20;
