import assert from 'node:assert/strict';
import type { Origin } from '../../../../../src/data/fault.ts';
import { JsonTsdDecoder } from '../../../../../plugins/database/formats/tsd/json-tsd.ts';
import type { PointPolicy } from '../../../../../plugins/database/formats/tsd/point-tables.ts';
import { columnsOf, rowsOf } from './rows-of.ts';

const RECORD: Origin = { kind: 'record', topic: 'points', partition: 3, offset: 11 };
const LINE: Origin = { kind: 'line', line: 1 };
const WEB01_EU = 'e663a4f7b265ea6997a94bdd821ae74caa8d3a029531919b22bd496ce3be2f1f';
const WEB01_SLOT = '0fda0387b57e1953ca66b5b40bdabdc46c00447a69a34af112a5c191ae92d268';
const NO_TAGS = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';

function decode(messages: readonly (string | Uint8Array)[], policy: PointPolicy = {}, origin = RECORD) {
  const decoder = new JsonTsdDecoder(policy);
  for (const message of messages) decoder.add(message, origin);
  return decoder.take();
}

/** A point with these members instead of the usual ones; `undefined` leaves one out. */
function point(members: Record<string, unknown> = {}): string {
  return JSON.stringify({ metric: 'sys.cpu', timestamp: 1_700_000_000, value: 0.5, tags: { host: 'a' }, ...members });
}

function problem(text: string, policy: PointPolicy = {}): string | undefined {
  const { rows, faults } = decode([text], policy);
  assert.equal(faults.length + rows.length, 1, text);
  return faults[0]?.message.replace(/^wrong tsd json insert statement( \(point 1 of the message\))?: /, '');
}

/** Kind and cell of the value written so. */
function value(text: string): unknown {
  const column = decode([point().replace('0.5', text)]).rows[0]?.batch.columns[1];
  return [column?.kind, column?.cells[0]];
}

describe('a point of json_tsd', () => {
  it('becomes a row of its metric: time, value, derived primary tag and tags', () => {
    const { rows, faults } = decode([
      '[{"metric":"sys.cpu","timestamp":1700000000,"value":0.5,"tags":{"host":"web01","region":"eu"}},' +
        '{"metric":"sys.cpu","timestamp":1700000000123,"value":7,"tags":{"host":"web01","slot":7}},' +
        '{"metric":"sys.mem","timestamp":1700000001,"value":true}]',
    ]);
    assert.deepEqual(faults, []);
    assert.deepEqual(
      rows.map(({ batch, metric }) => [batch.table, metric]),
      [
        [{ name: 'sys.cpu' }, 'sys.cpu'],
        [{ name: 'sys.mem' }, 'sys.mem'],
      ],
    );
    assert.deepEqual(columnsOf(rows[0]?.batch), [
      'timestamp time time',
      'value float data',
      'primary_tag text primary-tag',
      'host text tag',
      'region text tag',
      'slot text tag',
    ]);
    assert.deepEqual(rowsOf(rows[0]?.batch), [
      {
        timestamp: 1_700_000_000_000_000,
        value: 0.5,
        primary_tag: WEB01_EU,
        host: 'web01',
        region: 'eu',
        slot: null,
      },
      {
        timestamp: 1_700_000_000_123_000,
        value: 7,
        primary_tag: WEB01_SLOT,
        host: 'web01',
        region: null,
        slot: '7',
      },
    ]);
    assert.deepEqual(rowsOf(rows[1]?.batch), [{ timestamp: 1_700_000_001_000_000, value: true, primary_tag: NO_TAGS }]);
    assert.deepEqual(rows[0]?.batch.origins.at(1), RECORD);
  });

  it('may be a single object, have its members in any order and further ones, and span several lines', () => {
    const reordered = '{"tags":{"host":"a"},"other":{"x":[1]},"value":0.5,"timestamp":1700000000,"metric":"sys.cpu"}';
    const printed = JSON.stringify([JSON.parse(point())], null, 2);
    const { rows, faults } = decode([point(), ` ${reordered}\n`, printed, Buffer.from(`[${point()} , ${reordered}]`)]);
    assert.deepEqual(faults, []);
    assert.equal(rows.length, 1);
    const all = rowsOf(rows[0]?.batch);
    assert.equal(all.length, 5);
    for (const row of all) assert.deepEqual(row, all[0]);
  });

  it('has a value of any of the four types, with all digits', () => {
    const values: [string, unknown, unknown][] = [
      ['5', 'int', 5],
      ['9223372036854775807', 'int', 9223372036854775807n],
      ['1e3', 'int', 1000],
      ['-0.5', 'float', -0.5],
      ['0.1000000000000000055511151231257827', 'numeric', '0.1000000000000000055511151231257827'],
      ['true', 'bool', true],
      ['false', 'bool', false],
      ['"a\\"\\u00e6\\n"', 'text', 'a"æ\n'],
      ['"5"', 'text', '5'],
    ];
    assert.deepEqual(
      values.map(([text]) => value(text)),
      values.map(([, kind, cell]) => [kind, cell]),
    );
  });

  it('shares its column with points of other types: numbers as numbers, all else as text', () => {
    const column = (...texts: string[]) => {
      const { rows } = decode(texts.map((text) => point().replace('0.5', text)));
      assert.equal(rows.length, 1);
      return [rows[0]?.batch.columns[1]?.kind, rows[0]?.batch.columns[1]?.cells];
    };
    assert.deepEqual(column('1', '0.5', '2'), ['float', [1, 0.5, 2]]);
    assert.deepEqual(column('0.5', '9223372036854775807'), ['numeric', ['0.5', '9223372036854775807']]);
    assert.deepEqual(column('1', 'true', '"x"', '-0.0'), ['text', ['1', 'true', 'x', '-0']]);
    assert.deepEqual(column('"x"', '1', '9223372036854775807'), ['text', ['x', '1', '9223372036854775807']]);
  });

  it('has the time in the configured unit', () => {
    const time = (precision: PointPolicy['precision']) =>
      decode([point({ timestamp: 1_700_000_000_000 })], { precision }).rows[0]?.batch.columns[0]?.cells[0];
    assert.equal(time('ms'), 1_700_000_000_000_000);
    assert.equal(time('digits'), 1_700_000_000_000_000);
    assert.equal(time('s'), 1_700_000_000_000_000_000n);
  });

  it('has tags as text, and a primary tag that depends on how they were written', () => {
    const tags = (text: string) => {
      const [row] = rowsOf(decode([point().replace('{"host":"a"}', text)]).rows[0]?.batch);
      return { tags: Object.values(row ?? {}).slice(3), primaryTag: row?.primary_tag };
    };
    assert.equal(tags('{"host":"web01","slot":7}').primaryTag, WEB01_SLOT);
    assert.equal(tags('{ "slot" : 7, "host" : "web01" }').primaryTag, WEB01_SLOT);
    assert.equal(tags('{"slot":7.0,"host":"web01"}').primaryTag, WEB01_SLOT);
    assert.notEqual(tags('{"slot":"7","host":"web01"}').primaryTag, WEB01_SLOT);
    assert.equal(tags('{}').primaryTag, NO_TAGS);
    assert.equal(tags('null').primaryTag, NO_TAGS);
    assert.deepEqual(tags('{"a":1e21,"b":0.50,"c":12345678901234567890,"d":-0,"e":"}","f":""}').tags, [
      '1e+21',
      '0.5',
      '12345678901234567890',
      '0',
      '}',
      '',
    ]);
  });

  it('may give its primary tag itself, or get none', () => {
    const tagged = point({ tags: { host: 'a', primary_tag: 'p1' } });
    assert.deepEqual(columnsOf(decode([tagged]).rows[0]?.batch).slice(2), [
      'primary_tag text primary-tag',
      'host text tag',
    ]);
    assert.equal(rowsOf(decode([tagged]).rows[0]?.batch)[0]?.primary_tag, 'p1');
    const { rows } = decode([point(), tagged], { derivesPrimaryTag: false });
    assert.deepEqual(
      rowsOf(rows[0]?.batch).map(({ primary_tag: tag }) => tag),
      [null, 'p1'],
    );
    assert.deepEqual(columnsOf(decode([point()], { derivesPrimaryTag: false }).rows[0]?.batch).slice(2), [
      'host text tag',
    ]);
  });

  it('is refused with the reason without affecting its neighbours', () => {
    const cases: [string, string][] = [
      [point({ metric: undefined }), 'the point has no "metric"'],
      [point({ metric: '' }), '"metric" is empty'],
      [point({ metric: 5 }), '"metric" must be a string, not a number'],
      [point({ timestamp: undefined }), 'timestamp or value column is nil: the point has no "timestamp"'],
      [point({ timestamp: null }), 'timestamp or value column is nil: "timestamp" is null'],
      [point({ value: undefined }), 'timestamp or value column is nil: the point has no "value"'],
      [point({ value: null }), 'timestamp or value column is nil: "value" is null'],
      [point({ value: [] }), '"value" must be a number, a boolean or a string, not an array'],
      [point().replace('0.5', '1e400'), '"value" is out of range: "1e400"'],
      [
        point({ timestamp: '1700000000' }),
        '"timestamp" is a string: a time must be an integer of up to 10 digits (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds)',
      ],
      [
        point({ timestamp: 1 }).replace('"timestamp":1', '"timestamp":12345678901234567890'),
        '"timestamp" is "12345678901234567890": a time must be an integer of up to 10 digits (seconds), 13 (milliseconds), 16 (microseconds) or 19 (nanoseconds)',
      ],
      [point({ tags: [] }), 'tags type is not support: "tags" must be an object, not an array'],
      [point({ tags: { a: true } }), 'tags type is not support: the tag "a" is neither a string nor a number'],
      [point({ tags: { a: null } }), 'tags type is not support: the tag "a" is neither a string nor a number'],
      [point({ tags: { '': 'x' } }), 'tags type is not support: the name of a tag is empty'],
      [point().replace('{"host":"a"}', '{"a":"1","a":"1"}'), 'tags type is not support: the tag "a" occurs twice'],
      [point({ tags: { value: 'x' } }), 'tags type is not support: the tag "value" has the name of the value column'],
      [
        point({ tags: { timestamp: 'x' } }),
        'tags type is not support: the tag "timestamp" has the name of the time column',
      ],
      [
        point({ tags: Object.fromEntries(Array.from({ length: 129 }, (_, tag) => [`t${String(tag)}`, 'x'])) }),
        'tags type is not support: a point has at most 128 tags, not 129',
      ],
      [point().replace('"value":0.5', '"value":0.5,"value":1'), 'the key "value" occurs twice'],
      [point().replace('"tags"', '"tags":null,"tags"'), 'the key "tags" occurs twice'],
      ['[5]', 'a point must be an object, not a number'],
    ];
    assert.deepEqual(
      cases.map(([text]) => problem(text)),
      cases.map(([, reason]) => reason),
    );
    assert.equal(
      problem(point({ timestamp: 1.5 }), { precision: 's' }),
      '"timestamp" is "1.5": a time must be an integer in seconds',
    );

    const bad = cases.map(([text]) => text.replace(/^\[5\]$/, '5'));
    const { rows, faults } = decode([`[${bad.flatMap((text) => [point(), text]).join(',')},${point()}]`]);
    assert.equal(rows[0]?.batch.rowCount, bad.length + 1);
    assert.equal(faults.length, bad.length);
    assert.equal(
      faults[0]?.message,
      'wrong tsd json insert statement (point 2 of the message): the point has no "metric"',
    );
    assert.deepEqual([faults[3]?.origin, faults[3]?.table], [RECORD, 'sys.cpu']);
  });

  it('counts as a line where origins are lines', () => {
    const { rows, faults } = decode([`[${point()},{},${point()}]`], {}, { kind: 'line', line: 5 });
    assert.deepEqual(rows[0]?.batch.origins.at(1), { kind: 'line', line: 7 });
    assert.deepEqual(
      faults.map(({ message, origin }) => [message, origin]),
      [['wrong tsd json insert statement: the point has no "metric"', { kind: 'line', line: 6 }]],
    );
  });
});

describe('a json_tsd message', () => {
  it('that is not JSON, or not points, is one fault and leaves no row', () => {
    const good = point();
    const cases: [string | Uint8Array, RegExp][] = [
      ['', /the message is empty$/],
      [' \n', /the message is empty$/],
      ['5', /please check the format: expected an array of points, found "5"$/],
      [`[${good},${good}`, /the JSON ends too early, after \d+ characters$/],
      [`[${good},]`, /not JSON at character \d+, "\]"$/],
      [`[${good} ${good}]`, /not JSON at character \d+, /],
      [`[${good},{"metric":"a","timestamp":17000000000,"value":+1}]`, /not JSON at character \d+, "\+1\}\]"$/],
      [`[${good},{"metric":"a"`, /the JSON ends too early/],
      [`[${good}]\n[${good}]`, /after the points came "\[/],
      [`${good}\n${good}`, /after the points came "\{/],
      [Buffer.from([0x5b, 0xff, 0x5d]), /the message is not UTF-8$/],
    ];
    for (const [text, reason] of cases) {
      const decoder = new JsonTsdDecoder();
      decoder.add(`[${good}]`, RECORD);
      decoder.add(text, RECORD);
      assert.equal(decoder.rowCount, 1, String(text));
      const { rows, faults } = decoder.take();
      assert.equal(rows[0]?.batch.rowCount, 1, String(text));
      assert.equal(faults.length, 1);
      assert.match(faults[0]?.message ?? '', reason);
      assert.match(faults[0]?.message ?? '', /^wrong tsd json insert statement: /);
    }
  });

  it('without points produces nothing', () => {
    assert.deepEqual(decode(['[]', '[ ]']), { rows: [], faults: [] });
  });

  it('with very many invalid points is abandoned, and keeps the points before', () => {
    const { rows, faults } = decode([`[${point()},${Array.from({ length: 10_050 }, () => '{}').join(',')}]`]);
    assert.equal(rows[0]?.batch.rowCount, 1);
    assert.equal(faults.length, 10_001);
    assert.match(faults.at(-1)?.message ?? '', /stopped after 10000 invalid points/);
  });

  it('with different tags in each point does not fill the memory with nulls', () => {
    const points = Array.from({ length: 2_000 }, (_, index) => point({ tags: { [`t${String(index)}`]: 'x' } }));
    const { rows } = decode([`[${points.join(',')}]`]);
    const cells = rows.reduce((sum, { batch }) => sum + batch.columns.length * batch.rowCount, 0);
    assert.equal(
      rows.reduce((sum, { batch }) => sum + batch.rowCount, 0),
      2_000,
    );
    assert.ok(cells <= 2_000 * 132, String(cells));
  });

  it('can be taken in parts, and leaves no row when it turns out not to be JSON', () => {
    const points = Array.from({ length: 25 }, (_, index) => (index % 5 === 3 ? '{}' : point({ value: index })));
    const whole = decode([`[${points.join(',')}]`], {}, LINE);
    const decoder = new JsonTsdDecoder();
    const parts = [...decoder.addInParts(`[${points.join(',')}]`, LINE, 4)];
    const values = parts.flatMap(({ rows }) => rows.flatMap(({ batch }) => batch.columns[1]?.cells ?? []));
    assert.deepEqual(values, whole.rows[0]?.batch.columns[1]?.cells);
    assert.deepEqual(
      parts.flatMap(({ faults }) => faults),
      whole.faults,
    );
    assert.ok(parts.every(({ rows }) => rows.every(({ batch }) => batch.rowCount <= 4)));
    const broken = [...decoder.addInParts(`[${points.join(',')}`, LINE, 4)];
    assert.ok(broken.every(({ rows }) => rows.length === 0));
    assert.equal(broken.flatMap(({ faults }) => faults).length, 1);
    assert.equal([...decoder.addInParts(Buffer.from([0xff]), LINE, 4)].flatMap(({ faults }) => faults).length, 1);
  });
});

describe('the table required for points', () => {
  function shapes(policy: PointPolicy, ...messages: string[]) {
    const decoder = new JsonTsdDecoder(policy);
    return messages.map((message) => {
      decoder.add(message, RECORD);
      return decoder.take().rows[0]?.shape;
    });
  }
  const columns = (shape: ReturnType<typeof shapes>[number]) =>
    shape?.columns.map(({ name, role, type, length, nullable }) => [name, role, type, length, nullable]);

  it('has a time and otherwise VARCHAR, as documented', () => {
    const [shape] = shapes({}, point());
    assert.equal(shape?.exact, false);
    assert.deepEqual(columns(shape), [
      ['timestamp', 'time', 'TIMESTAMPTZ', undefined, false],
      ['value', 'data', 'VARCHAR', 254, true],
      ['primary_tag', 'primary-tag', 'VARCHAR', 254, false],
      ['host', 'tag', 'VARCHAR', 254, true],
    ]);
  });

  it('has the names and the value type set by the caller', () => {
    const names = { timeColumn: 'k_timestamp', valueColumn: 'v' };
    const [shape] = shapes({ ...names, valueType: 'FLOAT8' }, point({ tags: { value: 'x' } }));
    assert.deepEqual(columns(shape)?.slice(0, 2), [
      ['k_timestamp', 'time', 'TIMESTAMPTZ', undefined, false],
      ['v', 'data', 'FLOAT8', undefined, true],
    ]);
  });

  it('has the type of the first value with value type auto', () => {
    const typeOf = (...values: unknown[]) =>
      shapes({ valueType: 'auto' }, ...values.map((first) => point({ value: first }))).map(
        (shape) => shape?.columns[1]?.type,
      );
    assert.deepEqual(typeOf(1, 'x'), ['FLOAT8', 'FLOAT8']);
    assert.deepEqual(typeOf(0.5), ['FLOAT8']);
    assert.deepEqual(typeOf(true, 1), ['BOOL', 'BOOL']);
    assert.deepEqual(typeOf('x', true), ['VARCHAR', 'VARCHAR']);
  });

  it('is the same object until it grows, in tags or in length', () => {
    const long = 'ø'.repeat(200);
    const all = shapes(
      {},
      point(),
      point({ value: 7 }),
      point({ tags: { rack: 'r' } }),
      point(),
      point({ value: long }),
      point({ tags: { host: `${long}x` } }),
      point(),
    );
    assert.equal(all[1], all[0]);
    assert.notEqual(all[2], all[1]);
    assert.deepEqual(columns(all[2])?.at(-1), ['rack', 'tag', 'VARCHAR', 254, true]);
    assert.equal(all[3], all[2]);
    assert.equal(all[4]?.columns[1]?.length, 400);
    assert.equal(all[5]?.columns[3]?.length, 401);
    assert.equal(all[6], all[5]);
  });

  it('is not extended by a message that is not JSON', () => {
    const decoder = new JsonTsdDecoder();
    decoder.add(`[${point({ tags: { junk: 'x' }, value: 'x' })},`, RECORD);
    decoder.add(point({ value: true }), RECORD);
    const { rows } = decoder.take();
    assert.deepEqual(
      rows[0]?.shape?.columns.map(({ name }) => name),
      ['timestamp', 'value', 'primary_tag', 'host'],
    );
    assert.deepEqual([rows[0]?.batch.columns[1]?.kind, rows[0]?.batch.columns[1]?.cells], ['bool', [true]]);
  });
});
