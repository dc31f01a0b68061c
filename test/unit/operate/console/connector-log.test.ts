import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { PassThrough } from 'node:stream';
import { ConnectorLog } from '../../../../src/observe/connector-log.ts';
import { connectorLogResource } from '../../../../src/operate/console/connector-log.ts';
import type { Context } from '../../../../src/rest/resource.ts';
import { until } from '../../../support/until.ts';

describe('the log of a connector for consoles', () => {
  const open: PassThrough[] = [];

  afterEach(() => {
    for (const stream of open.splice(0)) stream.destroy();
  });

  function start() {
    const log = new ConnectorLog();
    const herder = { workerId: 'w', directory: { require: () => undefined } };
    const health = { workers: () => ['w'] };
    const others = { get: () => () => Promise.reject(new Error('there is no other worker')) };
    const parts = [herder, health, log, others] as unknown as Parameters<typeof connectorLogResource>;
    const [route] = connectorLogResource(...parts);
    const ask = (remoteAddress = '10.0.0.1', user?: string) => {
      const request = Object.assign(new EventEmitter(), { socket: { remoteAddress } });
      const context = {
        ...{ params: { connector: 'c' }, query: {}, req: request, state: { user }, status: 0, body: undefined },
        ...{ set: () => undefined, get: () => '' },
      };
      route?.handle(context as unknown as Context, () => Promise.resolve());
      const stream = context.body as unknown as PassThrough;
      open.push(stream);
      return { request, stream };
    };
    return { log, ask };
  }

  const note = (log: ConnectorLog, msg: string) => {
    log.note(JSON.stringify({ level: 30, time: 1, connector: 'c', msg }));
  };

  it('begins with the lines that are kept, and continues with new ones, each once', async () => {
    const { log, ask } = start();
    note(log, 'before');
    const { stream } = ask();
    let text = '';
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until(() => text.includes('"before"'), 'what is kept');
    note(log, 'after');
    await until(() => text.includes('"after"'), 'what comes');
    assert.equal(text.split('"before"').length, 2);
    assert.match(text, /^retry: 2000\n\nevent: lines\ndata: \{"worker":"w","isCut":false,"lines":\[/);
  });

  it('is shown to 20 consoles at most, until one closes', async () => {
    const { ask } = start();
    const [first] = Array.from({ length: 20 }, (_, index) => ask(`10.0.0.${String(index)}`));
    assert.throws(() => ask(), /has 20 logs open, and accepts no more/);
    first?.request.emit('close');
    if (first !== undefined) await once(first.stream, 'close');
    ask();
  });

  it('S7: is shown to ten consoles of one address, and of one user', async () => {
    const { ask } = start();
    const [first] = Array.from({ length: 10 }, (_, index) => ask(`2001:db8:0:1::${String(index)}`));
    assert.throws(() => ask('2001:db8:0:1:ffff::1'), /has 10 logs open for address 2001:db8:0:1, and accepts no more/);
    for (let index = 0; index < 9; index++) ask(`10.0.0.${String(index)}`, 'ann');
    first?.request.emit('close');
    if (first !== undefined) await once(first.stream, 'close');
    ask('::ffff:10.0.0.9', 'ann');
    assert.throws(() => ask('10.0.0.10', 'ann'), /has 10 logs open for user ann, and accepts no more/);
    ask('10.0.0.10', 'bob');
    assert.throws(() => ask('10.0.0.11', 'eve'), /has 20 logs open, and accepts no more/);
  });

  it('ends for a console that does not read', async () => {
    const { log, ask } = start();
    const { stream } = ask();
    const closed = once(stream, 'close');
    const timer = setInterval(() => {
      for (let line = 0; line < 400; line++) note(log, 'x'.repeat(8000));
    }, 50);
    await closed;
    clearInterval(timer);
    assert.equal(stream.destroyed, true);
  });
});
