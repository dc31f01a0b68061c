import assert from 'node:assert/strict';
import type { Executor, Session } from '../../plugins/database/executor/api.ts';
import { DatabaseError } from '../../src/errors.ts';
import { splitStatements } from '../../plugins/database/sql/split.ts';
import { tablesNeeded, translate, translateRefused } from '../../plugins/database/sql/translate/translate.ts';
import type { KnownTable, Translation, TranslationContext } from '../../plugins/database/sql/translate/translation.ts';
import { quoteIdentifier } from '../../plugins/database/sql/quote.ts';
import { uniqueName } from '../support/services.ts';
import { DatabaseFixture } from './database-fixture.ts';

type Rows = readonly (readonly (string | null)[])[];

/** Thrown for statements that are rejected before they reach the database. */
class NotRun extends Error {}

/** Runs a text as the HTTP interface would: split, translate, run, and once more after a refusal. */
class OriginalsClient {
  readonly #executor: Executor;
  readonly #database: string;
  readonly notices: string[] = [];

  constructor(executor: Executor, database: string) {
    this.#executor = executor;
    this.#database = database;
  }

  /** The rows of the last statement. */
  async run(text: string): Promise<Rows> {
    let rows: Rows = [];
    for (const statement of splitStatements(text)) rows = await this.#statement(statement.text);
    return rows;
  }

  async #statement(sql: string): Promise<Rows> {
    let translation: Translation = translate(sql, await this.#context(sql));
    for (let round = 0; ; round++) {
      if (translation.kind !== 'run') throw new NotRun(JSON.stringify(translation));
      this.notices.push(...translation.notices);
      const run = translation;
      try {
        return await this.#executor.session((session) => runStatements(session, run));
      } catch (error) {
        const last = run.statements.at(-1) ?? '';
        if (!(error instanceof DatabaseError) || error.sqlstate === undefined || round === 3) throw error;
        if (error.sqlstate === run.doneOn) return [];
        const next = translateRefused(last, error.sqlstate, await this.#context(last, error.sqlstate));
        if (next === undefined || run.statements.length > 1) throw error;
        translation = next;
      }
    }
  }

  async #context(sql: string, sqlstate?: string): Promise<TranslationContext> {
    const known = new Map<string, KnownTable>();
    for (const name of tablesNeeded(sql, this.#database, sqlstate)) {
      const table = await this.#executor.catalogue.refresh(name);
      if (table !== undefined) known.set(JSON.stringify([name.schema, name.name]), table);
    }
    return {
      database: this.#database,
      table: ({ schema, name }) => known.get(JSON.stringify([schema, name])),
    };
  }
}

async function runStatements(
  session: Session,
  { statements, transaction }: Extract<Translation, { kind: 'run' }>,
): Promise<Rows> {
  const all = async (): Promise<Rows> => {
    let rows: Rows = [];
    for (const statement of statements) rows = (await session.query(statement)).rows;
    return rows;
  };
  return transaction ? session.transaction(all) : all();
}

describe('the original’s SQL on PostgreSQL', () => {
  let fixture: DatabaseFixture;
  let client: OriginalsClient;

  before(async () => {
    fixture = await DatabaseFixture.create();
    client = new OriginalsClient(fixture.executor, fixture.access.database);
  });
  after(() => fixture.close());

  function sqlstate(expected: string): (error: unknown) => boolean {
    return (error) => error instanceof DatabaseError && error.sqlstate === expected;
  }

  it('creates, fills and reads the tables of the manual', async () => {
    await client.run(
      'CREATE TABLE meters (ts timestamp not null, power int) tags(location varchar not null) primary tags (location); ' +
        'CREATE TABLE wind (ts timestamp not null, speed int) tags(location varchar not null) primary tags (location);',
    );
    await client.run(
      'insert into meters values("2023-07-30T06:44:40.32Z", "198352498", "beijing");' +
        'insert into meters values("2023-07-30T06:45:40.32Z", "198352495", "beijing");',
    );
    await client.run("INSERT INTO meters (ts, power, location) VALUES (1690699601000, 3, 'x;y'), (now(), 4, \"o'r\")");
    const rows = await client.run("SELECT ts AT TIME ZONE 'UTC', power, location FROM meters ORDER BY ts LIMIT 3");
    assert.deepEqual(rows, [
      ['2023-07-30 06:44:40.32', '198352498', 'beijing'],
      ['2023-07-30 06:45:40.32', '198352495', 'beijing'],
      ['2023-07-30 06:46:41', '3', 'x;y'],
    ]);
  });

  it('stores a row that is sent twice once, as its latest', async () => {
    const insert =
      'insert into meters values (1700000000000, 1, "here"), (1700000000000, 2, "here"), (1700000000001, 3, "here")';
    await client.run(`${insert};${insert}; insert into meters (ts, location) values (1700000000001, 'here')`);
    assert.deepEqual(await client.run(`SELECT power FROM meters WHERE location = 'here' ORDER BY ts`), [['2'], [null]]);
  });

  it('stores the last of several rows with one key, however the key is written', async () => {
    await client.run(
      'CREATE TABLE spelled (ts TIMESTAMP, v INT, note VARCHAR(3)) TAGS (t VARCHAR NOT NULL) PRIMARY TAGS (t)',
    );
    const insert = `INSERT INTO spelled VALUES (1000, 1, "a", "x"), ("1970-01-01 00:00:01Z", 2, NULL, 'x'),
      ('1970-01-01 01:00:01.0004+01', 3, 'c', lower('X')), (2000, 4, 'd', 'x')`;
    const rows = [
      ['3', 'c', '1'],
      ['4', 'd', '2'],
    ];
    const stored = 'SELECT v, note, extract(epoch FROM ts)::int FROM spelled ORDER BY ts';
    await client.run(insert);
    assert.deepEqual(await client.run(stored), rows);
    await client.run(insert);
    assert.deepEqual(await client.run(stored), rows);
    await assert.rejects(client.run(insert.replace("'c'", "'long'")), sqlstate('22001'));
  });

  it('gives texts of every type back as they were written, without blanks after them', async () => {
    await client.run(
      `CREATE TABLE texts (ts TIMESTAMP, a CHAR(5), b NCHAR(5), c NVARCHAR(5), d CHAR) TAGS (t NCHAR(9) NOT NULL) PRIMARY TAGS (t);
      INSERT INTO texts VALUES (1000, 'ab', 'é ', 'x', 'y', 'tag')`,
    );
    assert.deepEqual(await client.run('SELECT a, b, c, d, t FROM texts WHERE t = "tag"'), [
      ['ab', 'é ', 'x', 'y', 'tag'],
    ]);
    await assert.rejects(client.run("INSERT INTO texts (ts, a, t) VALUES (2, 'longer', 't')"), sqlstate('22001'));
  });

  it('shows a table as a statement that makes the same table', async () => {
    await client.run(
      `CREATE TABLE "Device info" (k_timestamp TIMESTAMPTZ(6) NOT NULL COMMENT 'when', "Temp ""x" FLOAT DEFAULT 1.5 NOT NULL,
        installed TIMESTAMP, n NVARCHAR(9) DEFAULT 'it''s' COMMENT 'na''me', raw VARBYTES(8), ok BOOL)
        TAGS (plant INT2 NOT NULL COMMENT 'plant code', "Workshop" VARCHAR(128) NOT NULL, kind CHAR(7) COMMENT 'a\\b')
        PRIMARY TAGS (plant, "Workshop") COMMENT = 'all devices' RETENTIONS 10d`,
    );
    assert.match(client.notices.join(), /RETENTIONS 10d of the table is ignored/);
    const shown = await client.run('SHOW CREATE TABLE "Device info"');
    assert.deepEqual(shown, [
      [
        'Device info',
        `CREATE TABLE "Device info" (
    k_timestamp TIMESTAMPTZ(6) NOT NULL COMMENT 'when',
    "Temp ""x" FLOAT8 NOT NULL DEFAULT 1.5,
    installed TIMESTAMP(3) NULL,
    n VARCHAR(9) NULL DEFAULT 'it''s'::character varying COMMENT 'na''me',
    raw BYTES NULL,
    ok BOOL NULL
) TAGS (
    plant INT2 NOT NULL COMMENT 'plant code',
    "Workshop" VARCHAR(128) NOT NULL,
    kind VARCHAR(7) NULL COMMENT E'a\\\\b' ) PRIMARY TAGS(plant, "Workshop") COMMENT = 'all devices'`,
      ],
    ]);
    await client.run(`DROP TABLE "Device info"; ${shown[0]?.[1] ?? ''}`);
    assert.deepEqual(await client.run('SHOW CREATE "Device info"'), shown);
    const table = await fixture.executor.catalogue.refresh({ name: 'Device info' });
    assert.deepEqual(table?.key, ['k_timestamp', 'plant', 'Workshop']);
    assert.deepEqual(
      table.columns.map(({ role }) => role),
      ['time', 'data', 'data', 'data', 'data', 'data', 'primary-tag', 'primary-tag', 'tag'],
    );
  });

  it('shows a relational table with its constraints, and a view with its query', async () => {
    await client.run(
      `CREATE TABLE plants (id INT PRIMARY KEY, name STRING(20) NOT NULL UNIQUE, size DECIMAL(10,2) CHECK (size > 0),
        twice int GENERATED ALWAYS AS (id * 2) STORED, plant_of int REFERENCES plants, b BYTES, s STRING);
      CREATE VIEW big AS SELECT id FROM plants WHERE size > 5`,
    );
    const [[, statement = ''] = []] = await client.run('SHOW CREATE TABLE plants');
    assert.equal(
      statement,
      `CREATE TABLE plants (
    id INT4 NOT NULL,
    name VARCHAR(20) NOT NULL,
    size DECIMAL(10,2) NULL,
    twice INT4 NULL GENERATED ALWAYS AS ((id * 2)) STORED,
    plant_of INT4 NULL,
    b BYTES NULL,
    s TEXT NULL,
    CONSTRAINT plants_pkey PRIMARY KEY (id),
    CONSTRAINT plants_name_key UNIQUE (name),
    CONSTRAINT plants_plant_of_fkey FOREIGN KEY (plant_of) REFERENCES plants(id),
    CONSTRAINT plants_size_check CHECK ((size > (0)::numeric))
)`,
    );
    assert.match(
      (await client.run('SHOW CREATE VIEW big'))[0]?.[1] ?? '',
      /^CREATE VIEW big AS\n SELECT id\n {3}FROM plants/,
    );
    await client.run(`DROP VIEW big; DROP TABLE plants; ${statement ?? ''}`);
    assert.equal((await client.run('SHOW CREATE plants'))[0]?.[1], statement);
    await assert.rejects(client.run('SHOW CREATE TABLE nowhere'), sqlstate('42P01'));
  });

  it('adds, renames, widens and drops tags, and keeps values in the order of the definition', async () => {
    await client.run(
      `CREATE TABLE ts_table (ts TIMESTAMP, c1 INT) TAGS (site INT2 NOT NULL, color VARCHAR(3)) PRIMARY TAGS (site);
      ALTER TABLE ts_table ADD COLUMN c3 INT NULL;
      ALTER TABLE ts_table ADD COLUMN c4 NVARCHAR(50) DEFAULT 'aaa';
      ALTER TABLE ts_table ADD TAG floor INT;
      ALTER TABLE ts_table RENAME TAG site TO location;
      ALTER TABLE ts_table ALTER color TYPE VARCHAR(50);
      ALTER TABLE ts_table ALTER TAG floor TYPE INT8;
      INSERT INTO ts_table VALUES (1, 2, 3, 'four', 5, 'a longer color', 7)`,
    );
    assert.deepEqual(await client.run('SELECT c1, c3, c4, location, color, floor FROM ts_table'), [
      ['2', '3', 'four', '5', 'a longer color', '7'],
    ]);
    assert.deepEqual(await client.run('SHOW TAGS FROM ts_table'), [
      ['location', 'INT2', 't', 'f'],
      ['color', 'VARCHAR(50)', 'f', 't'],
      ['floor', 'INT8', 'f', 't'],
    ]);
    assert.deepEqual(await client.run('SHOW TAG VALUES FROM ts_table'), [['5', 'a longer color', '7']]);
    await client.run('ALTER TABLE ts_table DROP TAG color; ALTER TABLE ts_table ADD TAG IF NOT EXISTS floor INT');
    assert.deepEqual(
      (await client.run('SHOW COLUMNS FROM ts_table WITH COMMENT')).map((row) => row.join('|')),
      [
        'ts|TIMESTAMPTZ(3)|f|||{primary}|f|f|',
        'c1|INT4|t|||{}|f|f|',
        'c3|INT4|t|||{}|f|f|',
        "c4|VARCHAR(50)|t|'aaa'::character varying||{}|f|f|",
        'location|INT2|f|||{primary}|f|t|',
        'floor|INT8|t|||{}|f|t|',
      ],
    );
    await assert.rejects(client.run('ALTER TABLE ts_table DROP location'), NotRun);
  });

  it('compares times with integers and text with double quotes, where no column is meant', async () => {
    await client.run(
      `CREATE TABLE readings (ts TIMESTAMP, v FLOAT, "note" VARCHAR) TAGS (host VARCHAR NOT NULL) PRIMARY TAGS (host);
      INSERT INTO readings VALUES (1000, 1, 'host', 'a'), (2000, 2, 'x', 'a'), (3000, 3, 'x', 'b'), (4000, 4, 'y', 'y')`,
    );
    assert.deepEqual(await client.run('SELECT v FROM readings WHERE ts > 1000 AND host = "a"'), [['2']]);
    assert.deepEqual(await client.run('SELECT v FROM readings r WHERE 3000 <= r.ts AND r.ts IN (3000, 5000)'), [['3']]);
    assert.deepEqual(await client.run('SELECT v FROM readings WHERE "note" = "host" AND "host" = "y"'), [['4']]);
    await client.run('UPDATE readings SET "note" = "changed", ts = 5000 WHERE ts BETWEEN 3500 AND 4500');
    await client.run('DELETE FROM readings WHERE ts <= 1000 AND "host" <> "b" OR host = "b"');
    assert.deepEqual(await client.run('SELECT v, note, extract(epoch FROM ts)::int FROM readings ORDER BY ts'), [
      ['2', 'x', '2'],
      ['4', 'changed', '5'],
    ]);
    await assert.rejects(client.run('DELETE FROM readings WHERE hots = "a"'), sqlstate('42703'));
    assert.deepEqual(await client.run('SELECT count(*) FROM readings'), [['2']]);
  });

  it('compares times with integers in queries within queries', async () => {
    await client.run(
      `CREATE TABLE deep (ts TIMESTAMP, v INT) TAGS (host VARCHAR NOT NULL) PRIMARY TAGS (host);
      INSERT INTO deep VALUES (1000, 1, 'a'), (2000, 2, 'a'), (3000, 3, 'b')`,
    );
    for (const [sql, expected] of [
      ['SELECT v FROM (SELECT * FROM deep WHERE ts > 1000) d WHERE d.ts < 3000', '2'],
      ['WITH late AS (SELECT ts AS t, v FROM deep) SELECT v FROM late WHERE t >= 3000', '3'],
      ['SELECT v FROM deep WHERE ts < 2000 UNION SELECT v FROM deep WHERE ts < 1500', '1'],
      ['SELECT a.v FROM deep a JOIN deep b ON a.host = b.host AND b.ts = 3000 WHERE a.ts > 2000', '3'],
      ['SELECT v FROM deep d WHERE EXISTS (SELECT 1 FROM deep WHERE ts = 1000 AND host = d.host) AND ts > 1000', '2'],
      ['SELECT v FROM deep WHERE v IN (SELECT v FROM deep WHERE ts = 3000 AND host = "b")', '3'],
      ['SELECT count(*) FROM deep GROUP BY host HAVING max(ts) > 2000', '1'],
    ] as const) {
      assert.deepEqual(await client.run(sql), [[expected]], sql);
    }
    await client.run('UPDATE deep SET v = 9 WHERE ts = (SELECT max(ts) FROM deep WHERE ts < 3000)');
    await client.run('DELETE FROM deep WHERE host IN (SELECT host FROM deep WHERE ts = 3000)');
    assert.deepEqual(await client.run('SELECT v FROM deep ORDER BY ts'), [['1'], ['9']]);
  });

  it('replaces rows with UPSERT', async () => {
    await client.run(
      `CREATE TABLE accounts (id INT8 PRIMARY KEY, balance DECIMAL, note STRING);
      UPSERT INTO accounts VALUES (1, 10000.5, "first"), (2, 20000.75, "second");
      UPSERT INTO accounts (id, balance) VALUES (2, 7500.83);
      UPSERT INTO accounts SELECT 3, 1, 'third'`,
    );
    assert.deepEqual(await client.run('UPSERT INTO accounts (id, note) VALUES (3, "x") RETURNING balance'), [['1']]);
    assert.deepEqual(await client.run('SELECT * FROM accounts ORDER BY id'), [
      ['1', '10000.5', 'first'],
      ['2', '7500.83', 'second'],
      ['3', '1', 'x'],
    ]);
  });

  it('knows the current database before a table, and casts to the original’s types', async () => {
    const database = quoteIdentifier(fixture.access.database);
    await client.run(`CREATE TABLE ${database}.here (ts TIMESTAMP, v INT) TAGS (t INT) PRIMARY TAGS (t)`);
    await client.run(
      `INSERT INTO ${database}.here VALUES (1000, 2, 3); CREATE TABLE ${database}.plain (a STRING, b BYTES)`,
    );
    assert.deepEqual(
      await client.run(`SELECT CAST(${database}.here.v AS STRING), 5::DOUBLE FROM ${database}.here WHERE ts = 1000`),
      [['2', '5']],
    );
    assert.deepEqual(await client.run(`SHOW TAGS FROM ${database}.here`), [['t', 'INT4', 't', 'f']]);
  });

  it('lists tables, indexes, constraints, schemas and users', async () => {
    await client.run(
      `CREATE TABLE listed (ts TIMESTAMP) TAGS (t INT) PRIMARY TAGS (t) COMMENT 'a table'; CREATE INDEX listed_t ON listed (t DESC);
      CREATE VIEW listed_view AS SELECT 1 AS one`,
    );
    const tables = (await client.run('SHOW TABLES WITH COMMENT')).filter(([name]) => name?.startsWith('listed'));
    assert.deepEqual(tables, [
      ['listed', 'TIME SERIES TABLE', 'a table'],
      ['listed_view', 'VIEW', null],
    ]);
    assert.deepEqual(await client.run('SHOW TABLES FROM public'), await client.run('SHOW TABLES'));
    assert.deepEqual(await client.run('SHOW INDEX FROM listed'), [
      ['listed', 'listed_pkey', 'f', '1', 'ts', 'ASC', 'f', 'f'],
      ['listed', 'listed_pkey', 'f', '2', 't', 'ASC', 'f', 'f'],
      ['listed', 'listed_t', 't', '1', 't', 'DESC', 'f', 'f'],
    ]);
    const constraints = await client.run('SHOW CONSTRAINTS FROM listed');
    assert.deepEqual(
      constraints.find(([, name]) => name === 'listed_pkey'),
      [...['listed', 'listed_pkey', 'PRIMARY KEY', 'PRIMARY KEY (ts, t)', 't']],
    );
    assert.ok((await client.run('SHOW SCHEMAS')).some(([name]) => name === 'public'));
    const me = (await client.run('SHOW USERS')).find(([name]) => name === fixture.access.user);
    assert.match(me?.[1] ?? '', /SUPERUSER/);
    assert.deepEqual(await client.run('SHOW DATABASE'), [[fixture.access.database]]);
  });

  it('creates, marks, shows and drops databases', async () => {
    const name = quoteIdentifier(uniqueName('Series db'));
    await client.run(
      `CREATE TS DATABASE ${name} RETENTIONS 50d COMMENT = 'it''s'; CREATE TS DATABASE IF NOT EXISTS ${name}`,
    );
    try {
      const plainName = name.slice(1, -1);
      const find = async (sql: string): Promise<Rows> =>
        (await client.run(sql)).filter(([shown]) => shown === plainName);
      assert.deepEqual(await find('SHOW DATABASES'), [[plainName, 'TIME SERIES']]);
      assert.deepEqual(await find('SHOW DATABASES WITH COMMENT'), [[plainName, 'TIME SERIES', "it's"]]);
      assert.deepEqual(await client.run(`SHOW CREATE DATABASE ${name}`), [
        [plainName, `CREATE TS DATABASE ${name} COMMENT = 'it''s'`],
      ]);
      await assert.rejects(client.run(`CREATE TS DATABASE ${name}`), sqlstate('42P04'));
    } finally {
      await client.run(`DROP DATABASE ${name} CASCADE`);
    }
    await assert.rejects(client.run(`SHOW CREATE DATABASE ${name}`), sqlstate('3D000'));
    // M8: what the database is, marked or not.
    await client.run(`CREATE DATABASE ${name}`);
    const engines = new Map((await client.run('SHOW DATABASES')).map(([shown, engine]) => [shown, engine]));
    assert.equal(engines.get(name.slice(1, -1)), 'RELATIONAL');
    assert.equal(engines.get(fixture.access.database), 'UNMARKED');
    await client.run(`DROP DATABASE IF EXISTS ${name} CASCADE`);
  });

  it('with IF NOT EXISTS leaves a table as it is', async () => {
    await client.run('CREATE TABLE kept (ts TIMESTAMP) TAGS (t INT) PRIMARY TAGS (t)');
    await client.run('CREATE TABLE IF NOT EXISTS kept (ts TIMESTAMP, v INT) TAGS (t INT, u INT) PRIMARY TAGS (t)');
    assert.deepEqual(await client.run('SHOW TAGS FROM kept'), [['t', 'INT4', 't', 'f']]);
    await assert.rejects(
      client.run('CREATE TABLE kept (ts TIMESTAMP) TAGS (t INT) PRIMARY TAGS (t)'),
      sqlstate('42P07'),
    );
  });

  it('keeps hostile names and values out of the statements', async () => {
    const names = [`a"; DROP TABLE x; --`, `'; --`, '$$', 'a.b', '😀', 'select', '\\', 'x\ny'];
    for (const [index, name] of names.entries()) {
      const table = quoteIdentifier(`${String(index)} ${name}`);
      const tag = quoteIdentifier(name);
      const value = quoteIdentifier(`${name}'`);
      await client.run(`CREATE TABLE ${table} (ts TIMESTAMP, v VARCHAR COMMENT '${name.replaceAll("'", "''")}')
        TAGS (${tag} VARCHAR) PRIMARY TAGS (${tag})`);
      await client.run(
        `INSERT INTO ${table} VALUES (1000, ${value}, ${value}); INSERT INTO ${table} VALUES (1000, "2", ${value})`,
      );
      assert.deepEqual(await client.run(`SELECT v, ${tag} FROM ${table} WHERE ${tag} = ${value}`), [['2', `${name}'`]]);
      const shown = await client.run(`SHOW CREATE TABLE ${table}`);
      await client.run(`DROP TABLE ${table}; ${shown[0]?.[1] ?? ''}`);
      assert.deepEqual(await client.run(`SHOW CREATE TABLE ${table}`), shown);
    }
  });
});
