import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { collapsedRows } from '../../src/observe/row-counts.ts';
import { uniqueName } from '../support/services.ts';
import { IngestFixture } from './http-ingest-fixture.ts';

const NS = '1700000000000000000';
const AT = '2023-11-14 22:13:20+00';

/** The current count of collapsed rows on a path. */
function collapsedOn(path: string): number {
  return collapsedRows().find(({ writer }) => 'path' in writer && writer.path === path)?.rows ?? 0;
}

describe('line protocol by HTTP', () => {
  let api: IngestFixture;
  before(async () => (api = await IngestFixture.start({ 'max.body.bytes': '2000000' })));
  after(() => api.close());

  describe('to /restapi/linedb', () => {
    it('creates the table, answers in the documented order, and stores the documented primary tag', async () => {
      const answer = await api.post('/restapi/linedb', `weather,region=eu,host=web01 t=21.5,n=3i,ok=t,s="a b" ${NS}`);
      assert.equal(answer.status, 200);
      assert.deepEqual(Object.keys(answer.body), ['code', 'desc', 'rows', 'time']);
      assert.deepEqual({ ...answer.body, time: 0 }, { code: 0, desc: null, rows: 1, time: 0 });
      assert.equal(typeof answer.body.time, 'number');
      assert.match(answer.headers.get('server-timing') ?? '', /^parse;dur=.*, db;dur=.*, total;dur=/);
      assert.deepEqual(await api.rows('SELECT k_timestamp, t, n, ok, s, primary_tag, region, host FROM weather'), [
        [
          AT,
          '21.5',
          '3',
          't',
          'a b',
          '09f578515a766b39a347b3980b28dbde71b6c2e22e115fdbae30bdb6808d0869',
          'eu',
          'web01',
        ],
      ]);
    });

    it('grows the table for new fields and tags, and stores the same row once', async () => {
      await api.post('/restapi/linedb', `grow,host=a v=1i ${NS}`);
      const body = `grow,host=a v=1i ${NS}\n\n# comment\r\ngrow,host=a,zone=z v=2i,w="${'x'.repeat(300)}" ${NS}\r\n`;
      assert.deepEqual((await api.post('/restapi/linedb', body)).body.rows, 2);
      assert.deepEqual(await api.rows('SELECT v, zone, length(w) FROM grow ORDER BY v'), [
        ['1', null, null],
        ['2', 'z', '300'],
      ]);
    });

    it('stores the good lines of a body and names the bad ones, 400', async () => {
      await api.post('/restapi/linedb', `mixed v=1i ${NS}`);
      const lines = ['mixed v=1i 1000', 'mixed v=', 'mixed v=2.5 2000', 'other v="x" 3000', 'mixed v=3i 4000'];
      const { status, body } = await api.post('/restapi/linedb', lines.join('\n'));
      assert.equal(status, 400);
      assert.equal(body.code, -1);
      assert.equal(body.rows, 3);
      assert.equal(body.time, null);
      assert.match(
        body.desc ?? '',
        /^line 2: line protocol: field "v": expected a value[^;]*; line 3: pq: column "v" of table "mixed" \(bigint\): 2\.5 is not an integer$/,
      );
      assert.deepEqual(await api.rows('SELECT count(*) FROM mixed'), [['3']]);
    });

    it('spells out a hundred bad lines and counts the rest', async () => {
      const { body } = await api.post('/restapi/linedb', `many v=1 1000\n${'nonsense\n'.repeat(250)}many v=2 2000`);
      assert.equal(body.rows, 2);
      assert.equal(body.desc?.split('; ').length, 101);
      assert.match(body.desc ?? '', /line 2: .*; line 101: .*; and 150 more bad lines$/);
    });

    it('takes times in the unit of precision=, in all spellings', async () => {
      const spellings = {
        n: NS,
        ns: NS,
        u: '1700000000000000',
        us: '1700000000000000',
        ms: '1700000000000',
        s: '1700000000',
        m: '28333333',
        h: '472222',
        auto: '1700000000000',
      };
      for (const [precision, time] of Object.entries(spellings)) {
        const answer = await api.post(`/restapi/linedb?precision=${precision}`, `units,p=${precision} v=1 ${time}`);
        assert.equal(answer.body.code, 0, answer.text);
      }
      const stored = await api.rows(`SELECT p, k_timestamp FROM units ORDER BY p`);
      assert.deepEqual(Object.fromEntries(stored), {
        ...Object.fromEntries(Object.keys(spellings).map((precision) => [precision, AT])),
        m: '2023-11-14 22:13:00+00',
        h: '2023-11-14 22:00:00+00',
      });
      const refused = await api.post('/restapi/linedb?precision=weeks', 'units v=1 1');
      assert.equal(refused.status, 400);
      assert.deepEqual({ ...refused.body, desc: '' }, { code: -1, desc: '', rows: null, time: null });
    });

    it('gives lines without a time the time of the server', async () => {
      await api.post('/restapi/linedb?precision=h', 'nows v=1');
      await api.post('/restapi/linedb', 'nows,p=ns v=1');
      const [[hour, recent] = []] = await api.rows(`SELECT bool_or(k_timestamp = date_trunc('hour', k_timestamp)),
        bool_and(now() - k_timestamp BETWEEN '-1 second' AND '1 hour') FROM nows`);
      assert.deepEqual([hour, recent], ['t', 't']);
    });

    it('reads text in timestamp columns in the zone of tz=, and integers in the column’s unit', async () => {
      await api.database.run(
        'CREATE TABLE zoned (k_timestamp timestamptz PRIMARY KEY, at timestamptz, ms timestamptz(3), plain timestamp)',
      );
      const line = `zoned at="2024-01-01 12:00:00.5",ms=1700000000000i,plain=1700000000000000i ${NS}`;
      const answer = await api.post('/restapi/linedb?tz=8', line);
      assert.equal(answer.body.code, 0, answer.text);
      assert.deepEqual(await api.rows('SELECT at, ms, plain FROM zoned'), [
        ['2024-01-01 04:00:00.5+00', AT, '2023-11-14 22:13:20'],
      ]);
      // M6: an offset is east, in the parameter as in the data.
      for (const zone of ['%2B08:00', 'UTC%2B8']) {
        await api.post('/restapi/linedb?tz=8', `zoned at="2024-01-01 00:00:00" ${NS}`);
        await api.post(`/restapi/linedb?tz=${zone}`, `zoned at="2024-01-01 12:00:00" ${NS}`);
        assert.deepEqual(await api.rows('SELECT at FROM zoned'), [['2024-01-01 04:00:00+00']], zone);
      }
      await api.post('/restapi/linedb?tz=8', `zoned at="2024-01-01 12:00:00+00" ${NS}`);
      assert.deepEqual(await api.rows('SELECT at FROM zoned'), [['2024-01-01 12:00:00+00']]);
    });

    describe('with times finer than a microsecond (L6)', () => {
      const lines = (table: string) =>
        Array.from({ length: 2_000 }, (_, index) => `${table},h=x v=${String(index)}i ${String(index + 1)}`).join('\n');

      it('stores one row a microsecond and counts the others, in the answer and in a metric', async () => {
        const before = collapsedOn('/write');
        const answer = await api.post('/write', lines('floored'));
        assert.equal(answer.status, 204);
        assert.equal(answer.headers.get('x-rows-collapsed'), '1997');
        assert.equal(collapsedOn('/write') - before, 1997);
        assert.deepEqual(await api.rows('SELECT count(*), max(v) FROM floored'), [['3', '1999']]);
      });

      it('gives each point its own microsecond with nanoseconds=spread, the same ones in a repeated request', async () => {
        for (const path of ['/write', '/api/v2/write', '/restapi/linedb']) {
          const answer = await api.post(`${path}?nanoseconds=spread`, lines('spread'));
          assert.equal(answer.headers.get('x-rows-collapsed'), null);
          assert.deepEqual(
            await api.rows(
              `SELECT count(*), min(v), max(v), max(k_timestamp) = 'epoch'::timestamptz + '1999 us'::interval FROM spread`,
            ),
            [['2000', '0', '1999', 't']],
          );
        }
      });

      it('keeps them in a column of the key with nanoseconds=column, where lines still merge', async () => {
        for (const path of ['/write', '/api/v3/write_lp?precision=ns&', '/restapi/linedb']) {
          const query = path.includes('?') ? 'nanoseconds=column' : '?nanoseconds=column';
          const body = `${lines('kept')}\nkept,h=x w=7i 1001`;
          const answer = await api.post(path + query, body);
          assert.equal(answer.headers.get('x-rows-collapsed'), '1');
          assert.deepEqual(await api.rows('SELECT count(*) FROM kept'), [['2000']]);
        }
        assert.deepEqual(
          await api.rows(
            `SELECT extract(microsecond FROM k_timestamp)::int, k_nanos, v, w FROM kept WHERE v IN (0, 1000)`,
          ),
          [
            ['0', '1', '0', null],
            ['1', '1', '1000', '7'],
          ],
        );
        await api.post('/restapi/linedb?precision=us', 'kept,h=x v=5i 1');
        await api.post('/restapi/linedb?precision=us', 'kept,h=x w=6i 1');
        assert.deepEqual(await api.rows(`SELECT v, w FROM kept WHERE k_nanos = 0 AND v = 5`), [['5', '6']]);
      });

      it('refuses nanoseconds=column for a table whose key has no such column, and unknown rules', async () => {
        await api.post('/restapi/linedb', 'plain,h=x v=1i 1');
        const answer = await api.post('/restapi/linedb?nanoseconds=column', 'plain,h=x v=1i 1');
        assert.equal(answer.status, 400);
        assert.match(
          answer.body.desc ?? '',
          /line 1: pq: table "plain" has no column "k_nanos" in its key.*ADD COLUMN/,
        );
        assert.match((await api.post('/write?nanoseconds=round', 'plain v=1i 1')).text, /use floor, spread, column/);
      });
    });

    it('undoes the documented escapes of strings; the routes of InfluxDB keep them as it does (M2)', async () => {
      const line = (table: string) => String.raw`${table} s="a\ b\=c\,d" ${NS}`;
      for (const path of ['/restapi/linedb', '/api/v2/write', '/api/v3/write_lp']) {
        const table = `escapes_${String(path.length)}`;
        await api.post(path, line(table));
        const kept = path === '/restapi/linedb' ? 'a b=c,d' : String.raw`a\ b\=c\,d`;
        assert.deepEqual(await api.rows(`SELECT s FROM ${table}`), [[kept]]);
      }
    });

    it('reads gzip, strings with line ends, and lines cut anywhere by the network', async () => {
      const lines = Array.from(
        { length: 20_000 },
        (_, id) => `big,h=${String(id % 7)} s="line ${String(id)}\nend",v=${String(id)}i ${String(id + 1)}000`,
      );
      const body = Buffer.from(`${lines.join('\n')}\n`);
      const answer = await api.post('/restapi/linedb', gzipSync(body), { 'Content-Encoding': 'gzip' });
      assert.equal(answer.body.rows, 20_000, answer.text.slice(0, 300));
      assert.deepEqual(
        await api.rows(`SELECT count(*), sum(v), count(*) FILTER (WHERE s = 'line ' || v || E'\\nend') FROM big`),
        [['20000', '199990000', '20000']],
      );
    });

    it('numbers bad lines in the whole body, whatever pieces it was read in', async () => {
      const lines = Array.from(
        { length: 15_000 },
        (_, id) => `deep,h=x s="${'y'.repeat(80)}",v=${String(id)}i ${String(id + 1)}000`,
      );
      lines[12_345] = 'deep,h=x nonsense';
      lines[14_999] = 'deep,h=x s="never closed';
      const { body } = await api.post('/restapi/linedb', lines.join('\n'));
      assert.equal(body.rows, 14_998);
      assert.match(body.desc ?? '', /^line 12346: .*; line 15000: .*no closing "$/);
    });

    it('refuses an empty body and one beyond the limit', async () => {
      const empty = await api.post('/restapi/linedb', '');
      assert.deepEqual([empty.status, empty.body.code, empty.body.rows], [400, -1, null]);
      const large = await api.post('/restapi/linedb', `t v="${'x'.repeat(2_000_000)}"`);
      assert.equal(large.status, 400);
      assert.match(large.body.desc ?? '', /larger than 2000000 bytes/);
      const packed = gzipSync(`late v=1 1\n${`late v="${'x'.repeat(1000)}" 2\n`.repeat(3000)}`);
      const late = await api.post('/restapi/linedb', packed, { 'Content-Encoding': 'gzip' });
      assert.equal(late.status, 400);
      assert.match(late.body.desc ?? '', /larger than 2000000 bytes/);
      assert.equal((await api.rows('SELECT count(*) FROM late'))[0]?.[0] !== '0', (late.body.rows ?? 0) > 0);
    });

    it('refuses names that the database would cut, and keeps names that look like SQL', async () => {
      const long = 'n'.repeat(64);
      const answer = await api.post(
        '/restapi/linedb',
        `${long} v=1 1\nok ${long}=1 1\nok v=1 2\n"ok";drop\\ table\\ ok v=1 1`,
      );
      assert.equal(answer.status, 400);
      assert.equal(answer.body.rows, 2);
      assert.match(answer.body.desc ?? '', /^line 1: pq: .*63; line 2: pq: .*63$/);
      assert.deepEqual(await api.rows('SELECT count(*) FROM "\"\"ok\"\";drop table ok"'), [['1']]);
    });

    it('stores all names and values of lines unchanged', async () => {
      const hostile = fc.constantFrom('"', "'", ';', '--', '$$', ')', 'drop table t', 'é', '😀', '%', '=', ',', ' ');
      const name = fc
        .array(fc.oneof(hostile, fc.string({ maxLength: 3, unit: 'grapheme' })), { minLength: 1, maxLength: 4 })
        .map((parts) => parts.join('').replace(/[\p{C}\\]/gu, ''))
        .filter((text) => /^[^\s#,=]/u.test(text) && text === text.trim() && Buffer.byteLength(text) <= 50);
      const value = fc
        .array(fc.oneof(hostile, fc.constantFrom('\\', '\n', '\t')), { maxLength: 6 })
        .map((parts) => parts.join(''));
      const key = (text: string) => text.replace(/[,= ]/g, '\\$&');
      const identifier = (text: string) => `"${text.replaceAll('"', '""')}"`;
      let number = 0;
      await fc.assert(
        fc.asyncProperty(name, name, name, value, async (table, tag, field, text) => {
          fc.pre(tag !== field);
          const measurement = `p${String(number++)}${table}`;
          const quoted = `"${text.replace(/["\\]/g, '\\$&')}"`;
          const body = `${measurement.replace(/[, ]/g, '\\$&')},${key(tag)}=${key(field)} ${key(field)}=${quoted},n=1i 1000`;
          const answer = await api.post('/restapi/linedb', body);
          assert.equal(answer.body.desc, null, body);
          const columns = [tag, field].map(identifier).join(', ');
          assert.deepEqual(await api.rows(`SELECT ${columns}, n FROM ${identifier(measurement)}`), [
            [field, text, '1'],
          ]);
        }),
        { numRuns: 40 },
      );
    });

    it('takes 20 clients that create and grow one table at the same time', async () => {
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, id) =>
          api.post(
            '/restapi/linedb',
            `crowd,h=${String(id)},t${String(id % 6)}=x f${String(id % 9)}=1i,s="${'z'.repeat(id * 10)}" ${String(id + 1)}000`,
          ),
        ),
      );
      assert.deepEqual(
        new Set(answers.map(({ text }) => (JSON.parse(text) as { desc: unknown }).desc)),
        new Set([null]),
      );
      assert.deepEqual(await api.rows('SELECT count(*), count(f0), count(t5) FROM crowd'), [['60', '7', '10']]);
    });

    it('lets a user who may only insert do that, and names missing privileges only for the lines that need them', async () => {
      await api.post('/restapi/linedb', `rights v=1i ${NS}`);
      const role = `inserter_${api.database.access.database.slice(-8)}`;
      await api.database.run(
        `CREATE ROLE ${role} LOGIN PASSWORD 'i'`,
        `GRANT INSERT, UPDATE, SELECT ON rights TO ${role}`,
      );
      const body = 'rights v=2i 1000\nrights v=3i,w=1i 2000\nmine v=1i 3000';
      const answer = await api.post('/restapi/linedb', body, { Authorization: `Basic ${btoa(`${role}:i`)}` });
      await api.database.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      assert.deepEqual([answer.status, answer.body.rows], [400, 1]);
      assert.match(
        answer.body.desc ?? '',
        /^line 2: pq: .*must be owner of table rights; line 3: pq: permission denied for schema public$/,
      );
      assert.deepEqual(await api.rows('SELECT sum(v) FROM rights'), [['3']]);
    });

    it('stores the new lines of a user who may INSERT alone, and names those that are stored already (M2)', async () => {
      await api.post('/restapi/linedb', `ledger v=1i 1000`);
      const role = `writer_${api.database.access.database.slice(-8)}`;
      await api.database.run(`CREATE ROLE ${role} LOGIN PASSWORD 'w'`, `GRANT INSERT ON ledger TO ${role}`);
      const headers = { Authorization: `Basic ${btoa(`${role}:w`)}` };
      const post = (path: string, body: string) => api.post(path, body, headers);
      const linedb = await post('/restapi/linedb', 'ledger v=2i 1000\nledger v=3i 2000\nledger v=4i 3000');
      const none = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
      const values = `('1970-01-01 00:00:00.000004+00', '${none}', 5), ('1970-01-01 00:00:00.000001+00', '${none}', 6)`;
      const insert = await post('/restapi/insert', `insert into ledger (k_timestamp, primary_tag, v) values ${values}`);
      await api.database.run(`REVOKE INSERT ON ledger FROM ${role}`);
      const nothing = await post(
        '/restapi/insert',
        `insert into ledger (k_timestamp, primary_tag) values (now(), 'x')`,
      );
      await api.database.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
      assert.deepEqual([linedb.status, linedb.body.rows], [400, 2]);
      assert.match(
        linedb.body.desc ?? '',
        /^line 1: pq: [^;]*a row with the same key is stored already, and to replace or change it the user needs the rights SELECT and UPDATE on table "public"\."ledger"; [^;]*$/,
      );
      assert.deepEqual(await api.rows('SELECT v FROM ledger ORDER BY v'), [['1'], ['3'], ['4']]);
      assert.deepEqual(
        [insert.status, insert.body.desc],
        [
          500,
          [
            'pq: permission denied for table ledger: a row with the same key is stored already, and to replace it the user needs INSERT, SELECT and UPDATE on it',
          ],
        ],
      );
      assert.deepEqual(
        [nothing.status, nothing.body.desc],
        [500, ['pq: permission denied for table ledger: INSERT needs the privilege INSERT on it']],
      );
    });

    it('creates no table in a database that is marked as relational', async () => {
      const name = `relational_${api.database.access.database.slice(-8)}`;
      await api.database.run(`CREATE DATABASE ${name}`, `COMMENT ON DATABASE ${name} IS 'sluice:relational'`);
      const answer = await api.post(`/restapi/linedb?db=${name}`, 'cpu v=1');
      assert.deepEqual([answer.status, answer.body.rows], [400, 0]);
      assert.match(answer.body.desc ?? '', /line 1: pq: .*the database is relational/);
      await api.database.run(`DROP DATABASE ${name} WITH (FORCE)`);
    });

    it('answers 400 for a database that does not exist and 401 for a wrong password', async () => {
      const name = uniqueName('nowhere');
      const missing = await api.post(`/restapi/linedb?db=${name}`, 't v=1');
      assert.equal(missing.status, 400);
      assert.match(missing.body.desc ?? '', new RegExp(`database "${name}" does not exist`));
      const wrong = await api.post('/restapi/linedb', 't v=1', { Authorization: `Basic ${btoa('postgres:no')}` });
      assert.deepEqual([wrong.status, wrong.body.code, wrong.body.rows, wrong.body.time], [401, -1, null, null]);
    });
  });

  describe('to /restapi/collector', () => {
    before(() =>
      api.database.run(
        'CREATE TABLE cpu (k_timestamp timestamptz(3) NOT NULL, usage float8, host varchar(30), primary_tag varchar(64) NOT NULL, PRIMARY KEY (k_timestamp, primary_tag))',
        `COMMENT ON COLUMN cpu.primary_tag IS 'sluice:primary-tag'`,
        `COMMENT ON COLUMN cpu.host IS 'sluice:tag'`,
      ),
    );

    it('stores what Telegraf sends, trailing newline included', async () => {
      const body = `cpu,host=a usage=1.5 ${NS}\ncpu,host=b,primary_tag=mine usage=2 ${NS}\n`;
      const answer = await api.post('/restapi/collector', body);
      assert.deepEqual([answer.status, answer.body.code, answer.body.desc, answer.body.rows], [200, 0, null, 2]);
      const derived = `primary_tag = encode(sha256('host=a'), 'hex')`;
      assert.deepEqual(await api.rows(`SELECT host, usage, primary_tag = 'mine', ${derived} FROM cpu ORDER BY host`), [
        ['a', '1.5', 'f', 't'],
        ['b', '2', 't', 'f'],
      ]);
    });

    it('takes no tz: an invalid one is ignored', async () => {
      assert.equal((await api.post('/restapi/collector?tz=99', `cpu,host=tz usage=1 ${NS}`)).status, 200);
      assert.equal((await api.post('/restapi/linedb?tz=99', `cpu,host=tz usage=1 ${NS}`)).status, 400);
    });

    it('creates nothing: missing tables, columns and rules are faults of their lines', async () => {
      await api.database.run('CREATE TABLE odd (at timestamptz PRIMARY KEY, v float8)');
      const body = `gone v=1 1\ncpu,host=a nope=1 1\nodd v=1 1\ncpu,host=a usage=3 1`;
      const answer = await api.post('/restapi/collector', body);
      assert.deepEqual([answer.status, answer.body.code, answer.body.rows], [400, -1, 1]);
      assert.match(answer.body.desc ?? '', /line 1: pq: relation "gone" does not exist/);
      assert.match(answer.body.desc ?? '', /line 2: pq: .*no column "nope"/);
      assert.match(answer.body.desc ?? '', /line 3: pq: table "odd" cannot take lines here: .*k_timestamp/);
      assert.deepEqual(await api.rows(`SELECT to_regclass('gone')`), [[null]]);
    });
  });
});
