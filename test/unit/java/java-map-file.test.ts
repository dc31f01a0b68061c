import assert from 'node:assert/strict';
import { readJavaMap, writeJavaMap } from '../../../src/java/java-map-file.ts';

/** Written by java.io.ObjectOutputStream (Java 17): an empty HashMap, and one with kk -> null and k -> v. */
const HEAD = 'aced0005737200116a6176612e7574696c2e486173684d61700507dac1c31660d103000246000a6c6f6164466163746f72490009';
const EMPTY_MAP = `${HEAD}7468726573686f6c6478703f400000000000007708000000100000000078`;
const TWO_ENTRIES = `${HEAD}7468726573686f6c6478703f4000000000000c77080000001000000002757200025b42acf317f8060854e00200007870000000026b6b707571007e0002000000016b7571007e0002000000017678`;

describe('the offset file of a standalone worker', () => {
  it('writes an empty map byte for byte like Java', () => {
    assert.equal(writeJavaMap([]).toString('hex'), EMPTY_MAP);
  });

  it('writes and reads entries byte for byte like Java', () => {
    const entries = [
      [Buffer.from('kk'), null],
      [Buffer.from('k'), Buffer.from('v')],
    ] as const;
    assert.equal(writeJavaMap(entries).toString('hex'), TWO_ENTRIES);
    assert.deepEqual(readJavaMap(Buffer.from(TWO_ENTRIES, 'hex')), entries);
  });

  it('survives a round trip with nulls and empty values', () => {
    const entries = [
      [Buffer.from('["c",{"table":"a"}]'), Buffer.from('{"n":1}')],
      [Buffer.from('x'), null],
      [Buffer.from('y'), Buffer.alloc(0)],
    ] as const;
    const read = readJavaMap(writeJavaMap(entries));
    assert.deepEqual(
      read.map(([key, value]) => [Buffer.from(key).toString(), value === null ? null : Buffer.from(value).toString()]),
      [
        ['["c",{"table":"a"}]', '{"n":1}'],
        ['x', null],
        ['y', ''],
      ],
    );
  });

  it('reports what is wrong with a file that is not such a map', () => {
    assert.throws(() => readJavaMap(Buffer.from('hello world')), /it is not a Java serialization stream/);
    const whole = writeJavaMap([[Buffer.from('key'), Buffer.from('value')]]);
    assert.throws(() => readJavaMap(whole.subarray(0, whole.length - 4)), /it is truncated/);
  });
});
