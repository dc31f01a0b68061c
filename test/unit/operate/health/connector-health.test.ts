import assert from 'node:assert/strict';
import { SilentWorkers } from '../../../../src/operate/health/gathered-figures.ts';
import { NotUnderstoodError } from '../../../../src/operate/workers/other-workers.ts';
import { thresholdsOf } from '../../../../src/operate/health/thresholds.ts';
import { VerdictTimes } from '../../../../src/operate/health/verdict-times.ts';

describe('what the health of connectors is made of', () => {
  it('takes thresholds of the connector, else of the worker, else the defaults, and leaves out what cannot be read', () => {
    const worker = { 'stall.after.ms': '10', 'degraded.rate': '3' };
    assert.deepEqual(thresholdsOf({ 'stall.after.ms': '20' }, worker), {
      stallAfterMs: 20,
      degradedRate: 3,
      laggingRecords: 100_000,
    });
    assert.equal(thresholdsOf({ 'stall.after.ms': '${file:x:y}' }, worker).stallAfterMs, 10);
  });

  it('remembers since when a worker does not answer, until it does; one that is not understood answers', async () => {
    const silent = new SilentWorkers();
    const fails = (error: Error) => (): Promise<never> => Promise.reject(error);
    await silent.ask(['a'], fails(new Error('no answer')));
    const begun = performance.now();
    while (performance.now() - begun < 5);
    const { silentMs } = await silent.ask(['a', 'b'], async (worker) =>
      worker === 'a' ? fails(new Error('no answer'))() : fails(new NotUnderstoodError('404'))(),
    );
    assert.ok((silentMs.get('a') ?? 0) >= 5);
    assert.equal(silentMs.get('b'), 0);
    assert.deepEqual([...(await silent.ask(['a'], () => Promise.resolve({ tasks: [], committed: [] }))).silentMs], []);
  });

  it('asks a bounded number of workers', async () => {
    let asked = 0;
    const workers = Array.from({ length: 150 }, (_, index) => `worker-${String(index)}`);
    const { silentMs } = await new SilentWorkers().ask(workers, () => {
      asked++;
      return Promise.resolve({ tasks: [], committed: [] });
    });
    assert.deepEqual([asked, silentMs.size], [100, 50]);
  });

  it('keeps the time of a verdict while it lasts, and forgets connectors that are gone', () => {
    const times = new VerdictTimes();
    const first = times.since('a', 'RUNNING', []);
    const begun = Date.now();
    while (Date.now() - begun < 3);
    assert.equal(times.since('a', 'RUNNING', []), first);
    times.keep([]);
    assert.ok(times.since('a', 'RUNNING', []) > first);
  });

  it('dates a failure that happened before the first look by the restart state', () => {
    const times = new VerdictTimes();
    const failedAt = Date.now() - 60_000;
    const restarts = [failedAt + 10, failedAt].map((at) => ({ since: new Date(at).toISOString() }));
    assert.equal(times.since('a', 'FAILED', [], restarts), failedAt);
    assert.equal(times.since('a', 'FAILED', []), failedAt, 'while it lasts');
    times.since('b', 'RUNNING', []);
    assert.ok(times.since('b', 'FAILED', [], restarts) > failedAt, 'the connector was seen running meanwhile');
    assert.ok(times.since('c', 'LAGGING', [], restarts) > failedAt, 'another verdict');
  });

  it('keeps the last 20 verdicts of a connector, the oldest first', () => {
    const times = new VerdictTimes();
    for (let number = 0; number < 25; number++) times.since('a', number % 2 === 0 ? 'RUNNING' : 'FAILED', []);
    times.since('a', 'RUNNING', []);
    const verdicts = times.of('a').map(([verdict]) => verdict);
    assert.deepEqual([verdicts.length, verdicts[0], verdicts.at(-1)], [20, 'FAILED', 'RUNNING']);
    assert.deepEqual(times.of('b'), []);
  });
});
