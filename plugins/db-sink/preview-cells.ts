import type { Cell, CellKind } from '../database/index.ts';

/** Farther from 1970 than this a JavaScript date does not reach. */
const MAX_DATE_MS = 8_640_000_000_000_000n;

/** A cell for people: times as ISO text with microseconds, bytes as PostgreSQL prints them, exact digits as text. */
export function cellText(kind: CellKind, cell: Cell): string | number | boolean | null {
  if (cell instanceof Uint8Array) return `\\x${Buffer.from(cell).toString('hex')}`;
  if (kind === 'time' && (typeof cell === 'number' || typeof cell === 'bigint')) return timeText(BigInt(cell));
  if (typeof cell === 'bigint') return String(cell);
  if (typeof cell === 'number' && !Number.isFinite(cell)) return String(cell);
  return cell;
}

function timeText(micros: bigint): string {
  const rest = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const ms = (micros - rest) / 1000n;
  if (ms > MAX_DATE_MS || ms < -MAX_DATE_MS) return `${String(micros)} µs`;
  return new Date(Number(ms)).toISOString().replace(/\.000Z$/, `.${String(rest).padStart(6, '0')}Z`);
}
