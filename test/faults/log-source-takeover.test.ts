import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SourceCoordinates } from '../../src/index.ts';
import { GOLDEN_FOLDER } from '../golden/golden-data.ts';
import { logSourceConfig } from '../support/log-source.ts';
import type { LogSourceRun } from '../support/log-source-run.ts';
import { logStage } from '../support/log-source-stage.ts';
import { SqlClient } from '../support/sql-client.ts';

/** A message of the log, as Debezium sees it. */
interface Message {
  readonly lsn: bigint;
  readonly xid: bigint;
  /** Debezium's name of its type; `undefined` for messages without an offset. */
  readonly type: string | undefined;
  readonly isChange: boolean;
}

const TYPES: Readonly<Record<string, string>> = { B: 'BEGIN', C: 'COMMIT', I: 'INSERT', U: 'UPDATE', D: 'DELETE' };
const SLOT = 'debezium';
const PUBLICATION = 'dbz_publication';

describe('the takeover of a connector of Debezium', function () {
  const stage = logStage();

  before(async () => {
    await stage.sql.run(
      'create table a (id int primary key, v text)',
      `create publication ${PUBLICATION} for all tables`,
      `select pg_create_logical_replication_slot('${SLOT}', 'pgoutput')`,
    );
  });

  /** The messages that Debezium's slot has still to send. */
  async function messages(): Promise<readonly Message[]> {
    const rows = await stage.sql.rows(
      `select lsn - '0/0', xid, chr(get_byte(data, 0))
      from pg_logical_slot_peek_binary_changes('${SLOT}', null, null, 'proto_version', '1', 'publication_names', '${PUBLICATION}')`,
    );
    return rows.map(([lsn, xid, kind = '']) => ({
      lsn: BigInt(lsn ?? 0),
      xid: BigInt(xid ?? 0),
      type: TYPES[kind ?? ''],
      isChange: 'IUD'.includes(kind ?? ''),
    }));
  }

  /** A task that continues from an offset with a copy of Debezium's slot. */
  async function takeOver(offset: SourceCoordinates, confirmed?: bigint): Promise<LogSourceRun> {
    const config = logSourceConfig(stage.db, {
      'publication.name': PUBLICATION,
      'publication.autocreate.mode': 'disabled',
      'tombstones.on.delete': 'false',
      'slot.drop.on.stop': 'true',
    });
    const slot = config['slot.name'] ?? '';
    await stage.sql.run(`select pg_copy_logical_replication_slot('${SLOT}', '${slot}')`);
    if (confirmed !== undefined)
      await stage.sql.run(`select pg_replication_slot_advance('${slot}', '0/0'::pg_lsn + ${String(confirmed)})`);
    const run = stage.newRun();
    run.offset = offset;
    await run.start(config);
    return run;
  }

  /** Rows of all changes, in the order of the log. */
  function changesOf({ records }: LogSourceRun): readonly unknown[] {
    return records.map(({ value }) => {
      const event = value as { get(name: string): unknown };
      const row = (event.get('after') ?? event.get('before')) as { get(name: string): unknown };
      return [event.get('op'), row.get('id')];
    });
  }

  it('continues after every message that an offset of Debezium can name, with no change lost or sent twice', async () => {
    const other = new SqlClient(stage.db);
    try {
      await stage.sql.run(
        `insert into a values (1, 'one')`,
        `insert into a values (2, 'two')`,
        'begin',
        `update a set v = 'uno' where id = 1`,
        'delete from a where id = 2',
        'commit',
      );
      // The second transaction to begin is the first to commit.
      await other.run('begin', `insert into a values (3, 'three')`);
      await stage.sql.run('begin', `insert into a values (4, 'four')`, `insert into a values (5, 'five')`);
      await other.run(`insert into a values (6, 'six')`);
      await stage.sql.run('commit');
      await other.run('commit');
      await stage.sql.run(`insert into a values (7, 'last')`);
    } finally {
      await other.close();
    }
    const log = await messages();
    const all = [...[1, 2].map((id) => ['c', id]), ['u', 1], ['d', 2], ...[4, 5, 3, 6, 7].map((id) => ['c', id])];
    assert.equal(log.filter(({ isChange }) => isChange).length, all.length);
    let commit: bigint | undefined;
    let sent = 0;
    for (const { lsn, xid, type, isChange } of log) {
      if (type === undefined) continue;
      if (type === 'COMMIT') commit = lsn;
      if (isChange) sent += 1;
      if (sent === all.length) break;
      const offset = {
        lsn_proc: lsn,
        messageType: type,
        ...(commit !== undefined && { lsn_commit: commit }),
        lsn,
        txId: xid,
        ts_usec: 1_767_225_600_000_000n,
      };
      assert.deepEqual(Object.keys(offset), await recordedKeys(commit === undefined ? 'before' : 'end'));
      // Debezium confirms the commit of its offset, or the change if the offset has no commit.
      const run = await takeOver(offset, commit ?? lsn);
      await run.pollUntil(() => run.records.length >= all.length - sent, 'the other changes are sent');
      assert.deepEqual(changesOf(run), all.slice(sent), `after ${type} at ${String(lsn)}`);
      await run.stop();
    }
    assert.equal(sent, all.length);
  });

  it('continues after a snapshot', async () => {
    const begin = BigInt(
      (
        await stage.sql.rows(`select confirmed_flush_lsn - '0/0' from pg_replication_slots where slot_name = '${SLOT}'`)
      )[0]?.[0] ?? 0,
    );
    const count = (await messages()).filter(({ isChange }) => isChange).length;
    const run = await takeOver({
      last_snapshot_record: true,
      lsn: begin,
      txId: 1n,
      ts_usec: 1_767_225_600_000_000n,
      snapshot: 'INITIAL',
      snapshot_completed: true,
    });
    assert.deepEqual(Object.keys(run.offset ?? {}), await recordedKeys('snapshot', 'schemas-off'));
    await run.pollUntil(() => run.records.length >= count, 'all changes are sent');
    assert.equal(run.records.length, count);
    assert.ok(
      changesOf(run).every((change) => (change as readonly unknown[])[0] !== 'r'),
      'no row is read again',
    );
  });

  it('sends the rows of a COPY that share the place of the last one again, because the offset does not count them', async () => {
    await stage.sql.run(
      `copy a from program 'seq -f "%g,x" 101 103' with (format csv)`,
      `insert into a values (200, 'end')`,
    );
    const log = await messages();
    const rows = log.filter(({ isChange }) => isChange).slice(-4);
    assert.equal(new Set(rows.slice(0, 3).map(({ lsn }) => lsn)).size, 1, 'the rows share a place');
    const commit = log.filter(({ type }) => type === 'COMMIT').at(-3)?.lsn ?? 0n;
    const { lsn = 0n, xid = 0n } = rows[0] ?? {};
    const offset = { lsn_proc: lsn, messageType: 'INSERT', lsn_commit: commit, lsn, txId: xid, ts_usec: 1n };
    const run = await takeOver(offset, commit);
    await run.pollUntil(() => run.records.length >= 3, 'the rows are sent');
    assert.deepEqual(
      changesOf(run),
      [102, 103, 200].map((id) => ['c', id]),
    );
  });
});

/** The keys of an offset that was recorded from Debezium. */
async function recordedKeys(mark: string, scenario = 'restart-stop-resume'): Promise<readonly string[]> {
  const text = await readFile(join(GOLDEN_FOLDER, 'cdc', 'recordings', `${scenario}.json`), 'utf8');
  const { marks } = JSON.parse(text) as {
    readonly marks: readonly { readonly offsets?: string; readonly value: readonly { readonly offset: object }[] }[];
  };
  return Object.keys(marks.find(({ offsets }) => offsets === mark)?.value[0]?.offset ?? {});
}
