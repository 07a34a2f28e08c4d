-- Hosts that retained far more last night than half of the fleet, with the path.
WITH night AS (
    SELECT host, name, class, retained
    FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true)
    WHERE what = 'path' AND NOT starts_with(name, 'class ') AND NOT starts_with(name, 'loader ')
      AND date = (SELECT max(date) FROM read_parquet('parquet/*/*/*.parquet', hive_partitioning = true))
), usual AS (
    SELECT name, median(retained) AS usual, mad(retained) AS spread
    FROM night
    GROUP BY name
), odd AS (
    SELECT host, name, class, retained, usual::BIGINT AS usual, retained - usual AS more
    FROM night JOIN usual USING (name)
    WHERE retained - usual > greatest(20 * spread, 1048576)
), deepest AS ( -- without a path if a longer path below it has nearly all of the difference
    SELECT * FROM odd o
    WHERE NOT EXISTS (SELECT 1 FROM odd d WHERE d.host = o.host AND d.more > 0.9 * o.more
                      AND starts_with(d.name, o.name) AND d.name[len(o.name) + 1] IN (' ', '['))
)
SELECT host, name, class, retained, usual
FROM deepest o
WHERE NOT EXISTS (SELECT 1 FROM deepest a WHERE a.host = o.host AND starts_with(o.name, a.name)
                  AND o.name[len(a.name) + 1] IN (' ', '[')) -- without paths below another one
ORDER BY retained - usual DESC;
