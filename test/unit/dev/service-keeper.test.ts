import assert from 'node:assert/strict';
import { ServiceKeeper } from '../../../src/dev/service-keeper.ts';
import { until } from '../../support/until.ts';

describe('the keeper of local services', () => {
  it('restarts a service that has ended, reports it once, and retries a failed start', async () => {
    const said: string[] = [];
    let refusals = 1;
    let starts = 0;
    const service = {
      title: 'Kafka',
      logFile: '/kafka.log',
      running: true,
      start: () => {
        starts += 1;
        if (refusals-- > 0) return Promise.reject(new Error('no memory\nmore'));
        service.running = true;
        return Promise.resolve();
      },
    };
    const keeper = new ServiceKeeper([service], (message) => said.push(message), 5);
    try {
      service.running = false;
      await until(() => said.includes('Kafka runs again'), 'it is started again');
    } finally {
      await keeper.stop();
    }
    assert.equal(starts, 2);
    assert.deepEqual(said, [
      'Kafka has ended and is started again; its log is /kafka.log',
      'Kafka cannot be started and is tried again: no memory',
      'Kafka runs again',
    ]);
  });

  it('ends a start that is under way when it is stopped, and starts nothing any more', async () => {
    let starts = 0;
    const service = {
      title: 'Kafka',
      logFile: '',
      running: false,
      start: (signal: AbortSignal) => {
        starts += 1;
        return new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(new Error('aborted'));
          });
        });
      },
    };
    const keeper = new ServiceKeeper([service], () => undefined, 5);
    await until(() => starts === 1, 'it is being started');
    await keeper.stop();
    assert.equal(starts, 1);
  });
});
