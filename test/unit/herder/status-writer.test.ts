import assert from 'node:assert/strict';
import { StatusWriter } from '../../../src/herder/status-writer.ts';
import { MemoryLog, type LogRecord } from '../../../src/herder/stores/record-log.ts';
import { StatusStore, type Status } from '../../../src/herder/stores/status-store.ts';
import { silentLogger } from '../../../src/observe/logger.ts';

/** A status topic that this worker has not read to its end: the rest comes when it asks for it. */
class LateLog extends MemoryLog {
  readonly #onRecord: (record: LogRecord) => void;
  readonly late: LogRecord[] = [];

  constructor(onRecord: (record: LogRecord) => void) {
    super(onRecord);
    this.#onRecord = onRecord;
  }

  override async readToEnd(): Promise<void> {
    for (const record of this.late.splice(0)) this.#onRecord(record);
    await super.readToEnd();
  }
}

const ID = { connector: 'c', task: 0 };

describe('statuses that a worker writes', () => {
  let log: LateLog;
  let store: StatusStore;
  let writer: StatusWriter;
  let generation: number;
  let mayWork: boolean;

  beforeEach(() => {
    store = new StatusStore((onRecord) => (log = new LateLog(onRecord)), silentLogger);
    generation = 4;
    mayWork = true;
    const source = {
      workerId: 'here:8083',
      generation: () => generation,
      mayWork: () => mayWork,
      version: () => null,
      hide: (trace: string) => trace,
    };
    writer = new StatusWriter(store, source, silentLogger);
  });

  const told = () => [store.task(ID)?.state, store.task(ID)?.workerId, store.task(ID)?.generation];
  const elsewhere = (status: Partial<Status>): LogRecord => {
    const record = { state: 'RUNNING', trace: null, worker_id: 'there:8083', generation: 5, version: null, ...status };
    return { key: Buffer.from('status-task-c-0'), value: Buffer.from(JSON.stringify(record)) };
  };

  it('bear its generation, and replace its own and older ones', async () => {
    writer.task(ID, 'RUNNING');
    await writer.flush();
    assert.deepEqual(told(), ['RUNNING', 'here:8083', 4]);
    generation = 6;
    writer.task(ID, 'UNASSIGNED');
    await writer.flush();
    assert.deepEqual(told(), ['UNASSIGNED', 'here:8083', 6]);
  });

  it('do not report the end of work that runs on another worker in a later generation', async () => {
    log.late.push(elsewhere({}));
    await log.readToEnd();
    for (const state of ['UNASSIGNED', 'FAILED', 'RESTARTING'] as const) writer.task(ID, state);
    await writer.flush();
    assert.deepEqual(told(), ['RUNNING', 'there:8083', 5]);
  });

  it('are compared with newer statuses of other workers after the membership was lost', async () => {
    writer.task(ID, 'RUNNING');
    await writer.flush();
    log.late.push(elsewhere({}));
    mayWork = false;
    writer.task(ID, 'UNASSIGNED');
    // It rejoins the group before the status is written.
    [mayWork, generation] = [true, 6];
    await writer.flush();
    assert.deepEqual(told(), ['RUNNING', 'there:8083', 5]);
  });
});
