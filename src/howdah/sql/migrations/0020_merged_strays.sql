-- Oldest code: 15
-- What lies behind a mark (a stray, 0008) was taken before everything else of its priority, because it is older than the rest of
-- its own lane. It need not be older than the rest of other lanes: of two jobs of one priority, the younger was then claimed
-- first. Strays and the rows from the marks on are now merged in the order of their age.

CREATE FUNCTION howdah.take_merged(p_from howdah.mark[], p_strays howdah.stray[], p_most int,
    OUT ids uuid[], OUT lanes bigint[], OUT last howdah.mark[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_want int := p_most;
    v_peeked uuid[];
    v_passed uuid[] := '{}';
    v_ids uuid[];
    v_lanes bigint[];
    v_last howdah.mark[];
BEGIN
    -- As take_from_lanes (0009), and what lies behind the marks. What others hold is passed by: the next round leaves it out.
    ids := '{}';
    lanes := '{}';
    last := p_from;
    LOOP
        WITH peek AS MATERIALIZED (
            SELECT h.place, h.lane, h.created_at, h.id, bool_or(h.ahead) AS ahead FROM (
                SELECT a.place, a.lane, a.created_at, a.id, true AS ahead
                FROM unnest(p_from) AS m (lane, rank, at, id)
                CROSS JOIN LATERAL (
                    SELECT r.ctid AS place, r.lane, r.created_at, r.id FROM howdah.ready AS r
                    WHERE r.lane = m.lane AND r.rank = m.rank AND (r.created_at, r.id) >= (m.at, m.id)
                        AND r.id <> ALL (v_passed)
                    ORDER BY r.created_at, r.id LIMIT v_want
                ) AS a
                UNION ALL
                SELECT b.place, b.lane, b.created_at, b.id, false
                FROM unnest(p_strays) AS s (lane, rank, since, until)
                CROSS JOIN LATERAL (
                    SELECT r.ctid AS place, r.lane, r.created_at, r.id FROM howdah.ready AS r
                    WHERE r.lane = s.lane AND r.rank = s.rank AND r.created_at >= s.since AND r.created_at <= s.until
                        AND r.id <> ALL (v_passed)
                    ORDER BY r.created_at, r.id LIMIT v_want
                ) AS b
            ) AS h
            -- A stray may lie ahead of the mark as well, or within another.
            GROUP BY h.place, h.lane, h.created_at, h.id
            ORDER BY h.created_at, h.id LIMIT v_want
        ), line AS MATERIALIZED (
            SELECT r.ctid AS place, r.lane, r.id FROM howdah.ready AS r
            WHERE r.ctid = ANY (ARRAY(SELECT place FROM peek))
            FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM howdah.ready WHERE ctid = ANY (ARRAY(SELECT place FROM line))
        )
        SELECT ARRAY(SELECT p.id FROM peek AS p), array_agg(l.id), array_agg(l.lane), (
            SELECT array_agg((m.lane, m.rank, coalesce(f.created_at, m.at), coalesce(f.id, m.id))::howdah.mark)
            FROM unnest(last) AS m (lane, rank, at, id)
            LEFT JOIN (SELECT DISTINCT ON (p.lane) p.lane, p.created_at, p.id FROM peek AS p WHERE p.ahead
                       ORDER BY p.lane, p.created_at DESC, p.id DESC) AS f ON f.lane = m.lane)
        FROM line AS l INTO v_peeked, v_ids, v_lanes, v_last;
        last := v_last;
        ids := ids || v_ids;
        lanes := lanes || v_lanes;
        -- Either there was nothing more to peek at, or somebody else holds what was not taken: look behind it.
        EXIT WHEN cardinality(ids) >= p_most OR cardinality(v_peeked) < v_want;
        v_want := p_most - cardinality(ids);
        v_passed := v_passed || v_peeked;
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION howdah.take_marked(p_queues text[], p_job_types text[], p_most int, p_marks howdah.mark[],
    p_strays howdah.stray[]) RETURNS howdah.taken
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_all howdah.taken := ('{}', '{}', '{}', '{}', '{}', NULL, 0);
    v_began timestamptz := clock_timestamp();
    v_look record;
    v_best howdah.mark[];
    v_behind howdah.stray[];
    v_rank int;
    v_some record;
BEGIN
    v_look := howdah.look(p_queues, p_job_types, p_marks, p_strays);
    v_all.near := v_look.near;
    v_all.far := v_look.far;
    v_all.strays := v_look.strays;
    v_all.looked := extract(epoch FROM clock_timestamp() - v_began);
    IF v_all.strays IS NULL AND cardinality(v_look.heads) = 1 THEN
        -- One range has something: nothing to put in order.
        v_some := howdah.take_from_lane(v_look.heads[1], 'infinity', p_most);
        v_all.ids := coalesce(v_some.ids, '{}');
        v_all.lanes := array_fill(v_look.heads[1].lane, ARRAY[cardinality(v_all.ids)]);
        v_all.ranks := array_fill(v_look.heads[1].rank, ARRAY[cardinality(v_all.ids)]);
        v_all.near := v_all.near || v_some.last;
        RETURN v_all;
    ELSIF v_all.strays IS NULL AND v_look.heads IS NULL THEN
        RETURN v_all;
    END IF;
    -- Strict order: all of the best rank before the next. The ranges behind are left as they are.
    FOR v_rank, v_best, v_behind IN
        SELECT h.rank, array_agg((h.lane, h.rank, h.at, h.id)::howdah.mark) FILTER (WHERE h.since IS NULL),
            array_agg((h.lane, h.rank, h.since, h.until)::howdah.stray) FILTER (WHERE h.since IS NOT NULL)
        FROM (
            SELECT u.lane, u.rank, u.at, u.id, NULL::timestamptz AS since, NULL::timestamptz AS until
            FROM unnest(v_look.heads) AS u (lane, rank, at, id)
            UNION ALL
            SELECT s.lane, s.rank, NULL, NULL, s.since, s.until FROM unnest(v_all.strays) AS s (lane, rank, since, until)) AS h
        GROUP BY h.rank ORDER BY h.rank
    LOOP
        IF cardinality(v_all.ids) >= p_most THEN
            v_all.near := v_all.near || v_best;
        ELSIF v_behind IS NOT NULL THEN
            v_some := howdah.take_merged(v_best, v_behind, p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || v_some.lanes;
            v_all.near := v_all.near || v_some.last;
        ELSIF cardinality(v_best) = 1 THEN
            v_some := howdah.take_from_lane(v_best[1], 'infinity', p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || array_fill(v_best[1].lane, ARRAY[coalesce(cardinality(v_some.ids), 0)]);
            v_all.near := v_all.near || v_some.last;
        ELSE
            v_some := howdah.take_from_lanes(v_best, p_most - cardinality(v_all.ids));
            v_all.ids := v_all.ids || v_some.ids;
            v_all.lanes := v_all.lanes || v_some.lanes;
            v_all.near := v_all.near || v_some.last;
        END IF;
        v_all.ranks := v_all.ranks || array_fill(v_rank, ARRAY[cardinality(v_all.ids) - cardinality(v_all.ranks)]);
    END LOOP;
    RETURN v_all;
END $$;

DROP FUNCTION howdah.take_strays(howdah.stray[], int, int);
