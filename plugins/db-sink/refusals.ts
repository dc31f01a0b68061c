import { DataError, Turn, type SinkRecord } from '../../src/index.ts';
import { DatabaseError, type Fault } from '../database/index.ts';
import { messageBytes, type WaitingRecords } from './waiting-records.ts';

/**
 * Returns one error per refused record, even if several of its rows were refused. Errors are sorted by topic, partition
 * and offset.
 */
export async function refusals(records: WaitingRecords, faults: readonly Fault[]): Promise<[SinkRecord, Error][]> {
  const byOrigin = new Map<string, Fault[]>();
  for (const fault of faults) {
    const key = JSON.stringify(fault.origin);
    const known = byOrigin.get(key);
    if (known === undefined) byOrigin.set(key, [fault]);
    else known.push(fault);
  }
  const refused: [SinkRecord, Error][] = [];
  const turn = new Turn();
  for (const own of byOrigin.values()) {
    const record = await records.find(own[0]?.origin);
    if (record === undefined) throw new DataError(`A fault has no record: ${own.map(describeFault).join('; ')}`);
    refused.push([record, refusal(own)]);
    if (turn.isOver(messageBytes(record))) await turn.next();
  }
  return refused.sort(([a], [b]) => byPlace(a.consumed, b.consumed));
}

function byPlace(a: SinkRecord['consumed'], b: SinkRecord['consumed']): number {
  if (a.topic !== b.topic) return a.topic < b.topic ? -1 : 1;
  return a.partition - b.partition || a.offset - b.offset;
}

const MAX_FAULTS_NAMED = 3;

function refusal(faults: readonly Fault[]): Error {
  const named = faults.slice(0, MAX_FAULTS_NAMED).map(describeFault).join('; ');
  const more = faults.length > MAX_FAULTS_NAMED ? ` (and ${String(faults.length - MAX_FAULTS_NAMED)} more)` : '';
  const [first] = faults;
  const { cause, table, column } = first ?? {};
  if (first?.sqlstate === undefined) return new DataError(named + more, { cause, table, column });
  return new DatabaseError(named + more, { scope: first.scope, sqlstate: first.sqlstate, table, column, cause });
}

/** Describes the fault without its origin, because the reporter of the record adds the coordinates. */
function describeFault({ table, column, message }: Fault): string {
  const names = [
    ['table', table],
    ['column', column],
  ] as const;
  const place = names.flatMap(([what, name]) =>
    name === undefined || message.includes(name) ? [] : [`${what} ${name}`],
  );
  return place.length === 0 ? message : `${place.join(', ')}: ${message}`;
}
