import assert from 'node:assert/strict';
import type { Executor } from '../../../plugins/database/index.ts';
import { ChangeForm } from '../../../plugins/db-source/log-changes.ts';
import { dbLogSettings } from '../../../plugins/db-source/log-settings.ts';
import type { ChangeRecords } from '../../../plugins/log-source/change-records.ts';
import { LoggedTables } from '../../../plugins/log-source/logged-tables.ts';
import type { ChangePlace } from '../../../plugins/log-source/record-form.ts';
import { silentLogger } from '../../../src/index.ts';

const settings = dbLogSettings({
  name: 'plant',
  'connector.class': 'DbSource',
  'read.method': 'log',
  'out.format': 'cdc_db',
  'log.ddl': 'true',
  'topic.per.stable': 'false',
  'topic.prefix': 'kw',
  'connection.url': 'jdbc:db://localhost:5432/plant',
  'connection.user': 'sluice',
});

/** The statement that creates a table whose columns `a` and `b` are both part of this replica identity. */
async function created(identity: string): Promise<unknown> {
  const executor = {
    ask: ({ text }: { readonly text: string }) =>
      Promise.resolve({ rows: text.includes('SELECT format_type') ? [['integer'], ['text']] : [] }),
  } as unknown as Executor;
  const form = new ChangeForm({ settings, precision: undefined, logger: silentLogger });
  const records = form as unknown as ChangeRecords;
  const tables = new LoggedTables({ executor, settings, records, json: undefined });
  const columns = ['a', 'b'].map((name) => ({ name, isIdentity: true, typeOid: 0, typeModifier: -1 }));
  await tables.learn({ kind: 'relation', oid: 1, schema: 'public', name: 't', identity, columns });
  const place = { offset: {} } as ChangePlace;
  const [first] = tables.form(1)?.insert(['1', 'x'], place) ?? [];
  return (JSON.parse(first?.value as string) as { statement?: unknown }).statement;
}

describe('a table that is created from what the log says about it', () => {
  it('has its key, even if all columns are part of it', async () => {
    const key = 'CONSTRAINT "t_pkey" PRIMARY KEY ("a", "b")';
    assert.equal(await created('d'), `CREATE TABLE IF NOT EXISTS "public"."t" ("a" integer, "b" text, ${key})`);
  });

  it('has no key if the replica identity is FULL, because the log does not tell the key then', async () => {
    assert.equal(await created('f'), 'CREATE TABLE IF NOT EXISTS "public"."t" ("a" integer, "b" text)');
  });
});
