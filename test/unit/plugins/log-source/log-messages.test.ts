import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { ReplicationTap } from '../../../../plugins/database/executor/replication.ts';
import { parseArray } from '../../../../plugins/log-source/array-text.ts';
import { lsnText, parseLsn } from '../../../../plugins/log-source/lsn.ts';
import { decodeLogMessage, UNCHANGED } from '../../../../plugins/log-source/pgoutput.ts';
import { Draw } from '../../../support/random.ts';

function copyData(content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write('d', 0, 'latin1');
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}

/** `W`: both directions, text, no columns. */
const COPY_BOTH = Buffer.from([0x57, 0, 0, 0, 7, 0, 0, 0]);

describe('the connection for the log', () => {
  it('passes on every message, however the bytes are divided', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const draw = new Draw(seed);
      const contents = Array.from({ length: draw.between(1, 30) }, (_none, index) =>
        Buffer.alloc(draw.pick([0, 1, 3, 17, 200, 5000]), index),
      );
      const bytes = Buffer.concat([COPY_BOTH, ...contents.map(copyData)]);
      const tap = new ReplicationTap({ stream: new EventEmitter() });
      const socket = new EventEmitter();
      tap.attachListeners(socket);
      const received: Buffer[] = [];
      tap.receive((all, bounds) => {
        for (let index = 0; index < bounds.length; index += 2) {
          received.push(all.subarray(bounds[index], bounds[index + 1]));
        }
      }, 10_000);
      for (let at = 0; at < bytes.length;) {
        const end = Math.min(bytes.length, at + draw.pick([1, 2, 4, 5, 6, 64, 8000]));
        socket.emit('data', bytes.subarray(at, end));
        at = end;
      }
      assert.deepEqual(received, contents, `seed ${String(seed)}`);
    }
  });

  it('ends when a message is larger than the limit, before it has come', () => {
    const failures: Error[] = [];
    const stream = Object.assign(new EventEmitter(), { destroy: (error: Error) => failures.push(error) });
    const tap = new ReplicationTap({ stream });
    const socket = new EventEmitter();
    tap.attachListeners(socket);
    tap.receive(() => undefined, 1_000);
    socket.emit('data', Buffer.concat([COPY_BOTH, copyData(Buffer.alloc(2_000)).subarray(0, 5)]));
    assert.match(String(failures[0]), /a change of 2005 bytes; at most 1000 bytes are accepted/);
  });
});

describe('messages of pgoutput', () => {
  it('are read with their values, those that did not change and NULL', () => {
    const update = Buffer.from('550000002a4e000374000000023432' + '6e' + '75', 'hex');
    assert.deepEqual(decodeLogMessage(update), {
      kind: 'update',
      oid: 42,
      before: undefined,
      after: ['42', null, UNCHANGED],
    });
  });

  it('that are damaged are an error, wherever they end', () => {
    const whole = Buffer.from('490000002a4e000274000000023432740000000131', 'hex');
    assert.deepEqual(decodeLogMessage(whole), { kind: 'insert', oid: 42, after: ['42', '1'] });
    for (let end = 0; end < whole.length; end++) {
      assert.throws(() => decodeLogMessage(whole.subarray(0, end)), /pgoutput sent|unknown type/, String(end));
    }
    assert.throws(() => decodeLogMessage(Buffer.from('T\xff\xff\xff\xff\0', 'latin1')), /ends too early/);
  });
});

describe('texts of PostgreSQL', () => {
  it('of arrays are read with quotes, NULL and empty texts', () => {
    assert.deepEqual(parseArray('{a,"b c",NULL,"NULL","",\\x41,"q\\"\\\\"}'), [
      'a',
      'b c',
      null,
      'NULL',
      '',
      '\\x41',
      'q"\\',
    ]);
    assert.deepEqual(parseArray('{}'), []);
    assert.deepEqual(parseArray('[0:1]={1,2}'), ['1', '2']);
    assert.throws(() => parseArray('{"a'), /not an array/);
  });

  it('of places in the log are read and written', () => {
    for (const text of ['0/0', '16/B374D848', 'FFFFFFFF/FFFFFFFF']) assert.equal(lsnText(parseLsn(text)), text);
    assert.throws(() => parseLsn('x/1'), /"x\/1" is not a WAL location/);
  });
});
