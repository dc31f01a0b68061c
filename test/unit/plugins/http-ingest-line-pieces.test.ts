import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodedFormats, type Decoded } from '../../../plugins/database/index.ts';
import { LinePieces, startOfLine, type LinePiece } from '../../../plugins/database-http/ingest/line-pieces.ts';

/** Rows as `line/value`, faults as `line!`, in the order of their lines. */
function told(decoded: readonly Decoded[]): string[] {
  const lines = decoded.flatMap(({ rows, faults }) => [
    ...rows.flatMap(({ batch }) =>
      Array.from({ length: batch.rowCount }, (_, row) => {
        const cells = batch.columns
          .filter(({ role }) => role !== 'time')
          .map((column) => [column.name, column.cells[row]]);
        return { at: batch.origins.at(row), text: JSON.stringify(cells.filter(([, cell]) => cell !== null).sort()) };
      }),
    ),
    ...faults.map(({ origin, message }) => ({ at: origin, text: `! ${message}` })),
  ]);
  const numbered = lines.map(({ at, text }) => ({ line: at?.kind === 'line' ? at.line : 0, text }));
  return numbered.sort((left, right) => left.line - right.line).map(({ line, text }) => `${String(line)} ${text}`);
}

const decoder = () => decodedFormats.line_lp.create({ precision: 'ns', now: () => 0 });

function decodedInPieces(
  body: Buffer,
  cuts: readonly number[],
  pieceBytes: number,
): { told: string[]; pieces: number } {
  const lines = decoder();
  const pieces = new LinePieces(pieceBytes);
  const parts: Decoded[] = [];
  let count = 0;
  const read = (piece: LinePiece): void => {
    count++;
    parts.push(...lines.addInParts(piece.bytes, { kind: 'line', line: piece.firstLine }, 7, piece.more));
  };
  const edges = [0, ...cuts.map((cut) => cut % (body.length + 1)).sort((left, right) => left - right), body.length];
  for (let index = 1; index < edges.length; index++) {
    pieces.push(body.subarray(edges[index - 1], edges[index]));
    for (let piece = pieces.next(); piece !== undefined; piece = pieces.next()) {
      read(piece);
      pieces.done(piece, lines.unreadLine);
    }
  }
  read(pieces.last());
  return { told: told(parts), pieces: count };
}

const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.constantFrom('t', 'u,a=1', 'u,a=é'), fc.nat(99))
      .map(([series, v]) => `${series} v=${String(v)}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .string({ maxLength: 12 })
      .map((text) => `s x="${text.replace(/["\\]/g, '')}\n${text.replace(/["\\]/g, '')}" 1`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '# comment',
      'bad',
      't v="never closed',
      't v=1 x',
      ' ',
      't "=1',
      "t,q=\" v='a\n\n' 5",
    ),
  },
);

describe('a body of line protocol that arrives in pieces', () => {
  it('has the same rows and faults, each once and with the same line numbers, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(line, { maxLength: 30 }),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.nat(2_000), { maxLength: 20 }),
        fc.integer({ min: 1, max: 200 }),
        (lines, newline, cuts, pieceBytes) => {
          const body = Buffer.from(lines.join(newline));
          const whole = told([...decoder().addInParts(body, { kind: 'line', line: 1 }, 1_000)]);
          assert.deepEqual(decodedInPieces(body, cuts, pieceBytes).told, whole);
        },
      ),
      { numRuns: 200 },
    );
  });

  it('is read in pieces of the requested size, and in ever larger ones while a string has no end', () => {
    const plain = Buffer.from('t v=1\n'.repeat(10_000));
    assert.equal(decodedInPieces(plain, [], 6_000).pieces, 2);
    const everyThousand = Array.from({ length: 59 }, (_, cut) => (cut + 1) * 1_000);
    assert.ok(decodedInPieces(plain, everyThousand, 6_000).pieces >= 10);
    const open = Buffer.from(`t v="${'t v=1\n'.repeat(10_000)}`);
    assert.ok(decodedInPieces(open, everyThousand, 1_000).pieces <= 8);
  });

  it('may begin with a byte order mark', () => {
    const { told: rows } = decodedInPieces(Buffer.from('\ufefft v=1\nt v=2\n'), [], 100);
    assert.deepEqual(rows, ['1 [["v",1]]', '2 [["v",2]]']);
  });

  it('has lines that are found by number', () => {
    const bytes = Buffer.from('a\nbc\n\nd');
    assert.deepEqual(
      [0, 1, 2, 3, 9].map((number) => startOfLine(bytes, number)),
      [0, 2, 5, 6, 7],
    );
  });
});
