import assert from 'node:assert/strict';
import fc from 'fast-check';
import { decodedPointFormats, type Decoded } from '../../../plugins/database/index.ts';
import { DecodeClock, decodeElements } from '../../../plugins/database-http/ingest/decode.ts';
import { JsonPieces } from '../../../plugins/database-http/ingest/json-pieces.ts';

const POINT = { metric: 'größe "ä\\', timestamp: 1_700_000_000, value: -12.5e-3, tags: { 'a]b': '},[{😀', c: 'x' } };

/** The values of the elements and their numbers, however the body is cut into chunks. */
function cut(body: string | Buffer, chunkBytes: number, pieceBytes: number): { values: unknown[]; pieces: number } {
  const bytes = Buffer.from(body);
  const pieces = new JsonPieces(pieceBytes);
  const values: unknown[] = [];
  let count = 0;
  const take = (piece: ReturnType<JsonPieces['last']>): void => {
    if (piece === undefined) return;
    count++;
    const parsed = JSON.parse(String(piece.text)) as unknown[];
    parsed.forEach((value, index) => (values[piece.firstElement - 1 + index] = value));
  };
  for (let at = 0; at < bytes.length; at += chunkBytes) take(pieces.push(bytes.subarray(at, at + chunkBytes)));
  take(pieces.last());
  return { values, pieces: count };
}

async function decoded(chunks: readonly Buffer[]): Promise<{ rows: number; faults: string[]; failure: string }> {
  const result = { rows: 0, faults: [] as string[], failure: '' };
  const add = ({ rows, faults }: Decoded): void => {
    for (const { batch } of rows) result.rows += batch.rowCount;
    for (const { message, origin } of faults) {
      result.faults.push(`${origin?.kind === 'line' ? String(origin.line) : ''} ${message}`);
    }
  };
  async function* body(): AsyncGenerator<Buffer> {
    yield* chunks;
  }
  try {
    const decoder = decodedPointFormats.json_tsd.create({});
    for await (const part of decodeElements(decoder, body(), new DecodeClock())) add(part.decoded);
  } catch (error) {
    result.failure = (error as Error).message;
  }
  return result;
}

function chunksOf(body: Buffer, bytes: number): Buffer[] {
  return Array.from({ length: Math.ceil(body.length / bytes) }, (_, at) => body.subarray(at * bytes, (at + 1) * bytes));
}

/** More than two pieces. */
const LARGE = Array.from({ length: 30_000 }, (_, id) => ({ ...POINT, timestamp: 1_700_000_000 + id }));
const LARGE_BODY = Buffer.from(JSON.stringify(LARGE));

describe('a JSON body in pieces', () => {
  it('has the same elements with the same numbers, however network and pieces divide it', () => {
    const json = fc.jsonValue({ maxDepth: 3 });
    fc.assert(
      fc.property(fc.array(json), fc.nat(3), fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 60 }), check),
      { numRuns: 300 },
    );
    function check(values: unknown[], indent: number, chunkBytes: number, pieceBytes: number): void {
      const body = JSON.stringify(values, null, indent);
      assert.deepEqual(cut(body, chunkBytes, pieceBytes).values, JSON.parse(body));
    }
  });

  it('may be cut within a UTF-8 sequence, an escape and a number', () => {
    const body = JSON.stringify([POINT, POINT, POINT]);
    for (let chunkBytes = 1; chunkBytes < 20; chunkBytes++) {
      const { values, pieces } = cut(body, chunkBytes, 50);
      assert.deepEqual(values, [POINT, POINT, POINT]);
      assert.equal(pieces, 3);
    }
    assert.deepEqual(cut(`\ufeff ${body} \n`, 1, 1_000).pieces, 1);
  });

  it('is decoded completely, while it arrives', async () => {
    const { rows, faults, failure } = await decoded(chunksOf(LARGE_BODY, 65_536));
    assert.deepEqual([rows, faults, failure], [30_000, [], '']);
  });

  it('that ends too early stores no row when it is small, and is reported with its place when it is large', async () => {
    const small = Buffer.from(JSON.stringify([POINT, POINT]).slice(0, -1));
    const early = await decoded([small]);
    assert.deepEqual([early.rows, early.faults.length], [0, 1]);
    assert.match(early.faults[0] ?? '', /^1 .*ends too early, after \d+ characters$/);
    const half = LARGE_BODY.subarray(0, LARGE_BODY.length - 100);
    const late = await decoded(chunksOf(half, 65_536));
    assert.ok(late.rows > 10_000 && late.rows < 30_000, String(late.rows));
    assert.match(late.faults[0] ?? '', new RegExp(`after ${String(half.toString().length)} characters$`));
  });

  it('is refused if anything follows its array', async () => {
    const small = await decoded([Buffer.from(`${JSON.stringify([POINT])} {"metric"`)]);
    assert.deepEqual([small.rows, small.faults.length], [0, 1]);
    assert.match(small.faults[0] ?? '', /after the points came "\{\\"metric/);
    const large = await decoded(chunksOf(Buffer.concat([LARGE_BODY, Buffer.from('garbage')]), 65_536));
    assert.match(large.faults[0] ?? '', /after the points came "garbage"/);
    assert.ok(large.rows < 30_000);
  });

  it('is invalid with an extra comma or an invalid element, at any place', async () => {
    const text = LARGE_BODY.toString();
    const middle = text.indexOf('},{', 2_500_000) + 1;
    const broken: [body: string, told: RegExp][] = [
      [`[,${text.slice(1)}`, /not JSON at character 2,|where point 1 should be/],
      [`${text.slice(0, -1)},]`, /not JSON at character \d+,|point \d+ is missing/],
      [`${text.slice(0, middle)},${text.slice(middle)}`, new RegExp(`not JSON at character ${String(middle + 2)},`)],
      [
        `${text.slice(0, middle)}:${text.slice(middle + 1)}`,
        new RegExp(`not JSON at character ${String(middle + 1)},`),
      ],
    ];
    for (const [body, told] of broken) {
      const { rows, faults, failure } = await decoded(chunksOf(Buffer.from(body), 50_000));
      assert.match(faults[0] ?? failure, told);
      assert.equal(faults.length + (failure === '' ? 0 : 1), 1);
      assert.ok(rows < 30_000);
    }
    assert.throws(() => cut('[1,2,]', 3, 1), /point 3 is missing/);
    assert.throws(() => cut('[,1]', 2, 1), /point 1 is missing/);
  });

  it('is refused from the first byte on that is not UTF-8', async () => {
    const bytes = Buffer.from(LARGE_BODY);
    bytes[2_000_000] = 0xff;
    const { rows, faults } = await decoded(chunksOf(bytes, 65_536));
    assert.match(faults[0] ?? '', /not UTF-8/);
    assert.ok(rows > 0 && rows < 30_000);
  });

  it('may be one point, of a bounded size, and so may be each of many', async () => {
    const one = await decoded([Buffer.from(' '), Buffer.from(JSON.stringify(POINT))]);
    assert.deepEqual([one.rows, one.faults], [1, []]);
    const blob = Buffer.alloc(1 << 20, 'x');
    const endless = [Buffer.from('[{},{"metric":"'), ...Array.from({ length: 20 }, () => blob)];
    assert.equal((await decoded(endless)).failure, 'point 2 has more than 4194304 bytes');
    assert.equal((await decoded(endless.slice(1))).failure, 'point 1 has more than 4194304 bytes');
    assert.equal((await decoded([])).failure, 'invalid request body');
  });
});
