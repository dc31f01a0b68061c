import { countCollapsed, DatabaseError, tableText, type DecodedRows } from '../../database/index.ts';
import { DecodeClock, type BodyPart } from './decode.ts';
import { asFailure, type Store } from './ingest.ts';
import { lineParts, type LineReading } from './lines.ts';
import { OutcomeCounts, type Outcome } from './outcome.ts';
import { growingTablesWithin } from './store.ts';
import { ApiFailure, type ApiRequest } from '../route.ts';

/** Size limit of a body that is stored as a whole or not at all, because all its rows must be in memory. */
const MAX_WHOLE_BYTES = 8 << 20;

interface Written {
  readonly rows: DecodedRows;
  readonly textOf: BodyPart['textOf'];
}

/** Thrown in the transaction to roll it back, because lines were refused. */
class RefusedLines extends Error {
  readonly counts: OutcomeCounts;

  constructor(counts: OutcomeCounts) {
    super('lines were refused');
    this.counts = counts;
  }
}

/**
 * Stores all lines of a body in one transaction, or none of them. A rollback also removes the tables and columns that were created for
 * them. Reports the lines that cannot be parsed. If all lines can be parsed, reports the refused lines of the first batch that has any.
 */
export async function ingestWhole(request: ApiRequest, reading: LineReading): Promise<Outcome> {
  const began = performance.now();
  const clock = new DecodeClock();
  const { written, unread } = await readAll(lineParts(atMost(request.body(), MAX_WHOLE_BYTES), reading, clock));
  let databaseMs = 0;
  const outcome = (counts: OutcomeCounts, failure?: ApiFailure): Outcome => ({
    stored: failure === undefined && counts.badCount === 0 ? counts.stored : 0,
    collapsed: failure === undefined && counts.badCount === 0 ? counts.collapsed : 0,
    badLines: counts.badLines,
    badCount: counts.badCount,
    failure,
    timings: { parseMs: clock.parseMs, databaseMs, totalMs: performance.now() - began },
  });
  if (unread.badCount > 0) return outcome(unread);
  const writingSince = performance.now();
  try {
    await request.executor.probe({ writes: true });
    const counts = await request.executor.atomically(
      (writer) => writeAll(written, growingTablesWithin(request, writer)),
      request.signal,
    );
    databaseMs = performance.now() - writingSince;
    countCollapsed({ path: request.path }, counts.collapsed);
    return outcome(counts);
  } catch (error) {
    databaseMs = performance.now() - writingSince;
    if (error instanceof RefusedLines) return outcome(error.counts);
    if (error instanceof DatabaseError) throw asFailure(error);
    throw error;
  }
}

async function readAll(parts: AsyncIterable<BodyPart>): Promise<{ written: Written[]; unread: OutcomeCounts }> {
  const written: Written[] = [];
  const unread = new OutcomeCounts();
  for await (const { decoded, textOf } of parts) {
    unread.addFaults(decoded.faults, textOf);
    for (const rows of decoded.rows) written.push({ rows, textOf });
  }
  return { written: inTableOrder(written), unread };
}

/** Tables are written in order of their names, so that concurrent transactions do not deadlock. */
function inTableOrder(written: readonly Written[]): Written[] {
  const name = ({ rows }: Written): string => tableText(rows.batch.table);
  return [...written].sort((left, right) => (name(left) < name(right) ? -1 : name(left) > name(right) ? 1 : 0));
}

async function writeAll(written: readonly Written[], store: Store): Promise<OutcomeCounts> {
  const counts = new OutcomeCounts();
  for (const { rows, textOf } of written) {
    for (const settled of await store([rows])) {
      if (settled.status === 'rejected') throw settled.reason;
      const report = settled.value;
      counts.addReport(report);
      if (report.faults.length === 0) continue;
      counts.addFaults(report.faults, textOf);
      throw new RefusedLines(counts);
    }
  }
  return counts;
}

async function* atMost(body: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const message = `a body that is stored as a whole or not at all may have at most ${String(maxBytes)} bytes`;
      throw new ApiFailure(400, message, { kind: 'body-too-large' });
    }
    yield chunk;
  }
}
