import assert from 'node:assert/strict';
import { pino } from 'pino';
import { LogLevels, parseLogLevel } from '../../../src/observe/log-levels.ts';

describe('log levels', () => {
  const logger = () => pino({ level: 'info' }, { write: () => undefined });

  it('are those of Java, in any case', () => {
    assert.deepEqual(
      ['debug', ' Warn ', 'OFF', 'all', 'LOUD', ''].map((text) => parseLogLevel(text)),
      ['DEBUG', 'WARN', 'OFF', 'ALL', undefined, undefined],
    );
  });

  it('of a name count for all loggers below it, those that come later too', () => {
    const root = logger();
    const levels = new LogLevels(root);
    const early = root.child({ logger: 'a.b.Early' });
    assert.deepEqual(levels.set('a.b', 'DEBUG'), ['a.b', 'a.b.Early']);
    const late = root.child({ logger: 'a.b.Late' });
    const other = root.child({ logger: 'a.c' });
    assert.deepEqual([early.level, late.level, other.level, root.level], ['debug', 'debug', 'info', 'info']);
  });

  it('that have the level already are not reported as changed', () => {
    const levels = new LogLevels(logger());
    assert.deepEqual(levels.set('x', 'WARN'), ['x']);
    assert.deepEqual(levels.set('x.y', 'ERROR'), ['x.y']);
    assert.deepEqual(levels.set('x', 'WARN'), ['x.y']);
    assert.deepEqual(levels.set('x', 'WARN'), []);
  });

  it('of the root are those of every logger', () => {
    const root = logger();
    const levels = new LogLevels(root);
    const child = root.child({ logger: 'a' });
    assert.deepEqual(levels.set('ROOT', 'ERROR'), ['a', 'root']);
    assert.deepEqual([root.level, child.level], ['error', 'error']);
    assert.equal(levels.get('root')?.level, 'ERROR');
    assert.equal(levels.get('unheard.of'), undefined);
  });
});
