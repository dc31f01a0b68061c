import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export type ApiProcessMessage = { readonly url: string } | { readonly peakBytes: number };

const MAIN = fileURLToPath(new URL('api-process-main.ts', import.meta.url));

/** The database HTTP API in a process of its own, so that its memory can be measured. */
export class ApiProcess {
  readonly url: string;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.url = url;
  }

  static async start(config: Readonly<Record<string, string>>): Promise<ApiProcess> {
    const child = fork(MAIN, [JSON.stringify(config)], { execArgv: ['--import', 'tsx'] });
    const message = await nextMessage(child);
    return new ApiProcess(child, 'url' in message ? message.url : '');
  }

  /** Peak memory of the process in bytes since the previous call. */
  async peakBytes(): Promise<number> {
    const answer = nextMessage(this.#child);
    this.#child.send('peak');
    const message = await answer;
    return 'peakBytes' in message ? message.peakBytes : NaN;
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit');
    this.#child.disconnect();
    await ended;
  }
}

async function nextMessage(child: ChildProcess): Promise<ApiProcessMessage> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`The process of the API ended with ${String(code)}`);
  });
  try {
    const [message] = (await Promise.race([once(child, 'message', { signal }), ended])) as [ApiProcessMessage];
    return message;
  } finally {
    ended.catch(() => undefined);
    over.abort();
  }
}
