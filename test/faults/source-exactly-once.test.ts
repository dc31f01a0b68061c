import { database, type TestDatabase } from '../support/services.ts';
import { killSources } from '../support/source-kills.ts';
import { WorkerProcess } from '../support/worker-process.ts';

describe('a source with exactly-once delivery', () => {
  let db: TestDatabase;
  let sluice: WorkerProcess;

  before(async () => {
    const properties = { 'exactly.once.source.support': 'enabled' };
    [db, sluice] = await Promise.all([database('source'), WorkerProcess.start({ properties })]);
  });
  after(() => sluice.discard());

  it('shows every row once to readers of committed records, late ones too, although the worker is killed three times', () =>
    killSources({ worker: sluice, db, kills: 3, once: true, print: (line) => console.log(`      ${line}`) }));
});
