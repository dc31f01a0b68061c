import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** The data folder of a local stack: `named`, or `.sluice/dev` in the current folder. */
export function stateFolder(named?: string): string {
  return named === undefined ? resolve('.sluice', 'dev') : resolve(named);
}

/**
 * Stores the address of a running stack's broker in its data folder. Resolves with a function that removes the address.
 */
export async function noteBroker(state: string, bootstrapServers: string): Promise<() => Promise<void>> {
  const file = brokerFile(state);
  await writeFile(file, `${bootstrapServers}\n`);
  return () => rm(file, { force: true });
}

/**
 * The broker of the stack with the data folder `.sluice/dev` in the current folder; `undefined` if no address is
 * stored.
 */
export function runningBroker(): string | undefined {
  try {
    return readFileSync(brokerFile(stateFolder()), 'utf8').trim();
  } catch {
    return undefined;
  }
}

function brokerFile(state: string): string {
  return join(state, 'bootstrap.servers');
}
