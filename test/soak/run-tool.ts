import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';

/** The path of a program: the variable's value, else where PATH has it; `undefined` where there is none. */
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
  /** The end of what it printed. */
  readonly output: string;
}

const KEPT_CHARACTERS = 20_000;

/** Runs a program to its end, for `timeoutMs` or until the signal is aborted. */
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
