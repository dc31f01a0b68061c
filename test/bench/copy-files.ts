import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchServices } from './bench-services.ts';
import type { BinaryCell, TableLayout, TextLayout } from './tables.ts';

const ROWS_PER_WRITE = 1000;
/** 2000-01-01 in milliseconds, the epoch of PostgreSQL's binary timestamps. */
const POSTGRES_EPOCH_MS = 946_684_800_000;

/** Rows in files for psql's `\copy`, which is the limit that the workloads are compared with. */
export class CopyFiles {
  readonly #folder: string;
  readonly #files: readonly string[];
  readonly #format: 'text' | 'binary';
  readonly #rows: number;

  private constructor(folder: string, files: readonly string[], format: 'text' | 'binary', rows: number) {
    this.#folder = folder;
    this.#files = files;
    this.#format = format;
    this.#rows = rows;
  }

  /** Writes one file per loading connection and divides the rows among the files. */
  static async write(
    layout: TextLayout | TableLayout,
    rows: number,
    { format = 'text', connections = 1 }: { format?: 'text' | 'binary'; connections?: number } = {},
  ): Promise<CopyFiles> {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-copy-'));
    const files: string[] = [];
    for (let part = 0; part < connections; part++) {
      const [from, to] = [part, part + 1].map((at) => Math.floor((rows * at) / connections)) as [number, number];
      const file = join(folder, `${String(part)}.${format}`);
      await writeRows(
        file,
        format === 'text' ? textPieces(layout, from, to) : binaryPieces(withCells(layout), from, to),
      );
      files.push(file);
    }
    return new CopyFiles(folder, files, format, rows);
  }

  /** Loads the files into `table`, each by its own psql. Resolves with rows per second. */
  async load(services: BenchServices, table: string): Promise<number> {
    const began = performance.now();
    await Promise.all(
      this.#files.map((file) => services.psql(`\\copy ${table} from '${file}' (format ${this.#format})`)),
    );
    return (this.#rows * 1000) / (performance.now() - began);
  }

  async discard(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function writeRows(file: string, pieces: Iterable<Buffer>): Promise<void> {
  const stream = createWriteStream(file);
  for (const piece of pieces) {
    if (!stream.write(piece)) await once(stream, 'drain');
  }
  stream.end();
  await once(stream, 'finish');
}

function* textPieces({ copyLine }: TextLayout, from: number, to: number): Generator<Buffer> {
  for (let at = from; at < to; at += ROWS_PER_WRITE) {
    let text = '';
    for (let id = at; id < Math.min(to, at + ROWS_PER_WRITE); id++) text += `${copyLine(id)}\n`;
    yield Buffer.from(text);
  }
}

function withCells(layout: TextLayout | TableLayout): TableLayout {
  if ('copyCells' in layout) return layout;
  throw new Error('this table has no rows in binary');
}

/** PostgreSQL manual, COPY, "Binary Format": signature, flags, rows of length-prefixed fields, trailer -1. */
function* binaryPieces({ copyCells }: TableLayout, from: number, to: number): Generator<Buffer> {
  yield Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
  const buffer = Buffer.alloc(ROWS_PER_WRITE * 256);
  for (let at = from; at < to; at += ROWS_PER_WRITE) {
    let end = 0;
    for (let id = at; id < Math.min(to, at + ROWS_PER_WRITE); id++) {
      const cells = copyCells(id);
      end = buffer.writeInt16BE(cells.length, end);
      for (const cell of cells) end = writeCell(buffer, cell, end);
    }
    yield Buffer.from(buffer.subarray(0, end));
  }
  yield Buffer.from([0xff, 0xff]);
}

function writeCell(buffer: Buffer, cell: BinaryCell, at: number): number {
  if (cell.type === 'text') {
    const length = buffer.write(cell.value, at + 4);
    buffer.writeInt32BE(length, at);
    return at + 4 + length;
  }
  const start = buffer.writeInt32BE(8, at);
  if (cell.type === 'float8') return buffer.writeDoubleBE(cell.value, start);
  const integer = cell.type === 'int8' ? cell.value : (cell.timeMs - POSTGRES_EPOCH_MS) * 1000;
  return buffer.writeBigInt64BE(BigInt(integer), start);
}
