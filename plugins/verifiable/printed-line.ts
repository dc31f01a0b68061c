import { once } from 'node:events';
import { plainJson, type ConnectValue, type Schema } from '../../src/index.ts';

/** Prints a line to standard output. Resolves when more may be printed. */
export async function printLine(line: string): Promise<void> {
  if (!process.stdout.write(`${line}\n`)) await once(process.stdout, 'drain');
}

/** A key or value as JSON. */
export function jsonOf(schema: Schema | null, value: ConnectValue): string {
  return Buffer.from(plainJson(schema, value) ?? 'null').toString();
}
