import assert from 'node:assert/strict';
import { pino } from 'pino';
import { LogLevels } from '../../../src/observe/log-levels.ts';
import { TemporaryLevels } from '../../../src/observe/temporary-levels.ts';
import { until } from '../../support/until.ts';

describe('a level for one connector', () => {
  const root = () => pino({ level: 'info' }, { write: () => undefined });

  it('counts for all its loggers, those that come later too, and for no other', () => {
    const logger = root();
    const levels = new LogLevels(logger);
    const early = logger.child({ connector: 'a', logger: 'x' });
    const told: unknown[] = [];
    levels.onConnectorSet((...each) => told.push(each));
    levels.setConnector('a', 'DEBUG');
    const late = logger.child({ connector: 'a' }).child({ logger: 'y' });
    const other = logger.child({ connector: 'b', logger: 'x' });
    assert.deepEqual([early.level, late.level, other.level, logger.level], ['debug', 'debug', 'info', 'info']);
    assert.deepEqual(levels.ofConnectors(), [['a', 'DEBUG']]);
    levels.set('x', 'WARN');
    levels.setConnector('a', undefined);
    assert.deepEqual([early.level, late.level], ['warn', 'info']);
    assert.deepEqual(told, [
      ['a', 'DEBUG'],
      ['a', undefined],
    ]);
  });

  it('ends automatically, or earlier on request', async () => {
    const logger = root();
    const temporary = new TemporaryLevels(new LogLevels(logger));
    const child = logger.child({ connector: 'a' });
    assert.equal(temporary.set('a', 'TRACE', 20), true);
    assert.equal(temporary.get('a')?.level, 'TRACE');
    assert.equal(child.level, 'trace');
    // The timer keeps nothing alive.
    await until(() => temporary.get('a') === undefined, 'the level has ended');
    assert.equal(child.level, 'info');
    temporary.set('a', 'DEBUG', 60_000);
    assert.ok((temporary.get('a')?.remainingMs ?? 0) > 50_000);
    temporary.end('a');
    assert.deepEqual([temporary.get('a'), child.level], [undefined, 'info']);
  });

  it('is limited to a number of connectors', () => {
    const temporary = new TemporaryLevels({ setConnector: () => undefined });
    for (let number = 0; number < 100; number++) assert.equal(temporary.set(String(number), 'DEBUG', 1e6), true);
    assert.equal(temporary.set('one more', 'DEBUG', 1e6), false);
    assert.equal(temporary.set('5', 'TRACE', 1e6), true);
    for (let number = 0; number < 100; number++) temporary.end(String(number));
  });
});
