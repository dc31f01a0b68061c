import assert from 'node:assert/strict';
import { parseInitialTime } from '../../../plugins/db-source/initial-time.ts';
import { prefixHint, topicName, topicNames } from '../../../plugins/db-source/topic-names.ts';

const naming = {
  prefix: 'kw',
  delimiter: '-',
  perTable: true,
  ignoreDatabase: false,
  database: 'plant',
  format: 'json_db',
};

describe('topic names of a source', () => {
  it('join prefix, database, table and format, omitting empty parts', () => {
    assert.equal(topicName(naming, 'meters'), 'kw-plant-meters-json_db');
    assert.equal(topicName({ ...naming, prefix: '' }, 'meters'), 'plant-meters-json_db');
    assert.equal(topicName({ ...naming, ignoreDatabase: true }, 'meters'), 'kw-meters-json_db');
    assert.equal(topicName({ ...naming, perTable: false }, 'meters'), 'kw-plant-json_db');
    assert.equal(topicName({ ...naming, delimiter: '.' }, 'meters'), 'kw.plant.meters.json_db');
  });

  it('replace characters that a broker refuses', () => {
    assert.equal(topicName(naming, 'Zähler 1/2'), 'kw-plant-Z_hler_1_2-json_db');
  });

  it('need a hint where connectors with different prefixes may share them (M12)', () => {
    for (const prefix of ['kw', 'kw.north_1-a', '']) assert.equal(prefixHint({ ...naming, prefix }), undefined, prefix);
    for (const prefix of ['k w', 'kw/1', 'Zähler']) {
      assert.match(prefixHint({ ...naming, prefix }) ?? '', /topic\.prefix and topic\.delimiter .* become "_"/, prefix);
    }
    assert.ok(prefixHint({ ...naming, delimiter: '/' }) !== undefined);
  });

  it('that two tables would share are refused with both names; other tables keep theirs (M5)', () => {
    const { topics, refused } = topicNames(naming, ['a b', 'a_b', 'c', 'x'.repeat(240)]);
    assert.deepEqual([...topics], [['c', 'kw-plant-c-json_db']]);
    assert.deepEqual([...refused.keys()].sort(), ['a b', 'a_b', 'x'.repeat(240)]);
    for (const table of ['a b', 'a_b']) {
      assert.match(refused.get(table) ?? '', /tables a b, a_b would all be written to topic kw-plant-a_b-json_db/);
    }
    assert.match(refused.get('x'.repeat(240)) ?? '', /longer than the 249 characters/);
    assert.equal(topicNames({ ...naming, perTable: false }, ['a', 'b']).topics.get('b'), 'kw-plant-json_db');
  });
});

describe('timestamp.initial', () => {
  const now = Date.UTC(2026, 0, 31, 12);

  it('is UTC unless a zone follows', () => {
    const expected = Date.UTC(2026, 0, 2, 3, 4, 5) * 1000;
    assert.equal(parseInitialTime('2026-01-02 03:04:05', now), expected);
    assert.equal(parseInitialTime('2026-01-02 03:04:05Z', now), expected);
    assert.equal(parseInitialTime('2026-01-02 05:04:05+02:00', now), expected);
    assert.equal(parseInitialTime('2026-01-01 22:04:05 -0500', now), expected);
    assert.equal(parseInitialTime('2026-01-02 03:04:05.000007', now), expected + 7);
    assert.equal(parseInitialTime('2026-01-02 04:04:05 Europe/Oslo', now), expected);
    assert.equal(parseInitialTime('2025-07-02 05:04:05 Europe/Oslo', now), Date.UTC(2025, 6, 2, 3, 4, 5) * 1000);
    assert.equal(parseInitialTime('2026-01-02 08:49:05 Asia/Kathmandu', now), expected);
    assert.throws(() => parseInitialTime('2026-01-02 03:04:05 Oslo', now), /unknown time zone Oslo/);
  });

  it('has a meaning where clocks were changed: a skipped time as in PostgreSQL, an ambiguous one the earlier', () => {
    const utc = (text: string) => new Date(parseInitialTime(text, now) / 1000).toISOString().slice(0, 16);
    assert.equal(utc('2025-03-30 02:30:00 Europe/Oslo'), '2025-03-30T01:30');
    assert.equal(utc('2025-03-09 02:30:00 America/New_York'), '2025-03-09T07:30');
    // Ambiguous: the earlier time, so that no row is missed.
    assert.equal(utc('2025-10-26 02:30:00 Europe/Oslo'), '2025-10-26T00:30');
  });

  it('is refused if it is in the future, with the instant as it was read', () => {
    assert.throws(
      () => parseInitialTime('2026-01-31 12:00:01', now),
      /must be before now; it is read as 2026-01-31T12:00:01.000Z/,
    );
  });

  it('is refused if the time does not exist', () => {
    for (const text of ['2026-02-30 00:00:00', '2026-01-01 24:00:00', '2026-01-01', 'yesterday']) {
      assert.throws(() => parseInitialTime(text, now), /Invalid value .* for configuration timestamp.initial/);
    }
  });
});
