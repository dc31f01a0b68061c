import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConnectorLog } from '../../../src/observe/connector-log.ts';
import { createLogger } from '../../../src/observe/logger.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';

describe('the last lines of a connector', () => {
  const line = (connector: string, msg: string) => JSON.stringify({ level: 30, time: 5, connector, msg });
  const texts = (log: ConnectorLog, connector: string, after = 0) =>
    log.after(connector, after).lines.map(({ text }) => text);

  it('are those that name it, with their task, thread, level and stack', () => {
    const log = new ConnectorLog();
    log.note(
      JSON.stringify({
        level: 'warn',
        time: '2026-01-01T00:00:00.000Z',
        connector: 'a',
        task: 1,
        thread: 2,
        msg: 'x',
        err: { stack: 'E: y' },
        topic: 't',
      }),
    );
    log.note(JSON.stringify({ level: 30, time: 5, msg: 'of nobody: "connector":"a"' }));
    log.note(line('b', 'of another'));
    const { lines } = log.after('a', 0);
    assert.deepEqual(
      lines.map(({ number, ...rest }) => ({ ...rest, isNumbered: number > 0 })),
      [
        {
          at: 1767225600000,
          level: 'WARN',
          task: 1,
          thread: 2,
          logger: '',
          text: 'x {"topic":"t"}\nE: y',
          isNumbered: true,
        },
      ],
    );
  });

  it('are listed from a line on, with whether some in between are no longer kept', () => {
    const log = new ConnectorLog(3);
    for (const text of ['1', '2', '3']) log.note(line('a', text));
    const [first] = log.after('a', 0).lines;
    assert.deepEqual(texts(log, 'a', first?.number), ['2', '3']);
    for (const text of ['4', '5']) log.note(line('a', text));
    assert.deepEqual(texts(log, 'a'), ['3', '4', '5']);
    assert.equal(log.after('a', first?.number ?? 0).isCut, true);
    assert.equal(log.after('a', log.after('a', 0).lines[0]?.number ?? 0).isCut, false);
  });

  it('are bounded in all: the connector that was silent for longest is forgotten first', () => {
    const log = new ConnectorLog(500, 1500);
    for (const connector of ['a', 'b', 'a']) log.note(line(connector, 'x'.repeat(300)));
    log.note(line('c', 'y'.repeat(300)));
    assert.deepEqual([texts(log, 'a').length, texts(log, 'b').length, texts(log, 'c').length], [2, 0, 1]);
  });

  it('are known to be missing after all of them were removed, even when the connector logs again', () => {
    const log = new ConnectorLog(500, 1500);
    log.note(line('a', 'first'));
    const [first] = log.after('a', 0).lines;
    log.note(line('a', 'second'));
    const second = log.after('a', 0).lines.at(-1);
    for (const text of ['x', 'y', 'z']) log.note(line('b', text.repeat(500)));
    const after = (number = 0) => {
      const { lines, isCut } = log.after('a', number);
      return [lines.map(({ text }) => text), isCut];
    };
    assert.deepEqual(after(first?.number), [[], true]);
    assert.deepEqual(after(second?.number), [[], false], 'the last line was seen');
    log.note(line('a', 'third'));
    assert.deepEqual(after(first?.number), [['third'], true]);
    assert.deepEqual(after(second?.number), [['third'], false]);
  });

  it('show no secret, whatever the format of the log', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'connector-log-'));
    try {
      for (const format of ['json', 'text'] as const) {
        const secrets = new SecretMask();
        secrets.add('hunter2hunter2');
        const tail = new ConnectorLog();
        const logger = await createLogger({ level: 'info', format, file: join(folder, format), secrets, tail });
        logger.child({ connector: 'a', task: 0 }).info('the password is hunter2hunter2');
        const [found] = tail.after('a', 0).lines;
        assert.equal(found?.level, 'INFO');
        assert.doesNotMatch(found.text, /hunter2/);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
