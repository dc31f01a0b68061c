import assert from 'node:assert/strict';
import fc from 'fast-check';
import { tokenize } from '../../../../../../plugins/database/sql/lexer.ts';
import { quoteIdentifier, quoteLiteral } from '../../../../../../plugins/database/sql/quote.ts';
import { stringValue } from '../../../../../../plugins/database/sql/token-text.ts';
import { translate } from '../../../../../../plugins/database/sql/translate/translate.ts';
import { assertUnchanged, CONTEXT, refusal, statements } from './translation-context.ts';

function databaseOf(sql: string): string | undefined {
  const translation = translate(sql, CONTEXT);
  assert.ok(translation.kind === 'run');
  return translation.database;
}

describe('SHOW', () => {
  it('is a query of the catalogue for what only the original shows', () => {
    for (const sql of [
      ...[
        'SHOW DATABASES',
        'show databases with comment',
        'SHOW DATABASE',
        'SHOW TABLES',
        'SHOW SCHEMAS',
        'SHOW USERS',
      ],
      ...[
        'SHOW ROLES',
        'SHOW COLUMNS FROM meters',
        'SHOW TAGS FROM meters',
        'SHOW INDEX FROM meters',
        'SHOW TAG VALUES FROM meters',
      ],
      ...['SHOW CONSTRAINTS FROM meters', 'SHOW CREATE TABLE meters', 'SHOW CREATE meters', 'SHOW CREATE DATABASE x'],
    ]) {
      const [query = '', ...more] = statements(sql);
      assert.match(query, /^(?:SELECT|WITH) /, sql);
      assert.deepEqual(more, []);
    }
  });

  it('stays PostgreSQL’s for everything else', () => {
    assertUnchanged(
      'SHOW timezone',
      'SHOW ALL',
      'SHOW server_version',
      'SHOW TIME ZONE',
      'SHOW TABLES x',
      'SHOW COLUMNS',
    );
  });

  it('asks another database where the original names one', () => {
    assert.equal(databaseOf('SHOW TABLES FROM other'), 'other');
    assert.equal(databaseOf('SHOW TABLES FROM plant'), undefined);
    assert.equal(databaseOf('SHOW TABLES FROM public'), undefined);
    assert.equal(databaseOf('SHOW TABLES FROM plant.public'), undefined);
    assert.equal(databaseOf('SHOW CREATE TABLE other.meters'), 'other');
    assert.equal(databaseOf('SHOW CREATE TABLE public.meters'), undefined);
    assert.equal(databaseOf('SHOW COLUMNS FROM plant.meters'), undefined);
    assert.equal(databaseOf('SHOW COLUMNS FROM other.s.meters'), 'other');
    assert.match(refusal('SHOW TAG VALUES FROM other.meters'), /^3D000 .* USE "other"/);
  });

  it('TAG VALUES reads the tags of the table', () => {
    assert.deepEqual(statements('SHOW TAG VALUES FROM public.meters'), [
      'SELECT DISTINCT "location", "floor" FROM "public"."meters" ORDER BY "location", "floor"',
    ]);
    assert.match(refusal('SHOW TAG VALUES FROM log'), /^42809 table "log" has no tags/);
  });

  it('quotes the table’s name, however hostile', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 15 }), (name) => {
        if (name.includes('\0')) return;
        const [query = ''] = statements(`SHOW CREATE TABLE ${quoteIdentifier(name)}`);
        const texts = tokenize(query).map((token) => stringValue(query, token));
        assert.ok(texts.includes(quoteIdentifier(name)));
        assert.ok(query.includes(`${quoteLiteral(quoteIdentifier(name))}::pg_catalog.regclass`));
      }),
      { numRuns: 300 },
    );
  });

  it('suggests an alternative if PostgreSQL has no counterpart', () => {
    assert.match(refusal('SHOW GRANTS ON TABLE x'), /table_privileges/);
    assert.match(refusal('SHOW SESSIONS'), /GET \/restapi\/session/);
    assert.match(refusal('SHOW RETENTIONS ON TABLE x'), /until they are deleted/);
  });
});

describe('cluster settings', () => {
  it('are set with their value as text, and reset', () => {
    const set = (sql: string): unknown => {
      const { kind, ...rest } = translate(sql, CONTEXT);
      assert.equal(kind, 'set-cluster-setting');
      return rest;
    };
    const name = 'server.rest.timeout';
    assert.deepEqual(set('SET CLUSTER SETTING server.rest.timeout=30'), { name, value: '30' });
    assert.deepEqual(set('set cluster setting Server.REST.timeout TO -1'), { name, value: '-1' });
    assert.deepEqual(set(`SET CLUSTER SETTING server.rest.timeout = 'Asia/Shanghai'`), {
      name,
      value: 'Asia/Shanghai',
    });
    assert.deepEqual(set(`SET CLUSTER SETTING server.rest.timeout = "a b"`), { name, value: 'a b' });
    assert.deepEqual(set('SET CLUSTER SETTING server.rest.timeout = merge'), { name, value: 'merge' });
    assert.deepEqual(set('SET CLUSTER SETTING server.rest.timeout = DEFAULT'), { name, value: undefined });
    assert.deepEqual(set('RESET CLUSTER SETTING server.rest.timeout'), { name, value: undefined });
    assert.match(
      refusal('SET CLUSTER SETTING server.rest.timeout'),
      /^42601 write SET CLUSTER SETTING server.rest.timeout =/,
    );
    assert.match(refusal('SET CLUSTER SETTING x ='), /^42601 .* needs a value/);
    assertUnchanged('SET timezone = 8', 'RESET ALL', 'SET SESSION a.b = 1');
  });

  it('are shown one by one or all together', () => {
    for (const [sql, name] of [
      ['SHOW CLUSTER SETTING server.REST.timeout', 'server.rest.timeout'],
      ['SHOW CLUSTER SETTING ALL', undefined],
      ['SHOW ALL CLUSTER SETTINGS', undefined],
      ['SHOW PUBLIC CLUSTER SETTINGS', undefined],
      ['SHOW CLUSTER SETTINGS', undefined],
    ] as const) {
      assert.deepEqual(translate(sql, CONTEXT), { kind: 'show-cluster-setting', name });
    }
  });
});

describe('privileges', () => {
  it('of tables are not granted on databases', () => {
    assert.match(
      refusal('GRANT SELECT, INSERT ON DATABASE x TO u'),
      /write GRANT SELECT ON ALL TABLES IN SCHEMA public TO/,
    );
    assert.match(refusal('REVOKE DELETE ON DATABASE x FROM u'), /write REVOKE DELETE .* FROM/);
    assert.match(refusal('GRANT DROP ON x TO u'), /OWNER TO/);
    assertUnchanged(
      'GRANT CREATE ON DATABASE x TO u',
      'GRANT ALL ON x TO u',
      'GRANT SELECT (a) ON x TO u',
      'GRANT admin TO u',
      'REVOKE GRANT OPTION FOR SELECT ON x FROM u',
    );
  });
});
