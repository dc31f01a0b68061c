import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

/**
 * Returns the path of a program: the value of the variable, or else its location in PATH. Returns `undefined` if it is
 * not found.
 */
export function findTool(name: string | undefined, variable?: string): string | undefined {
  const named = variable === undefined ? undefined : process.env[variable];
  if (named !== undefined && named !== '') return named;
  if (name === undefined) return undefined;
  return (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((directory) => path.join(directory, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

export interface ToolRun {
  readonly status: number | null;
  /** The end of the program's output. */
  readonly output: string;
}

const KEPT_CHARACTERS = 20_000;

/** Runs a program until it ends, the timeout has passed, or the signal aborts. */
export async function runTool(
  command: string,
  parameters: readonly string[],
  { cwd, timeoutMs = 600_000, signal }: { cwd?: string; timeoutMs?: number; signal?: AbortSignal } = {},
): Promise<ToolRun> {
  const child = spawn(command, parameters, {
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  });
  let output = '';
  const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-KEPT_CHARACTERS));
  signal?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}
