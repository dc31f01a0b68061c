import assert from 'node:assert/strict';
import fc from 'fast-check';
import { FrameReader } from '../../../src/kafka/connections/frame-reader.ts';

function framed(answer: Buffer): Buffer {
  const size = Buffer.alloc(4);
  size.writeInt32BE(answer.length);
  return Buffer.concat([size, answer]);
}

describe('responses of a broker', () => {
  it('are reassembled from arbitrary chunks in a reused buffer', () => {
    const answer = fc.uint8Array({ minLength: 4, maxLength: 40 }).map((bytes) => Buffer.from(bytes));
    fc.assert(
      fc.property(fc.array(answer, { maxLength: 6 }), fc.array(fc.integer({ min: 1, max: 30 })), (answers, lengths) => {
        const read: Buffer[] = [];
        const frames = new FrameReader((frame) => read.push(frame));
        const all = Buffer.concat(answers.map(framed));
        const memory = Buffer.alloc(Math.max(30, all.length));
        const cuts = [...lengths, all.length];
        for (let at = 0, cut = 0; at < all.length; cut++) {
          const length = all.copy(memory, 0, at, at + (cuts[cut] ?? all.length));
          frames.push(memory.subarray(0, length));
          memory.fill(0xff);
          at += length;
        }
        assert.deepEqual(read, answers);
      }),
    );
  });

  it('are rejected if they come from a web server or a TLS listener', () => {
    for (const said of [Buffer.from('HTTP/1.1 400 Bad Request'), Buffer.of(0x15, 3, 3, 0, 2, 2, 80), Buffer.alloc(4)]) {
      const frames = new FrameReader(() => undefined);
      assert.throws(() => {
        frames.push(said);
      }, /Invalid response size of \d+ bytes.*security\.protocol/);
    }
  });
});
