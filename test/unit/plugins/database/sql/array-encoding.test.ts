import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Cell, CellKind } from '../../../../../src/data/row-batch.ts';
import { binaryArray } from '../../../../../plugins/database/sql/array-binary.ts';
import { arrayLiteral } from '../../../../../plugins/database/sql/array-literal.ts';
import type { ColumnTarget, Refusal, TypeFamily } from '../../../../../plugins/database/sql/column-type.ts';

function target(family: TypeFamily, changes: Partial<ColumnTarget> = {}): ColumnTarget {
  return { family, typeOid: 0, precision: 6, maxLength: undefined, acceptsNull: true, binary: true, ...changes };
}

/** The literal and the refusals by row. */
function encode(kind: CellKind, column: ColumnTarget, cells: Cell[]): { text: string; refused: Map<number, Refusal> } {
  const refused = new Map<number, Refusal>();
  const rows = Int32Array.from(cells.keys());
  const text = arrayLiteral(cells, kind, rows, column, (row, refusal) => refused.set(row, refusal));
  return { text, refused };
}

function literal(kind: CellKind, family: TypeFamily, cells: Cell[]): string {
  const { text, refused } = encode(kind, target(family), cells);
  assert.equal(refused.size, 0, JSON.stringify([...refused]));
  return text;
}

function reasons(kind: CellKind, family: TypeFamily, cells: Cell[]): (string | undefined)[] {
  const { refused } = encode(kind, target(family), cells);
  return cells.map((_, row) => refused.get(row)?.reason);
}

describe('array literals', () => {
  it('quote and escape text, and distinguish NULL from the word', () => {
    assert.equal(
      literal('text', 'text', ['a', '', 'NULL', null, 'x,y}{', 'say "hi"', 'C:\\dir', 'Zürich 😀']),
      '{"a","","NULL",NULL,"x,y}{","say \\"hi\\"","C:\\\\dir","Zürich 😀"}',
    );
    assert.equal(literal('text', 'text', []), '{}');
  });

  it('refuse text that PostgreSQL cannot store, with the reason', () => {
    const { text, refused } = encode('text', target('text'), ['good', 'a\0b', '\ud83d', 'fine']);
    assert.equal(text, '{"good",NULL,NULL,"fine"}');
    assert.match(refused.get(1)?.reason ?? '', /NUL character/);
    assert.match(refused.get(2)?.reason ?? '', /surrogate/);
    assert.equal(refused.get(1)?.sqlstate, '22021');
  });

  it('write integers exactly up to both ends of 64 bits and refuse one more', () => {
    const cells = [0, -0, 42, 9223372036854775807n, -9223372036854775808n, ' +7 ', '-9223372036854775808'];
    assert.equal(
      literal('int', 'int8', cells),
      '{0,0,42,9223372036854775807,-9223372036854775808,7,-9223372036854775808}',
    );
    assert.deepEqual(reasons('int', 'int8', [9223372036854775808n, 1e19, 1.5, 'abc', '1.0', true, Number.NaN]), [
      '9223372036854775808 is out of range',
      '10000000000000000000 is out of range',
      '1.5 is not an integer',
      '"abc" is not an integer',
      '"1.0" is not an integer',
      'true is not an integer',
      'NaN is not an integer',
    ]);
    assert.deepEqual(reasons('int', 'int2', [32767, 32768, -32768, -32769n]), [
      undefined,
      '32768 is out of range',
      undefined,
      '-32769 is out of range',
    ]);
    assert.deepEqual(reasons('int', 'int4', [2147483647, '2147483648']), [undefined, '"2147483648" is out of range']);
  });

  it('take whole floats into integer columns and nothing else', () => {
    assert.equal(literal('float', 'int4', [1, -3, 2e5]), '{1,-3,200000}');
    assert.deepEqual(reasons('float', 'int4', [0.5]), ['0.5 is not an integer']);
  });

  it('write floats so that they read back bit for bit, NaN and infinities too', () => {
    assert.equal(
      literal('float', 'float8', [0.1, -0, 1e21, 5e-324, Number.NaN, Number.POSITIVE_INFINITY, -Infinity, '1e3', 3n]),
      '{0.1,-0,1e+21,5e-324,NaN,Infinity,-Infinity,1e3,3}',
    );
    assert.deepEqual(reasons('float', 'float4', [3.4e38, 3.5e38, 1e-46, 0]), [
      undefined,
      '3.5e+38 is out of range',
      '1e-46 is out of range',
      undefined,
    ]);
    assert.deepEqual(reasons('text', 'float8', ['1.5', 'NaN', '-infinity', '1,5', '', '1e400']), [
      undefined,
      undefined,
      undefined,
      '"1,5" is not a number',
      '"" is not a number',
      '"1e400" is out of range',
    ]);
  });

  it('keep every digit of decimals', () => {
    assert.equal(
      literal('numeric', 'numeric', ['123456789012345678901234567890.123456789', '-0.10', 12345678901234567890n]),
      '{123456789012345678901234567890.123456789,-0.10,12345678901234567890}',
    );
  });

  it('write booleans, and read the words that PostgreSQL reads', () => {
    assert.equal(literal('bool', 'bool', [true, false, 'T', ' off', 1, 0n]), '{true,false,T,off,true,false}');
    assert.deepEqual(reasons('bool', 'bool', [2, 'maybe']), ['2 is not a boolean', '"maybe" is not a boolean']);
  });

  it('write bytes as hex and pass their text forms on', () => {
    assert.equal(literal('bytes', 'bytes', [Uint8Array.of(0, 255, 92), '\\x00']), '{"\\\\x00ff5c","\\\\x00"}');
    assert.deepEqual(reasons('bytes', 'text', [Uint8Array.of(1, 2)]), ['a value of 2 bytes is not text']);
  });

  it('write times in UTC and pass the text forms of times on', () => {
    assert.equal(
      literal('time', 'timestamptz', [1_700_000_000_000_001, -1n, '2024-05-06 07:08:09+02', null]),
      '{"2023-11-14 22:13:20.000001+00","1969-12-31 23:59:59.999999+00","2024-05-06 07:08:09+02",NULL}',
    );
    assert.equal(literal('time', 'timestamp', [0]), '{"1970-01-01 00:00:00"}');
    assert.equal(literal('time', 'text', [1_500_000, 0]), '{"1970-01-01 00:00:01.5+00","1970-01-01 00:00:00+00"}');
    assert.equal(literal('text', 'timestamptz', ['infinity']), '{"infinity"}');
  });

  it('round times to the precision of the column, halves up', () => {
    const millis = target('timestamptz', { precision: 3 });
    assert.equal(
      encode('time', millis, [1_499, 1_500, -1_500, -1_501n, 1_500n]).text,
      '{"1970-01-01 00:00:00.001000+00","1970-01-01 00:00:00.002000+00","1969-12-31 23:59:59.999000+00",' +
        '"1969-12-31 23:59:59.998000+00","1970-01-01 00:00:00.002000+00"}',
    );
  });

  it('refuse numbers as times, because their unit is not known here, and times as numbers', () => {
    assert.deepEqual(reasons('int', 'timestamptz', [1_700_000_000]), ['1700000000 is not a time']);
    assert.deepEqual(reasons('time', 'int8', [1_700_000_000]), ['a time does not fit the type']);
    assert.deepEqual(reasons('time', 'timestamptz', [9224318016000000000n]), [
      'the time 9224318016000000000 µs is out of range',
    ]);
  });

  it('refuse NULL where the column does, and cut long values in messages', () => {
    const { refused } = encode('text', target('text', { acceptsNull: false }), ['a', null]);
    assert.equal(refused.get(1)?.sqlstate, '23502');
    const [reason] = reasons('text', 'int4', ['9'.repeat(500) + 'x']);
    assert.ok((reason ?? '').length < 100);
  });

  it('refuse text longer than the column in characters, except for trailing blanks', () => {
    const { text, refused } = encode('text', target('text', { maxLength: 2 }), ['ab', '😀é', 'ab  ', '😀éx', 'ab c']);
    assert.equal(text, '{"ab","😀é","ab  ",NULL,NULL}');
    assert.deepEqual([refused.get(3)?.sqlstate, refused.get(4)?.sqlstate], ['22001', '22001']);
    assert.match(refused.get(3)?.reason ?? '', /more than the 2 characters/);
  });

  it('contain only the selected rows, in their order', () => {
    const chosen = Int32Array.of(3, 0);
    const text = arrayLiteral(['a', 'b', 'c', 'd'], 'text', chosen, target('text'), () => assert.fail());
    assert.equal(text, '{"d","a"}');
  });

  it('preserve any text when parsed as PostgreSQL parses arrays', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'grapheme' })), (texts) => {
        const clean = texts.filter((text) => !text.includes('\0'));
        assert.deepEqual(readQuotedArray(literal('text', 'text', clean)), clean);
      }),
    );
  });
});

/** array_in for quoted elements: a backslash makes the next character plain. */
function readQuotedArray(text: string): string[] {
  const elements: string[] = [];
  let position = 1;
  while (text[position] === '"') {
    let element = '';
    for (position += 1; text[position] !== '"'; position++) {
      if (text[position] === '\\') position += 1;
      element += text[position] ?? assert.fail('unterminated element');
    }
    elements.push(element);
    position += 2;
  }
  return elements;
}

describe('binary arrays', () => {
  const encoded = (cells: Cell[], kind: CellKind, column: ColumnTarget): Buffer | undefined =>
    binaryArray(cells, kind, Int32Array.from(cells.keys()), column);

  it('carry header, element type and NULLs as array_recv expects them', () => {
    const buffer = encoded([1, null, -1], 'int', target('int4', { typeOid: 23 }));
    assert.equal(
      buffer?.toString('hex'),
      ['00000001', '00000001', '00000017', '00000003', '00000001'].join('') +
        ['00000004', '00000001', 'ffffffff', '00000004', 'ffffffff'].join(''),
    );
  });

  it('write any 64-bit integer as two halves or whole, the same bits', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (value) => {
        const number = Number(value);
        const cells = Number.isSafeInteger(number) ? [value, number] : [value];
        const buffer = encoded(cells, 'int', target('int8')) ?? assert.fail();
        for (const row of cells.keys()) assert.equal(buffer.readBigInt64BE(20 + 12 * row + 4), value);
      }),
    );
  });

  it('represent an unsafe integer by the exact value of the double', () => {
    const buffer = encoded([2 ** 60], 'float', target('int8')) ?? assert.fail();
    assert.equal(buffer.readBigInt64BE(24), 1_152_921_504_606_846_976n);
  });

  it('count times from 2000, exactly also where microseconds leave the safe integers', () => {
    const cells = [946_684_800_000_000, -(2 ** 53) + 1, -210866803200000000n, 9224318015999999999n];
    const buffer = encoded(cells, 'time', target('timestamptz')) ?? assert.fail();
    const seen = cells.map((_, row) => buffer.readBigInt64BE(20 + 12 * row + 4));
    assert.deepEqual(
      seen,
      cells.map((cell) => BigInt(cell) - 946_684_800_000_000n),
    );
  });

  it('contain texts of any length, JSON and bytes unchanged', () => {
    const long = 'ü😀"\\,{}'.repeat(1_000);
    const elements = (buffer: Buffer | undefined): (Buffer | null)[] => {
      const seen: (Buffer | null)[] = [];
      for (let at = 20; buffer !== undefined && at < buffer.length;) {
        const length = buffer.readInt32BE(at);
        seen.push(length < 0 ? null : buffer.subarray(at + 4, at + 4 + length));
        at += 4 + Math.max(0, length);
      }
      return seen;
    };
    const texts = ['', 'a', null, long, 'é'];
    const asBytes = texts.map((each) => (each === null ? null : Buffer.from(each)));
    assert.deepEqual(elements(encoded(texts, 'text', target('text', { typeOid: 1043 }))), asBytes);
    assert.deepEqual(elements(encoded(['{"a":1}'], 'json', target('json', { typeOid: 114 }))), [
      Buffer.from('{"a":1}'),
    ]);
    const jsonb = elements(encoded(['{"a":1}'], 'json', target('json', { typeOid: 3802 })));
    assert.deepEqual(jsonb, [Buffer.from('\u0001{"a":1}')]);
    const bytes = [Buffer.of(0, 255), Buffer.of()];
    assert.deepEqual(elements(encoded(bytes, 'bytes', target('bytes', { typeOid: 17 }))), bytes);
  });

  it('leave columns with a refused cell to literals, which report the reason', () => {
    const column = target('int2', { acceptsNull: false });
    for (const cell of [32_768, 1.5, null, Number.NaN, -32_769n]) {
      assert.equal(encoded([1, cell], 'int', column), undefined, String(cell));
    }
    const text = target('text', { typeOid: 1043, maxLength: 3 });
    for (const cell of ['abcd', 'a\0', '\ud800']) assert.equal(encoded(['a', cell], 'text', text), undefined);
  });

  it('leave to literals other types, domains, and columns with a cell of another kind', () => {
    assert.equal(encoded(['a', 'b'], 'text', target('text', { typeOid: 19 })), undefined);
    assert.equal(encoded([1, 2], 'int', target('int4', { binary: false })), undefined);
    assert.equal(encoded([1, '2'], 'int', target('int4')), undefined);
    assert.equal(encoded([0, 'infinity'], 'time', target('timestamptz')), undefined);
    assert.equal(encoded([1, 2], 'int', target('numeric')), undefined);
  });
});
