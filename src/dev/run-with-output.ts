import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const MAX_LINES = 200;

/** A command has failed; `lines` are the last lines that it printed. */
export class CommandError extends Error {
  readonly lines: readonly string[];

  constructor(command: string, how: string, lines: readonly string[]) {
    super(`${command} ${how}`);
    this.lines = lines;
  }
}

/**
 * Runs a command and passes each line that it prints to a callback. Rejects with a CommandError if the command fails.
 */
export async function runWithOutput(
  [command, ...args]: readonly [string, ...string[]],
  options: { readonly environment: NodeJS.ProcessEnv; readonly signal?: AbortSignal | undefined },
  onLine: (line: string) => void,
): Promise<void> {
  const { environment, signal } = options;
  const child = spawn(command, args, {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
  const last: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      last.push(line);
      if (last.length > MAX_LINES) last.shift();
      onLine(line);
    });
  }
  const [code, killedBy] = (await once(child, 'close')) as [number | null, string | null];
  if (code !== 0) throw new CommandError(command, `ended with ${String(code ?? killedBy)}`, last);
}
