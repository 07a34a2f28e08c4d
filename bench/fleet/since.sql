-- First and last release in which a path grows from night to night, with the number of hosts.
WITH courses AS (
    SELECT name, release, host, any_value(class) AS class, min(date) AS first_night,
           regr_slope(retained, date_diff('day', DATE '2000-01-01', date)) AS bytes
    FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)
    WHERE what = 'path' AND NOT starts_with(name, 'class ') AND NOT starts_with(name, 'loader ')
    GROUP BY name, release, host
    HAVING count(*) >= 5 AND bytes > 65536
       AND regr_r2(retained, date_diff('day', DATE '2000-01-01', date)) > 0.9
), deepest AS ( -- without a path if a longer path below it has nearly all of its growth
    SELECT * FROM courses g
    WHERE NOT EXISTS (SELECT 1 FROM courses d WHERE d.host = g.host AND d.release = g.release
                      AND d.bytes > 0.9 * g.bytes AND starts_with(d.name, g.name) AND d.name[len(g.name) + 1] IN (' ', '['))
), releases AS (
    SELECT name, class, release, min(first_night) AS first_night, count(*) AS hosts, median(bytes) AS bytes
    FROM deepest g
    WHERE NOT EXISTS (SELECT 1 FROM deepest a WHERE a.host = g.host AND a.release = g.release
                      AND starts_with(g.name, a.name) AND g.name[len(a.name) + 1] IN (' ', '['))
    GROUP BY name, class, release
    HAVING hosts > 1
)
SELECT name, class, min_by(release, first_night) AS since, max_by(release, first_night) AS up_to,
       max(hosts) AS hosts, round(median(bytes))::BIGINT AS bytes_a_night
FROM releases
GROUP BY name, class
ORDER BY bytes_a_night DESC;
