import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/** Where a local stack keeps its data: below the folder it is started in, unless another one is named. */
export function stateFolder(named?: string): string {
  return named === undefined ? resolve('.sluice', 'dev') : resolve(named);
}

/** Tells commands in the same folder which broker the running stack has. */
export async function noteBroker(state: string, bootstrapServers: string): Promise<() => Promise<void>> {
  const file = brokerFile(state);
  await writeFile(file, `${bootstrapServers}\n`);
  return () => rm(file, { force: true });
}

/** The broker of the stack that runs in this folder, as it said at its start. */
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
